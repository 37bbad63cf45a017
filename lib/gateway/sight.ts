import { reviewsItem, itemKinship, sessionKinship } from '../commands/kinship.js';
import { recordOf, type Desk } from '../commands/desk.js';
import { takesPart } from '../commands/workflow-runs/read-run.js';
import type { RunView } from '../../machines/workflow-run/view.js';
import type { Caller } from '../../machines/caller.js';
import type { ActorKey } from '../../machines/ground.js';

/**
 * Which actors' frames a caller may see. People see all; an agent sees itself, what is beneath it, and its own work.
 * A session's place in the tree never changes, so it is looked up once; whose a work item is may change any time.
 */
export interface Sight {
  /** Known at once: yes, no, or undefined when a read must tell. */
  now(actor: Told): boolean | undefined;
  later(actor: Told): Promise<boolean>;
}

/** Somebody who is told of; an entry of the log says under which names. */
export type Told = ActorKey & { readonly frames?: readonly { readonly event: string }[] };

export function sight(desk: Desk, caller: Caller): Sight {
  if (caller.type !== 'session') return { now: () => true, later: async () => true };
  const sessions = new Map<string, boolean>([[caller.id, true]]);

  return {
    // Everybody reads definitions, the organisation and the skills; the home tells of more than these.
    now: ({ kind, id, frames = [] }) => {
      if (kind === 'home') return frames.length > 0 && frames.every(({ event }) => /^(?:org|skills):/.test(event));
      return kind === 'session' ? sessions.get(id) : kind === 'workflow' ? true : undefined;
    },
    async later(told) {
      const { kind, id } = told;
      if (kind === 'home' || kind === 'workflow') return this.now(told) === true;
      if (kind === 'session') {
        const known = sessions.get(id);
        if (known !== undefined) return known;
        const session = await desk.supervisor.get('session', id);
        if (!session) return false;
        const visible = ['self', 'above'].includes(sessionKinship(caller, session));
        if (sessions.size < sessionsMax) sessions.set(id, visible);
        return visible;
      }
      if (kind === 'workflow-run') {
        const run = await desk.supervisor.get('workflow-run', id);
        return run !== undefined && takesPart(recordOf(run) as unknown as RunView, caller); // the view of its kind
      }
      if (kind !== 'work-item') return false;
      const item = await desk.supervisor.get('work-item', id);
      return item !== undefined && (reviewsItem(caller, recordOf(item)) || ['self', 'above'].includes(itemKinship(desk, caller, recordOf(item))));
    },
  };
}

const sessionsMax = 10_000;
