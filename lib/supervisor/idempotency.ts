import type { Json } from '../../machines/outputs.js';
import { refuse, type Refusal } from '../../machines/refusals.js';
import type { Op, Store } from '../store/contract.js';
import { keys } from '../store/keys.js';
import type { Idempotency } from './contract.js';

/**
 * Durable idempotency keys: the row is written in the create's own batch, so the deed and the memory of it
 * cannot part. A twin that arrives while the first is under way waits for it.
 */
export const keptMs = 24 * 3600 * 1000;

export interface KeyRow {
  readonly hash: string;
  readonly result: Json;
}

export class Keys {
  private readonly underway = new Map<string, Promise<unknown>>();

  constructor(
    private readonly store: Store,
    private readonly now: () => number,
  ) {}

  /** Run `deed` unless the key is known. `replay` answers from what was kept. */
  async once<Answer>(
    { scope, key, hash }: Idempotency,
    deed: (rows: (result: Json) => readonly Op[]) => Promise<Answer>,
    replay: (row: KeyRow) => Promise<Answer>,
  ): Promise<Answer | Refusal> {
    const place = keys.idempotency(scope, key);
    for (let twin = this.underway.get(place); twin !== undefined; twin = this.underway.get(place))
      await twin.catch(() => undefined);
    const work = this.attempt(place, hash, deed, replay);
    this.underway.set(place, work);
    try {
      return await work;
    } finally {
      if (this.underway.get(place) === work) this.underway.delete(place);
    }
  }

  private async attempt<Answer>(
    place: string,
    hash: string,
    deed: (rows: (result: Json) => readonly Op[]) => Promise<Answer>,
    replay: (row: KeyRow) => Promise<Answer>,
  ): Promise<Answer | Refusal> {
    const kept = await this.store.get(place);
    if (kept !== undefined) {
      const row = JSON.parse(kept) as KeyRow;
      return row.hash === hash ? replay(row) : refuse('IDEMPOTENCY_CONFLICT');
    }
    const due = this.now() + keptMs;
    return deed((result) => [
      [place, JSON.stringify({ hash, result })],
      [keys.expiry(due, place), '1'],
    ]);
  }
}
