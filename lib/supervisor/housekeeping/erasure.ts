import type { ActorKey } from '../../../actors/contracts.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import type { Caller } from '../../../machines/caller.js';
import { blankedEntry, isBlanked } from '../../store/chain.js';
import type { Op } from '../../store/contract.js';
import { keys, partsOf, prefix } from '../../store/keys.js';
import type { Cell } from '../cells/actor-cells.js';
import type { Commits } from '../commit.js';
import type { ActorState } from '../draft/actor-state.js';
import { notFound } from '../draft/admission.js';
import type { Kernel } from '../kernel.js';

/**
 * What the log says of an actor goes: events, states and frames of every entry so far. First an entry that says so,
 * with the state of now, and a row that says that it is not done yet; then each earlier entry is blanked. It keeps
 * its place, its time and its chain, so the log is verified as before, and a blanked entry counts as damage where no
 * later entry of the same actor says that it was erased. What a crash leaves undone is done at the next start.
 */
export class Erasure {
  private underway: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly kernel: Kernel,
    private readonly commits: Commits,
    /** Nothing else drops or changes entries meanwhile. */
    private readonly alone: <Value>(task: () => Promise<Value>) => Promise<Value>,
    private readonly stopped: () => boolean,
  ) {}

  /** Answers how many entries were blanked. */
  erase(actor: ActorKey, by: Caller): Promise<number | Refusal> {
    return this.next(async () => {
      const marked = await this.mark(actor, by).catch((problem: unknown) => {
        if (isRefusal(problem)) return problem;
        throw problem;
      });
      return isRefusal(marked) ? marked : this.blank(actor, marked);
    });
  }

  /** What an earlier life has left undone. */
  resume(): Promise<void> {
    return this.next(async () => {
      const pending = await this.kernel.store.page({ ...prefix(pendingRows), limit: pendingMax });
      for (const [row] of pending) {
        const [kind = '', id = ''] = (partsOf(row)[1] ?? '').split('/').slice(2);
        const record = await this.kernel.store.get(keys.actor(kind, id));
        const { seq } = JSON.parse(record ?? '{"seq":0}') as { seq: number };
        await this.blank({ kind, id }, seq);
      }
    });
  }

  /** When what is under way has ended. */
  async rest(): Promise<void> {
    await this.underway.catch(() => undefined);
  }

  private next<Value>(task: () => Promise<Value>): Promise<Value> {
    const turn = this.underway.catch(() => undefined).then(task);
    this.underway = turn;
    return turn;
  }

  /** Answers the position of the entry that says so. */
  private async mark({ kind: name, id }: ActorKey, by: Caller): Promise<number> {
    const { cells, kinds } = this.kernel;
    const kind = kinds.of(name);
    const cell = await new Promise<Cell>((resolve, reject) => {
      cells.enter(name, id, { run: resolve, fail: reject, urgent: true });
    });
    const { state } = cell;
    if (state === undefined) {
      cells.release(cell);
      throw notFound(name, id);
    }
    const draft = this.commits.draft({ by, cause: null });
    draft.ops.push([pendingRow({ kind: name, id }), '1']);
    const whole: ActorState = { ...state, sinceSnapshot: Infinity };
    try {
      draft.overlay(kind, id, whole, { type: erasedEvent }, {});
    } catch (error) {
      cells.release(cell); // else nothing is ever delivered to it again
      throw error;
    }
    return new Promise((resolve, reject) => {
      this.commits.commit(draft, [cell], (error) =>
        error === undefined ? resolve((cell.state as ActorState).position) : reject(error as Error),
      );
    });
  }

  private async blank(actor: ActorKey, from: number): Promise<number> {
    let blanked = 0;
    let isBehind = false;
    for (let seq = from; seq > 0;) {
      const at = seq;
      const slice = await this.alone(async () => {
        const ops: Op[] = [];
        let place = at;
        while (place > this.kernel.log.floor && ops.length < sliceMax) {
          const text = await this.kernel.store.get(keys.log(place));
          if (text === undefined) return { ops, place: 0 };
          const { prev, event } = JSON.parse(text) as { prev: number; event: { type?: unknown } };
          if (isBehind && !isBlanked(text)) ops.push([keys.log(place), blankedEntry(text)]);
          isBehind ||= event.type === erasedEvent;
          place = prev;
        }
        if (ops.length > 0) await this.commits.write(ops);
        return { ops, place: place > this.kernel.log.floor ? place : 0 };
      });
      blanked += slice.ops.length;
      if (slice.ops.length > 0) this.kernel.log.erased();
      if (this.stopped()) return blanked;
      seq = slice.place;
    }
    await this.commits.write([...(await this.letters(actor)), [pendingRow(actor), null]]);
    return blanked;
  }

  /** Events at which it failed stand in dead letters as well. */
  private async letters({ kind, id }: ActorKey): Promise<Op[]> {
    const ops: Op[] = [];
    for (let { gte, lt } = prefix('d/'); ;) {
      const page = await this.kernel.store.page({ gte, lt, limit: 500 });
      for (const [key, text] of page) {
        const letter = JSON.parse(text) as { actor: ActorKey; at: number; listedAt?: number; id: string };
        if (letter.actor.kind !== kind || letter.actor.id !== id) continue;
        ops.push([key, null], [keys.deadLetterPlace(letter.listedAt ?? letter.at, letter.id), null]);
      }
      const last = page.at(-1);
      if (last === undefined || page.length < 500) return ops;
      gte = `${last[0]}\x00`;
    }
  }
}

const erasedEvent = 'kernel.erased';
const pendingRows = keys.meta('kernel/erasing/');
const pendingRow = ({ kind, id }: ActorKey): string => keys.meta(`kernel/erasing/${kind}/${id}`);
const sliceMax = 200;
const pendingMax = 10_000;
