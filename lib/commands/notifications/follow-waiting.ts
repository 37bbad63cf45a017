import { limits, noticeKey, type NewNotice, type Notice } from '../../../machines/notifier/context.js';
import type { App, Follower, GatewayActor } from '../app.js';
import { expected, inTurn } from '../request.js';
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
      if (watching || (await destinationsOf(app)).length === 0) return;
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
      void check(app);
    });
  }

  /** What cannot be read or given now is tried again: it keeps no gateway from its start. */
  async function check(app: App): Promise<void> {
    await poll(app).catch((error: unknown) => {
      if (stop.signal.aborted) return;
      failed(error);
      soon(app, againMs);
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
      await check(app);
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
  const reading = readOnce(app, await allWaiting(app));
  const failures: unknown[] = [];
  // one destination that cannot be given anything keeps nothing from the others
  for (const notifier of notifiers)
    await inform(app, notifier, reading).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
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

/** What waits, as one look found it; what it says and whether it is sent is read once for all destinations. */
interface Reading {
  readonly waiting: readonly WaitingItem[];
  readonly delayOf: (item: WaitingItem) => Promise<number | undefined>;
  readonly describe: (item: WaitingItem) => ReturnType<typeof describe>;
}

function readOnce(app: App, waiting: readonly WaitingItem[]): Reading {
  return {
    waiting,
    delayOf: once((item) => delayOf(app, item)),
    describe: once((item) => describe(app, item)),
  };
}

function once<Result>(read: (item: WaitingItem) => Promise<Result>): (item: WaitingItem) => Promise<Result> {
  const known = new Map<WaitingItem, Promise<Result>>();
  return (item) => {
    const found = known.get(item) ?? read(item);
    known.set(item, found);
    return found;
  };
}

/** Give a notifier what it does not know yet, and take back what waits no more. */
async function inform(app: App, { id, view }: GatewayActor<'notifier'>, reading: Reading): Promise<void> {
  const open = new Map(view.notices.filter(isOpen).map((notice) => [notice.key, notice]));
  const there = new Set(reading.waiting.map(keyOf));
  const isAll = reading.waiting.length < waitingMax; // what is not in a list that was cut may wait all the same
  const over = await Promise.all(
    [...open.values()]
      .filter(({ key }) => isAll && !there.has(key))
      .map(async (notice) => ({
        n: notice.n,
        outcome: await outcomeOf(app, notice).catch(() => 'It waits no more.'),
      })),
  );
  const added: NewNotice[] = [];
  // More than it takes would be given to it again with every look, and each would cause the next
  const addedMax = Math.min(addedAtOnce, limits.noticesMax - view.notices.length);
  for (const item of reading.waiting) {
    const known = open.get(keyOf(item));
    if (added.length >= addedMax) break;
    if (item.actor.kind === 'notifier' && item.actor.id === id) continue; // it cannot say that it cannot speak
    if (known !== undefined && !mayChange.has(item.waiting.what)) continue;
    const delayMs = known === undefined ? await reading.delayOf(item) : 0;
    if (delayMs === undefined) continue;
    const described = await reading.describe(item);
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
const addedAtOnce = 20;
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
  const loud = (app.records?.roster.value.employees ?? []).filter(({ alwaysNotify }) => alwaysNotify);
  const owner = loud.length === 0 ? null : await employeeOf(app, item).catch(() => null);
  const concerned = [on, owner];
  if (loud.some(({ name }) => concerned.includes(name))) return 0;
  if (on !== 'operator' || (notify.what.length > 0 && !notify.what.includes(what))) return undefined;
  const afterMs = notify.afterSeconds * 1_000;
  // Where the clock was set back meanwhile it waits no longer than what begins to wait now
  return Math.min(afterMs, Math.max(0, since + afterMs - app.supervisor.environment.clock.now()));
}
