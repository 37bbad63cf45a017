import type { AnyEventObject } from 'xstate';
import type { ActorKey, Kind } from '../../../actors/contracts.js';
import { callerName, isTrusted, type Caller } from '../../../machines/caller.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { Op } from '../../store/contract.js';
import { keys, prefix } from '../../store/keys.js';
import type { Cell } from '../cells/actor-cells.js';
import type { Commits } from '../commit.js';
import type { ActorView, DeadLetter } from '../contract.js';
import { viewOf, type ActorState } from '../draft/actor-state.js';
import { assertCaller, notFound } from '../draft/admission.js';
import { reasonOf } from '../../../machines/text.js';
import { lettersListedKey, type Failures, type StoredLetter } from '../failures.js';
import type { Inbox, InboxEntry } from './inbox.js';
import type { Kernel } from '../kernel.js';
import type { TimerWheel } from '../timers.js';

/**
 * Events at which an actor failed. Each has two rows: the letter, and its place in the list, which goes by the
 * retention clock: the newest is read first, the oldest goes first, after its days or when there are too many.
 */
export class DeadLetters {
  private readonly retrying = new Map<string, { callers: number; done?: Promise<true | Refusal> }>();
  private readonly dismissing = new Set<string>();

  constructor(
    private readonly kernel: Kernel,
    private readonly commits: Commits,
    private readonly inbox: Inbox,
  ) {}

  /** Letters of a home from before there was a list get their places: once, before anything else. */
  async load(): Promise<void> {
    const { store } = this.kernel;
    if ((await store.get(lettersListedKey)) !== undefined) return;
    for (let range = prefix('d/') as { gte: string; lt: string }; ;) {
      const page = await store.page({ ...range, limit: pageSize });
      const last = page.at(-1);
      if (last === undefined) return;
      const ops = page.map(([, text]): Op => [placeOf(JSON.parse(text) as StoredLetter), '1']);
      const done = page.length < pageSize;
      if (done) ops.push([lettersListedKey, '1']);
      await store.write({ first: store.head.seq + 1, last: store.head.seq, chain: store.head.chain, ops });
      if (done) return;
      range = { ...range, gte: `${last[0]}\x00` };
    }
  }

  /** Newest first; `before` is the `place` of the last one of the page before. */
  async page({ limit = 100, before }: { limit?: number; before?: string } = {}): Promise<DeadLetter[]> {
    const { store } = this.kernel;
    const list = prefix('g/');
    const places = await store.page({
      ...list,
      ...(before !== undefined && { lt: `${list.gte}${before}` }),
      keysOnly: true,
      reverse: true,
      limit: Math.max(0, Math.min(limit, 1_000)),
    });
    const ids = places.map(([key]) => key.slice(list.gte.length + 17));
    const texts = await store.getMany(ids.map((id) => `d/${id}`));
    return texts.flatMap((text, n) => {
      if (text === undefined) return []; // retried in between
      const { by: _by, onBehalfOf: _causes, listedAt: _at, ...letter } = JSON.parse(text) as StoredLetter;
      return [{ ...letter, place: (places[n]?.[0] ?? '').slice(list.gte.length) }];
    });
  }

  /**
   * Put a letter back into its actor's mailbox, with the authority of who sent it. The actor must admit the
   * event from its sender and on behalf of who retries it. Who asks while it is being done is told of the same
   * operation: having read the letter, too, a second one would do it twice.
   */
  async retry(id: string, by: Caller): Promise<true | Refusal> {
    assertCaller(by, 'by');
    if (this.dismissing.has(id)) return absent(id);
    const retry = this.retrying.get(id) ?? { callers: 0 };
    this.retrying.set(id, retry);
    retry.callers += 1;
    try {
      const letter = await this.read(id);
      if (letter === undefined && retry.done === undefined) return absent(id);
      const refusal = letter && (await this.judge(letter, by).catch(failsAgain));
      return refusal ?? (await (retry.done ??= this.putBack(id, by)));
    } finally {
      retry.callers -= 1;
      if (retry.callers === 0) this.retrying.delete(id);
    }
  }

  /** Drop a letter: what its event would have done is never done. */
  async dismiss(id: string): Promise<true | Refusal> {
    if (this.retrying.has(id)) return refuse('CONFLICT', { id }, `The dead letter ${id} is being retried.`);
    if (this.dismissing.has(id)) return absent(id);
    this.dismissing.add(id);
    try {
      const letter = await this.read(id);
      if (letter === undefined) return absent(id);
      await this.commits.write([
        [keys.deadLetter(id), null],
        [placeOf(letter), null],
      ]);
      return true;
    } finally {
      this.dismissing.delete(id);
    }
  }

  /** Let go what is past its days, and the oldest where there are too many. How many went. */
  async expire(stopped: () => boolean): Promise<number> {
    const { store, limits, retention } = this.kernel;
    const horizon = Math.max(0, retention.now() - limits.keepDeadLettersDays * 24 * 3600 * 1000);
    const total = await store.count({ ...prefix('g/'), limit: limits.deadLettersMax + surplusMax });
    let surplus = total - limits.deadLettersMax;
    let gone = 0;
    while (!stopped()) {
      const oldest = await store.page({ ...prefix('g/'), keysOnly: true, limit: pageSize });
      const due = oldest.filter(([key], n) => n < surplus || Number(key.slice(2, 18)) < horizon);
      if (due.length > 0)
        await this.commits.write(
          due.flatMap(([key]): Op[] => [
            [key, null],
            [`d/${key.slice(19)}`, null],
          ]),
        );
      surplus -= due.length;
      gone += due.length;
      if (due.length < pageSize) return gone;
    }
    return gone;
  }

