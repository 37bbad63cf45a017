import { noticeKey, type NewNotice, type Notice } from '../../../machines/notifier/context.js';
import { expected, inTurn, type App, type Follower, type GatewayActor } from '../app.js';
import { describe, employeeOf, type WaitingItem } from './describe.js';
import { alignNotifiers, destinationsOf, notifications } from './notifiers.js';
import { outcomeOf } from './outcome.js';

/**
 * Hands what waits to the notifiers of all destinations. What waits is one list, kept by the kernel; each notifier
 * knows what it was given. The difference is made up at the start and whenever an actor of a kind that may wait
 * changed, so that nothing is missed over a crash and nothing is given twice. Nothing is read where no destination
 * is configured.
 */
export function followWaiting(failed: (error: unknown) => void): Follower {
  const stop = new AbortController();
  let watching = false;
  let cancel: (() => void) | undefined;

  const poll = (app: App): Promise<void> =>
    inTurn(stop, 'poll', async () => {
      if (stop.signal.aborted) return;
      await makeUp(app);
      if (watching || destinationsOf(app).length === 0) return;
      watching = true;
      void watch(app).catch((error: unknown) => {
        watching = false;
        if (stop.signal.aborted) return;
        failed(error);
        soon(app, againMs);
      });
    });

  function soon(app: App, afterMs: number): void {
    if (stop.signal.aborted) return;
    cancel ??= app.supervisor.environment.clock.timeout(afterMs, () => {
      cancel = undefined;
      void poll(app).catch((error: unknown) => {
        if (stop.signal.aborted) return;
        failed(error);
        soon(app, againMs);
      });
    });
  }

  async function watch(app: App): Promise<void> {
    const kinds = app.supervisor.inspection
      .kinds()
      .filter(({ definition }) => definition.waitingFor !== undefined)
      .map(({ kind }) => kind);
    for await (const _ of app.supervisor.watch({ kinds, signal: stop.signal })) soon(app, quietMs);
  }

  return {
    async poll(app) {
      await poll(app);
      soon(app, quietMs); // what changed between the first look and the first entry that is watched
    },
    close() {
      stop.abort();
      cancel?.();
    },
  };
}

/** A turn that works makes many entries: one look for all of a moment. */
const quietMs = 250;
const againMs = 5_000;

async function makeUp(app: App): Promise<void> {
  const notifiers = await alignNotifiers(app);
  if (notifiers.length === 0) return;
  const waiting = await allWaiting(app);
  for (const notifier of notifiers) await inform(app, notifier, waiting);
}

async function allWaiting({ supervisor }: App): Promise<readonly WaitingItem[]> {
  const items: WaitingItem[] = [];
  for (let after: string | null | undefined; after !== null && items.length < waitingMax;) {
    const page = await supervisor.waiting({ limit: 500, ...(after === undefined ? {} : { after }) });
    items.push(...page.items);
    after = page.next;
  }
  return items;
}

const waitingMax = 2_000;

/** Give a notifier what it does not know yet, and take back what waits no more. */
async function inform(
  app: App,
  { id, view }: GatewayActor<'notifier'>,
  waiting: readonly WaitingItem[],
): Promise<void> {
  const open = new Map(view.notices.filter(isOpen).map((notice) => [notice.key, notice]));
  const there = new Set(waiting.map(keyOf));
  const over = await Promise.all(
    [...open.values()]
      .filter(({ key }) => !there.has(key))
      .map(async (notice) => ({ n: notice.n, outcome: await outcomeOf(app, notice) })),
  );
  const added: NewNotice[] = [];
  for (const item of waiting) {
    const known = open.get(keyOf(item));
    if (added.length >= addedMax) break;
    if (item.actor.kind === 'notifier' && item.actor.id === id) continue; // it cannot say that it cannot speak
    if (known !== undefined && !mayChange.has(item.waiting.what)) continue;
    const delayMs = known === undefined ? await delayOf(app, item) : 0;
    if (delayMs === undefined) continue;
    const described = await describe(app, item);
    if (known?.digest === described.digest) continue;
    if (known !== undefined) over.push({ n: known.n, outcome: 'It has changed: see the message below.' });
    added.push({ ...described, delayMs });
  }
  if (added.length === 0 && over.length === 0) return;
  expected(
    await app.supervisor.ask('notifier', id, { type: 'notices.changed', added, over }, { by: notifications }),
  );
}

const keyOf = ({ actor: { kind, id }, waiting }: WaitingItem): string =>
  noticeKey({ kind, id, waitingId: waiting.id });
const isOpen = ({ state }: Notice): boolean => state === 'held' || state === 'sending' || state === 'sent';

/** In one event; the next change brings the rest. */
const addedMax = 20;
/** What may ask something else under the same name. */
const mayChange: ReadonlySet<string> = new Set(['approval', 'gate']);

/**
 * How long it is held back; undefined: it is not for people, or not asked for. What concerns an employee with
 * `alwaysNotify` is sent whatever it is, and at once.
 */
async function delayOf(app: App, item: WaitingItem): Promise<number | undefined> {
  const { notify } = app.settings;
  if (notify === undefined) return undefined;
  const { on, what, since } = item.waiting;
  const concerned = [on, await employeeOf(app, item)];
  const employees = app.records?.roster.value.employees ?? [];
  if (employees.some(({ name, alwaysNotify }) => alwaysNotify && concerned.includes(name))) return 0;
  if (on !== 'operator' || (notify.what.length > 0 && !notify.what.includes(what))) return undefined;
  return Math.max(0, since + notify.afterSeconds * 1_000 - app.supervisor.environment.clock.now());
}
