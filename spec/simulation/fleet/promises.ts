import { idsOf } from '../../../lib/commands/iterate.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { runKey } from '../../../lib/commands/workflows/bindings.js';
import { must } from '../model.js';
import { tokensIn } from './agent.js';
import { bell } from './bindings.js';
import { concurrency, type Operation } from './clients.js';
import { pigeon } from './loft.js';

/** All that a gateway shows of its sessions, work items and runs. */
export interface Shown {
  readonly sessions: readonly {
    readonly id: string;
    readonly view: {
      readonly status: string;
      readonly queueDepth: number;
      readonly queuePaused: boolean;
      readonly source: string;
      readonly sourceRef: string | null;
    };
    readonly messages: readonly { readonly role: string; readonly content: string; readonly id: string }[];
  }[];
  readonly items: readonly {
    readonly id: string;
    readonly view: { readonly title: string; readonly status: string };
    readonly comments: readonly { readonly text: string }[];
  }[];
  readonly fires: readonly {
    readonly id: string;
    readonly view: {
      readonly jobId: string;
      readonly dueAt: string;
      readonly status: string;
      readonly sessionId: string | null;
      readonly why?: string;
    };
  }[];
  readonly deliveries: readonly { readonly id: string; readonly status: string }[];
  readonly runs: readonly {
    readonly id: string;
    readonly view: {
      readonly status: string;
      readonly idempotencyKey: string | null;
      readonly queued: boolean;
    };
  }[];
}

/** Rejects where the store cannot be read. */
export async function readFleet(supervisor: Supervisor): Promise<Shown> {
  const all = async <Found>(
    kind: string,
    indexes: readonly string[],
    of: (id: string) => Promise<Found>,
  ): Promise<Found[]> => {
    const found: Found[] = [];
    for (const index of indexes)
      for (const id of await idsOf(supervisor, kind, { index })) found.push(await of(id));
    return found;
  };
  const view = async (kind: string, id: string): Promise<never> =>
    (await supervisor.get(kind, id))?.view as never;
  const rows = async (kind: string, id: string, collection: string): Promise<never> =>
    (await supervisor.rows({ kind, id }, collection, { last: 500 })).map(({ row }) => row) as never;
  return {
    sessions: await all('session', ['all', 'archived'], async (id) => ({
      id,
      view: await view('session', id),
      messages: await rows('session', id, 'messages'),
    })),
    items: await all('work-item', ['all'], async (id) => ({
      id,
      view: await view('work-item', id),
      comments: await rows('work-item', id, 'comments'),
    })),
    fires: await all('cron-fire', ['job'], async (id) => ({ id, view: await view('cron-fire', id) })),
    deliveries: await rows('connector', pigeon, 'deliveries'),
    runs: await all('workflow-run', ['all'], async (id) => ({ id, view: await view('workflow-run', id) })),
  };
}

/**
 * What was acknowledged is there once; what was refused is not; what no one knows of is there once or not at all. No
 * message is given to two turns, and once all is settled every one was given to a turn, or stands where a person sees
 * why not.
 */
export function checkPromises(
  operations: readonly Operation[],
  shown: Shown,
  heard: ReadonlyMap<string, number>,
  deaths: number,
  settled: boolean,
): void {
  const said = tally(
    shown.sessions.flatMap(({ messages }) =>
      messages.filter(({ role }) => role === 'user').flatMap(({ content }) => tokensIn(content)),
    ),
  );
  const titles = tally(shown.items.flatMap(({ view }) => tokensIn(view.title)));
  const comments = tally(shown.items.flatMap((item) => item.comments.flatMap(({ text }) => tokensIn(text))));
  const runs = tally(shown.runs.map(({ view }) => view.idempotencyKey ?? ''));
  const places: Partial<Record<Operation['operation'], ReadonlyMap<string, number>>> = {
    open: said,
    post: said,
    letter: said,
    item: titles,
    comment: comments,
    run: runs,
    happen: runs,
  };
  for (const { id, operation, knowledge } of operations) {
    const place = places[operation];
    if (place === undefined) continue;
    // The prompt of a run's step is a message as well
    const times = place.get(operation === 'happen' ? runKey(bell, id) : id) ?? 0;
    must(times <= 1, `${id} is there ${times} times`);
    must(knowledge !== 'done' || times === 1, `${id} was acknowledged and is lost`);
    must(knowledge !== 'refused' || times === 0, `${id} was refused and is there`);
    if (!['open', 'post', 'letter'].includes(operation)) continue;
    const turns = heard.get(id) ?? 0;
    must(turns <= times, `${id} was given to ${turns} turns, and is there ${times} times`);
  }
  for (const { id, messages } of shown.sessions)
    must(
      new Set(messages.map((message) => message.id)).size === messages.length,
      `a message of ${id} is there twice`,
    );
  if (!settled) return;
  for (const { id, view, messages } of shown.sessions) {
    must(view.status !== 'running', `the session ${id} still runs, though nothing does`);
    if (view.queuePaused || view.status === 'stopped' || view.status === 'waiting') continue;
    must(
      view.queueDepth === 0,
      `the session ${id} is ${view.status} with ${view.queueDepth} messages in its queue`,
    );
    // A stop clears the queue
    if (operations.some(({ operation, whom }) => operation === 'stop' && whom === id)) continue;
    const unheard = messages
      .filter(({ role }) => role === 'user')
      .flatMap(({ content }) => tokensIn(content))
      .filter((token) => !/^(?:run|job)/.test(token) && !heard.has(token));
    // A turn that had begun when its process died is never begun again, whether its agent had heard of it or not
    must(unheard.length <= deaths, `no turn was given ${unheard.join(' and ')} of session ${id}`);
  }
  const live = shown.runs.filter(({ view }) => ['running', 'parked'].includes(view.status) && !view.queued);
  for (const { id, view } of shown.runs) {
    if (view.queued) must(live.length >= concurrency, `the run ${id} is queued behind ${live.length} others`);
    else must(view.status !== 'running', `the run ${id} is running, though nothing does`);
  }
}

function tally(names: readonly string[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const name of names) found.set(name, (found.get(name) ?? 0) + 1);
  return found;
}
