import type { AnyEventObject } from 'xstate';
import type { Kind } from '../../actors/contracts.js';
import { callerName, isTrusted, type Causes, type Caller } from '../../machines/caller.js';
import type { Json } from '../../machines/outputs.js';
import { refuse, type Refusal } from '../../machines/refusals.js';
import type { Op, Store } from '../store/contract.js';
import { keys, prefix } from '../store/keys.js';
import type { ActorCells } from './cells/actor-cells.js';
import type { DeadLetter, Limits } from './contract.js';
import type { Inbox } from './inbox.js';
import type { ActorState } from './draft/actor-state.js';
import { reasonOf } from './draft/stored-form.js';

interface KernelParts {
  readonly store: Store;
  readonly cells: ActorCells;
  readonly inbox: Inbox;
  readonly limits: Limits;
  readonly retention: { now(): number };
  allKinds(): readonly Kind[];
  facts(kind: Kind, live: ActorState | undefined, event: { readonly type: string }): Json | undefined;
  now(): number;
  writeOps(ops: readonly Op[]): Promise<void>;
}

/**
 * Events at which an actor failed. Each has two rows: the letter, and its place in the list, which goes by the
 * retention clock: the newest is read first, the oldest goes first, after its days or when there are too many.
 */
export class DeadLetters {
  private readonly retrying = new Map<string, { callers: number; done?: Promise<true | Refusal> }>();

  constructor(private readonly kernel: KernelParts) {}

  /** The rows of a new letter. */
  rows(letter: Omit<DeadLetter, 'place'>, { by, onBehalfOf }: Pick<Stored, 'by' | 'onBehalfOf'>): Op[] {
    const listedAt = this.kernel.retention.now();
    return [
      [keys.deadLetter(letter.id), JSON.stringify({ ...letter, by, onBehalfOf, listedAt } satisfies Stored)],
      [keys.deadLetterPlace(listedAt, letter.id), '1'],
      [listedKey, '1'],
    ];
  }

  /** Letters of a home from before there was a list get their places: once, before anything else. */
  async load(): Promise<void> {
    const { store } = this.kernel;
    if ((await store.get(listedKey)) !== undefined) return;
    for (let range = prefix('d/') as { gte: string; lt: string }; ;) {
      const page = await store.page({ ...range, limit: pageSize });
      const last = page.at(-1);
      if (last === undefined) return;
      const ops = page.map(([, text]): Op => [placeOf(JSON.parse(text) as Stored), '1']);
      const done = page.length < pageSize;
      if (done) ops.push([listedKey, '1']);
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
      const { by: _by, onBehalfOf: _causes, listedAt: _at, ...letter } = JSON.parse(text) as Stored;
      return [{ ...letter, place: (places[n]?.[0] ?? '').slice(list.gte.length) }];
    });
  }

  /**
   * Put a letter back into its actor's mailbox, with the authority of who sent it. The actor must admit the
   * event from its sender and on behalf of who retries it. Who asks while it is being done is told of the same
   * deed: having read the letter, too, a second one would do it twice.
   */
  async retry(id: string, by: Caller): Promise<true | Refusal> {
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
        await this.kernel.writeOps(
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

  private async read(id: string): Promise<Stored | undefined> {
    const text = await this.kernel.store.get(keys.deadLetter(id));
    return text === undefined ? undefined : (JSON.parse(text) as Stored);
  }

  /** Would the actor take this event from its sender, and may who retries it want that? The narrower wins. */
  private async judge(
    { actor, event, by: sender, onBehalfOf = [sender] }: Stored,
    by: Caller,
  ): Promise<Refusal | undefined> {
    const kind = this.kernel.allKinds().find((one) => one.kind === actor.kind);
    const live = kind && (await this.kernel.cells.read(actor.kind, actor.id));
    if (kind === undefined || live === undefined)
      return refuse('NOT_FOUND', { ...actor }, `${actor.kind} ${actor.id} no longer exists.`);
    if (live.snapshot.status !== 'active')
      return refuse(
        'CONFLICT',
        { ...actor },
        `The ${actor.kind} ${actor.id} has ended and accepts no events.`,
      );
    const own = sender.type === 'system';
    if (own && !isTrusted(by)) return refuse('FORBIDDEN', {}, 'Agents may not replay system events.');
    const sent = event as unknown as AnyEventObject;
    // Results and timers of the actor's own making are facts: nobody may refuse them
    if (/^(?:xstate|kernel)\./.test(sent.type)) return undefined;
    const facts = this.kernel.facts(kind, live, sent);
    const judged = (from: Caller, onBehalfOf: Caller): Refusal | undefined =>
      kind.policy?.(
        live.snapshot,
        { ...sent, at: this.kernel.now(), by: from, ...(facts !== undefined && { facts }) } as never,
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
    await this.kernel.writeOps([
      [keys.deadLetter(id), null],
      [placeOf(letter), null],
      [inbox, row],
    ]);
    this.kernel.inbox.take(actor, inbox, row);
    return true;
  }
}

interface Stored extends Omit<DeadLetter, 'place'> {
  readonly by: Caller;
  readonly onBehalfOf?: Causes | undefined;
  /** Absent in letters from before there was a list. */
  readonly listedAt?: number;
}

const placeOf = ({ id, at, listedAt = at }: Stored): string => keys.deadLetterPlace(listedAt, id);
const absent = (id: string): Refusal => refuse('NOT_FOUND', { id }, `There is no dead letter ${id}.`);
/** The policy itself throws, as it may have done before. */
const failsAgain = (error: unknown): Refusal =>
  refuse('CONFLICT', {}, `Replaying the event would fail again: ${reasonOf(error)}`);
const listedKey = keys.meta('kernel/dead-letters-listed');
const pageSize = 500;
/** More than these are counted at the next look. */
const surplusMax = 100_000;