  private async read(id: string): Promise<StoredLetter | undefined> {
    const text = await this.kernel.store.get(keys.deadLetter(id));
    return text === undefined ? undefined : (JSON.parse(text) as StoredLetter);
  }

  /** Would the actor take this event from its sender, and may who retries it want that? The narrower wins. */
  private async judge(
    { actor, event, by: sender, onBehalfOf = [sender] }: StoredLetter,
    by: Caller,
  ): Promise<Refusal | undefined> {
    const kind = this.kernel.kinds.find(actor.kind);
    const state = kind && (await this.kernel.cells.read(actor.kind, actor.id));
    if (kind === undefined || state === undefined)
      return refuse('NOT_FOUND', { ...actor }, `${actor.kind} ${actor.id} no longer exists.`);
    if (state.snapshot.status !== 'active')
      return refuse(
        'CONFLICT',
        { ...actor },
        `The ${actor.kind} ${actor.id} has ended and accepts no events.`,
      );
    const own = sender.type === 'system';
    if (own && !isTrusted(by)) return refuse('FORBIDDEN', {}, 'Agents may not replay system events.');
    const sent = event as AnyEventObject;
    // Results and timers of the actor's own making are facts: no one may refuse them
    if (/^(?:xstate|kernel)\./.test(sent.type)) return undefined;
    const facts = this.kernel.kinds.facts(kind, state, sent);
    const judged = (from: Caller, onBehalfOf: Caller): Refusal | undefined =>
      kind.policy?.(
        state.snapshot,
        {
          ...sent,
          at: this.kernel.environment.clock.now(),
          by: from,
          ...(facts !== undefined && { facts }),
        } as never,
        { by: from, onBehalfOf },
      );
    for (const cause of onBehalfOf) {
      const refusal = judged(sender, cause);
      if (refusal !== undefined) return refusal;
    }
    return own ? judged(sender, by) : judged(by, by);
  }

  private async putBack(id: string, by: Caller): Promise<true | Refusal> {
    const letter = await this.read(id);
    if (letter === undefined) return absent(id);
    const { actor, event } = letter;
    const inbox = keys.inbox(actor.kind, actor.id, this.kernel.store.head.seq, `retry.${id}`);
    const cause = `dead letter ${id}, retried by ${callerName(by)}`;
    const row = JSON.stringify({ event, by: letter.by, onBehalfOf: letter.onBehalfOf, cause });
    await this.commits.write([
      [keys.deadLetter(id), null],
      [placeOf(letter), null],
      [inbox, row],
    ]);
    this.inbox.take(actor, inbox, row);
    return true;
  }
}

/**
 * A person lets a halted actor go on: its failures are forgotten, and what its inbox kept is delivered before
 * anything younger. All of it with the turn held, so that nothing overtakes and nothing comes twice.
 */
export class Resumption {
  constructor(
    private readonly kernel: Kernel,
    private readonly commits: Commits,
    private readonly failures: Failures,
    private readonly inbox: Inbox,
    private readonly timers: TimerWheel,
  ) {}

  async resume(actor: ActorKey, by: Caller): Promise<ActorView | Refusal> {
    assertCaller(by, 'by');
    const { cells, kinds } = this.kernel;
    const kind = kinds.of(actor.kind);
    if (cells.isClosed) return refuse('DRAINING');
    const cell = await new Promise<Cell>((resolve, reject) => {
      cells.enter(actor.kind, actor.id, { run: resolve, fail: reject, urgent: true });
    });
    let kept: Awaited<ReturnType<Inbox['of']>>;
    try {
      if (cell.state === undefined) throw notFound(actor.kind, actor.id);
      kept = await this.inbox.of(actor);
    } catch (problem) {
      cells.release(cell);
      if (isRefusal(problem)) return problem;
      throw problem;
    }
    const state = await this.commit(kind, cell, by, kept);
    for (const [timer, { due }] of Object.entries(state.timers))
      this.timers.armed({ due, kind: actor.kind, id: actor.id, timer });
    this.failures.resumed(actor);
    return viewOf(kind, actor.id, state);
  }

  private commit(kind: Kind, cell: Cell, by: Caller, kept: readonly InboxEntry[]): Promise<ActorState> {
    const draft = this.commits.draft({ by, cause: null });
    const event = { type: 'kernel.resumed' };
    try {
      draft.overlay(kind, cell.id, cell.state as ActorState, event, { halted: null, failures: [] });
    } catch (problem) {
      this.kernel.cells.release(cell); // a rule of the kind threw
      throw problem;
    }
    return new Promise((resolve, reject) => {
      this.commits.commit(draft, [cell], (error) => {
        if (error !== undefined) return reject(error as Error);
        this.inbox.takeFirst(cell, kind, kept);
        resolve(cell.state as ActorState);
      });
    });
  }
}

const placeOf = ({ id, at, listedAt = at }: StoredLetter): string => keys.deadLetterPlace(listedAt, id);
const absent = (id: string): Refusal => refuse('NOT_FOUND', { id }, `There is no dead letter ${id}.`);
/** The policy itself throws, as it may have done before. */
const failsAgain = (error: unknown): Refusal =>
  refuse('CONFLICT', {}, `Replaying the event would fail again: ${reasonOf(error)}`);
const pageSize = 500;
/** More than these are counted at the next look. */
const surplusMax = 100_000;
