import { reviewsItem, relationToItem, relationToSession } from '../../commands/relation.js';
import type { App } from '../../commands/app.js';
import { takesPart } from '../../commands/workflow-runs/read-run.js';
import type { Caller } from '../../../machines/caller.js';
import type { ActorKey } from '../../../machines/outputs.js';

/**
 * Which actors' frames a caller may see. People see all; an agent sees itself, what is beneath it, and its
 * own work. A session's place in the tree never changes, so it is looked up once; whose a work item is may
 * change any time.
 */
export interface Visibility {
  /** Nothing is hidden from this caller. */
  readonly all: boolean;
  /** Known at once: yes, no, or undefined when a read must tell. */
  now(actor: Subject): boolean | undefined;
  later(actor: Subject): Promise<boolean>;
}

/** Someone who is told of; an entry of the log says under which names. */
export type Subject = ActorKey & { readonly frames?: readonly { readonly event: string }[] };

export function visibilityOf(app: App, caller: Caller): Visibility {
  if (caller.type !== 'session') return { all: true, now: () => true, later: async () => true };
  const sessions = new Map<string, boolean>([[caller.id, true]]);

  return {
    all: false,
    // Everybody reads definitions, the organisation and the skills; the home tells of more than these.
    now: ({ kind, id, frames = [] }) => {
      if (kind === 'home')
        return frames.length > 0 && frames.every(({ event }) => /^(?:org|skills):/.test(event));
      return kind === 'session' ? sessions.get(id) : kind === 'workflow' ? true : undefined;
    },
    async later(target) {
      const { kind, id } = target;
      if (kind === 'home' || kind === 'workflow') return this.now(target) === true;
      if (kind === 'session') {
        const known = sessions.get(id);
        if (known !== undefined) return known;
        const session = await app.supervisor.get('session', id);
        if (!session) return false;
        const visible = ['self', 'above'].includes(relationToSession(caller, session));
        if (sessions.size < sessionsMax) sessions.set(id, visible);
        return visible;
      }
      if (kind === 'workflow-run') {
        const run = await app.supervisor.get('workflow-run', id);
        // The view of its kind
        return run !== undefined && takesPart(run.view, caller);
      }
      if (kind !== 'work-item') return false;
      const item = await app.supervisor.get('work-item', id);
      return (
        item !== undefined &&
        (reviewsItem(caller, item.view) || ['self', 'above'].includes(relationToItem(app, caller, item.view)))
      );
    },
  };
}

const sessionsMax = 10_000;
