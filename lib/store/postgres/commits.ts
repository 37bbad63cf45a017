import { StoreError, type Group, type Head } from '../contract.js';
import { isPassing, type Sql } from './connection.js';
import type { Position } from './known-position.js';
import type { Claim, leaseClock } from './lease.js';
import { columnsOf } from './reads.js';

/**
 * The way of groups into the database: each is one statement, sent at once behind the one before it. An answer that
 * a broken connection kept is asked for again, in order: a group that is in already says so by its frame. Until
 * that is settled new groups are refused, which is safe; the unsettled ones wait.
 */
export interface Commits {
  readonly head: Head;
  /** Of the last commit that is in. */
  readonly position: Position;
  write(group: Group): Promise<void>;
  /** Send what is unsettled again. Rejects where the connection breaks again; resolves when nothing is left. */
  again(): Promise<void>;
  /** Nothing more is taken; what is unsettled is left to the one who opens the store next. */
  stop(error: StoreError): void;
  drained(): Promise<void>;
}

export interface CommitsOptions {
  readonly claim: Claim;
  readonly leaseMs: number;
  readonly lease: ReturnType<typeof leaseClock>;
  /** The connection of now. */
  readonly sql: () => Sql;
  /** The connection broke, or the server cannot write at the moment. */
  readonly onBroken: (error: unknown) => void;
  /** The server refused a group for a reason of its own. Nothing of it was written. */
  readonly onRefused: (error: unknown) => void;
  readonly onLost: (reason: string) => void;
  /** New groups are refused for this reason. */
  readonly closedBy: () => StoreError | undefined;
}

interface Unsettled {
  readonly group: Group;
  readonly frame: number;
  /** Where the log stands with it. */
  readonly head: Head;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  /** Its answer was lost once: it may be in. */
  doubtful: boolean;
}

export function commitsOf(options: CommitsOptions): Commits {
  const { claim, leaseMs, lease } = options;
  let head: Head = { seq: claim.seq, chain: claim.chain };
  let tail = head;
  /** The number of the last group that was sent, and of the last that is in. */
  const frame = { sent: claim.frame, settled: claim.frame };
  let unsettled: Unsettled[] = [];
  let drains: (() => void)[] = [];

  async function ask({ group, frame: at, head: after, doubtful }: Unsettled): Promise<string> {
    const { keys, values, gone } = columnsOf(group.ops);
    const from = lease.moment();
    const [row] = await options.sql().unsafe(
      // With all types, or a function that someone else has named so could fit better
      'select troupe_commit($1::int, $2::bigint, $3::uuid, $4::bigint, $5::bigint, $6::bigint, $7::text, ' +
        '$8::interval, $9::text[], $10::text[], $11::text[]) as answer',
      [
        claim.id,
        String(claim.epoch),
        claim.owner,
        String(at),
        String(group.first),
        String(after.seq),
        after.chain,
        `${leaseMs} milliseconds`,
        keys as string[],
        values as string[],
        gone as string[],
      ],
      { prepare: true },
    );
    const answer = String(row?.['answer']);
    if (answer === 'done' && !doubtful) lease.prolonged(from); // one that was in already has prolonged nothing now
    return answer;
  }

  function settle(one: Unsettled, answer: string): void {
    if (!unsettled.includes(one)) return;
    if (answer === 'behind')
      return fail(one, new StoreError('STORE_UNAVAILABLE', 'a group before this one was not written'));
    if (answer !== 'done') return options.onLost(`another node took it over (${answer})`);
    head = one.head;
    frame.settled = one.frame;
    unsettled = unsettled.filter((other) => other !== one);
    one.resolve();
    if (unsettled.length === 0) drain();
  }

  /** What was sent behind it cannot be written either, and says so itself. */
  function fail(one: Unsettled, error: StoreError): void {
    unsettled = unsettled.filter((other) => other !== one);
    one.reject(error);
    if (unsettled.length > 0) return;
    tail = head;
    frame.sent = frame.settled;
    drain();
  }

  function drain(): void {
    for (const drained of drains.splice(0)) drained();
  }

  async function send(one: Unsettled): Promise<void> {
    try {
      settle(one, await ask(one));
    } catch (error) {
      if (isPassing(error)) {
        one.doubtful = true;
        throw error;
      }
      fail(
        one,
        new StoreError('STORE_UNAVAILABLE', `the database refused: ${String(error)}`, { cause: error }),
      );
      options.onRefused(error);
    }
  }

  return {
    get head() {
      return head;
    },
    get position() {
      return { ...head, frame: frame.settled };
    },
    write(group) {
      const closed = options.closedBy();
      if (closed !== undefined) return Promise.reject(closed);
      if (group.first !== tail.seq + 1)
        return Promise.reject(
          new StoreError('CONFLICT', `the group begins at ${group.first}, the store is at ${tail.seq}`),
        );
      if (group.last >= group.first) tail = { seq: group.last, chain: group.chain };
      frame.sent += 1;
      return new Promise((resolve, reject) => {
        const one = { group, frame: frame.sent, head: tail, resolve, reject, doubtful: false };
        unsettled.push(one);
        send(one).catch(options.onBroken);
      });
    },
    async again() {
      for (const one of unsettled) if (unsettled.includes(one)) await send(one);
    },
    stop(error) {
      const left = unsettled;
      unsettled = [];
      for (const { doubtful, reject } of left)
        reject(
          doubtful
            ? new StoreError('OUTCOME_UNKNOWN', `the connection broke during the write: ${error.message}`)
            : error,
        );
      drain();
    },
    drained: () =>
      unsettled.length === 0 ? Promise.resolve() : new Promise((resolve) => void drains.push(resolve)),
  };
}
