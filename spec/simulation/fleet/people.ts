import { heldDecisionKind } from '../../../actors/held-decision/kind.js';
import type { ConnectorLinks } from '../../../actors/connector/links.js';
import { messageEffect } from '../../../actors/notifier/effect.js';
import { notifierKind } from '../../../actors/notifier/kind.js';
import type { App } from '../../../lib/commands/app.js';
import { idsOf } from '../../../lib/commands/iterate.js';
import { carryOutDecision } from '../../../lib/gateway/decide-waiting.js';
import { postTo, type Post } from '../../../lib/gateway/in-process.js';
import { heldDecisionRoutes } from '../../../lib/gateway/routes/held-decisions.js';
import { sessionLifecycleRoutes } from '../../../lib/gateway/routes/sessions/lifecycle.js';
import { sessionRoutes } from '../../../lib/gateway/routes/sessions/sessions.js';
import { approvalRoutes } from '../../../lib/gateway/routes/work-items/approvals.js';
import { workItemLedgerRoutes } from '../../../lib/gateway/routes/work-items/ledger.js';
import { workflowRunRoutes } from '../../../lib/gateway/routes/workflows/runs.js';
import type { CarryOutInput } from '../../../machines/held-decision/machine.js';
import { noticeKey, type NotifierView } from '../../../machines/notifier/context.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { must } from '../model.js';
import type { Operation } from './clients.js';
import { pigeon, type Loft } from './loft.js';

/**
 * What waits for people: it is sent in a channel of the loft, and decided by the routes of a gateway, at once or after
 * a few seconds in which it can be withdrawn.
 */
export const notify = {
  to: [{ connector: pigeon, channel: 'people', decidedBy: ['ann'] }],
  command: null,
  what: [],
  afterSeconds: 5,
  push: false,
  timeoutSeconds: 30,
  url: null,
};
const notifier = `${pigeon}:people`;

/** Bundles of runs are written nowhere. */
export const evidence = {
  configured: true,
  reason: null,
  root: '/home/evidence',
  write: async () => undefined,
  has: async () => false,
};

const routes = [
  ...heldDecisionRoutes,
  ...sessionLifecycleRoutes,
  ...sessionRoutes,
  ...workItemLedgerRoutes,
  ...approvalRoutes,
  ...workflowRunRoutes(evidence),
];

/** Through the router, as a request without a socket: authority, limits, parsing, keys. */
export const postOf = (app: App): Post => postTo(app, routes);

export const peopleKinds = (app: (supervisor: Supervisor) => App, links: ConnectorLinks) => [
  notifierKind({ message: messageEffect({ links, folder: '/home', settings: () => notify }) }),
  heldDecisionKind({
    decide: {
      guarantee: 'at-least-once',
      run: (input: CarryOutInput, { supervisor }) => {
        const known = app(supervisor as unknown as Supervisor);
        return carryOutDecision(known, postOf(known), input);
      },
    },
  }),
];

/** What waits for a person and is sent nowhere, or is sent and waits no more. */
export async function missingNotices(app: App): Promise<string[]> {
  const view = (await app.supervisor.get('notifier', notifier))?.view;
  if (view === undefined || view.notices.length >= 50) return [];
  const { items } = await app.supervisor.waiting({ limit: 500 });
  const waiting = items.filter(
    ({ actor, waiting: { on } }) => on === 'operator' && actor.kind !== 'notifier',
  );
  const keys = new Set(waiting.map(({ actor, waiting: { id } }) => noticeKey({ ...actor, waitingId: id })));
  const sent = new Set(view.notices.filter(({ state }) => state === 'sent').map(({ key }) => key));
  return [
    ...[...keys].filter((key) => !sent.has(key)).map((key) => `a notice of ${key}`),
    ...[...sent].filter((key) => !keys.has(key)).map((key) => `the end of the notice of ${key}`),
  ];
}

/**
 * A thing has one notice for as long as it waits, and what is said to be sent was. A held decision has one outcome: what
 * it is said to have decided waits no more, what was withdrawn stays so.
 */
export async function checkPeople(
  app: App,
  operations: readonly Operation[],
  { noticed }: Loft,
  settled: boolean,
): Promise<void> {
  const view: NotifierView | undefined = (await app.supervisor.get('notifier', notifier))?.view;
  const open = new Set<string>();
  for (const { key, state, message, n } of view?.notices ?? []) {
    must(
      state !== 'sent' || noticed.has(`${notifier}.${message}.send`),
      `the notice ${n} is said to be sent`,
    );
    if (!['held', 'sending', 'sent'].includes(state)) continue;
    must(!open.has(key), `${key} has two notices`);
    open.add(key);
  }
  const ids = await idsOf(app.supervisor, 'held-decision', { index: 'about' });
  const holds = operations.filter(
    ({ operation, knowledge }) => operation === 'hold' && knowledge !== 'refused',
  );
  must(ids.length <= holds.length, `${ids.length} decisions are held, ${holds.length} were made`);
  for (const id of ids) {
    const decision = (await app.supervisor.get('held-decision', id))?.view;
    if (decision === undefined) continue;
    const { status, kind, actorId, waitingId, reason } = decision;
    must(reason !== 'Not found', `no route takes the decision ${id}`);
    must(!settled || !['held', 'deciding', 'pausing'].includes(status), `the decision ${id} is ${status}`);
    const isWithdrawn = operations.some(
      ({ operation, whom, knowledge }) => operation === 'withdraw' && whom === id && knowledge === 'done',
    );
    must(!isWithdrawn || status === 'withdrawn', `the decision ${id} was withdrawn, and is ${status}`);
    // The next approval of an item waits under the same name
    if (status !== 'decided' || kind === 'work-item') continue;
    const { items } = await app.supervisor.waiting({ actor: { kind, id: actorId } });
    must(
      !items.some(({ waiting }) => waiting.id === waitingId),
      `${id} is said to have decided ${waitingId} of ${actorId}, which still waits`,
    );
  }
}

/** What is decided by a held decision: fixed when it is first asked for. */
export async function heldBody(
  { supervisor }: App,
  choice: 'approve' | 'reject',
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { items } = await supervisor.waiting({ limit: 20 });
  const item = items.findLast(({ waiting: { what } }) => ['permission', 'approval', 'gate'].includes(what));
  if (item === undefined) return undefined;
  const { actor, waiting } = item;
  return { kind: actor.kind, id: actor.id, waitingId: waiting.id, decision: choice, holdSeconds: 5 };
}
