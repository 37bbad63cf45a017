import type { ActorKey } from '../../actors/contracts.js';
import type { Json } from '../../machines/outputs.js';
import { subsystems } from '../../machines/root/machine.js';
import { defaultSupervision } from '../../machines/supervisor/supervise.js';
import type { Range } from '../store/contract.js';
import { keys, pageLimit, pageMax, partsOf, prefix } from '../store/keys.js';
import { decodeState } from './draft/codec.js';
import type { LogEntry } from './contract.js';
import {
  haltedPlace,
  type Failing,
  type Inspection,
  type KindFacts,
  type PageQuery,
  type Place,
  type SealedEntry,
  type StoredActor,
} from './inspection-answers.js';
import type { Kernel } from './kernel.js';
import { allPlaces, placesOfRecord, placeTotals } from './draft/indexes.js';
import type { StatePlaces } from './draft/actor-state.js';
import { readRecord, viewOfRecord } from './draft/stored-form.js';
import type { Commits } from './commit.js';
import { readEntry } from './event-log.js';
import type { Failures } from './failures.js';

/** Effects in flight whose notes are read. */
const effectsMax = 50;

/** What `Supervisor.inspection` answers, from the kernel's own parts. */
export class KernelInspection implements Inspection {
  constructor(
    private readonly kernel: Kernel,
    private readonly commits: Commits,
    private readonly failures: Failures,
  ) {}

  get floor(): number {
    return this.kernel.log.floor;
  }
  get head(): number {
    return this.kernel.store.head.seq;
  }
  get erasures(): number {
    return this.kernel.log.erasures;
  }

  kinds(): readonly KindFacts[] {
    return this.kernel.kinds.all.map((definition) => ({
      kind: definition.kind,
      version: definition.version,
      machine: definition.machine,
      definition,
      supervision: { ...defaultSupervision, ...definition.supervision },
      restarts: this.failures.restartsOf(definition.kind),
    }));
  }

  counts(kind: string): {
    readonly total: number;
    readonly halted: number;
    readonly states: Readonly<Record<string, number>>;
  } {
    const {
      [allPlaces]: total = 0,
      [haltedPlace]: halted = 0,
      ...states
    } = Object.fromEntries(this.commits.committer.totals.of(placeTotals(kind)));
    return { total, halted, states };
  }

  async places(kind: string, state: string, query: PageQuery): Promise<Place[]> {
    const all = prefix(keys.place(kind, state, 0, '').slice(0, -17));
    const { states, halted } = this.counts(kind);
    const page =
      query.after === undefined
        ? await this.leap(
            { ...all, keysOnly: true },
            query,
            state === haltedPlace ? halted : (states[state] ?? 0),
          )
        : await this.kernel.store.page({
            ...all,
            gt: `${all.gte}${query.after}`,
            gte: `${all.gte}${query.after}`,
            keysOnly: true,
            limit: pageLimit(query.limit),
          });
    return page.map(([key]) => {
      const [, , , since, id] = partsOf(key) as [string, string, string, string, string];
      return { id, since: Number(since), place: key.slice(all.gte.length) };
    });
  }

  async page(kind: string, query: PageQuery): Promise<StoredActor[]> {
    const all = prefix(keys.actor(kind, ''));
    const page =
      query.after === undefined
        ? await this.leap(all, query, this.counts(kind).total)
        : await this.kernel.store.page({
            ...all,
            gte: `${keys.actor(kind, query.after)}\x00`,
            limit: pageLimit(query.limit),
          });
    return page.map(([, text]) => this.read(kind, text));
  }

  async stored(actors: readonly ActorKey[]): Promise<(StoredActor | undefined)[]> {
    const known = new Set(this.kernel.kinds.all.map(({ kind }) => kind));
    const texts = await this.kernel.store.getMany(actors.map(({ kind, id }) => keys.actor(kind, id)));
    return texts.map((text, n) =>
      text === undefined || !known.has((actors[n] as ActorKey).kind)
        ? undefined
        : this.read((actors[n] as ActorKey).kind, text),
    );
  }

  async panels({ kind, id }: ActorKey): Promise<unknown> {
    const definition = this.kernel.kinds.all.find((known) => known.kind === kind);
    if (definition?.panels === undefined) return undefined;
    const [text] = await this.kernel.store.getMany([keys.actor(kind, id)]);
    if (text === undefined) return undefined;
    const { snapshot, meta } = readRecord(definition, text);
    return definition.panels(snapshot, meta);
  }

  async children({ kind, id }: ActorKey, { after, limit }: PageQuery): Promise<ActorKey[]> {
    const all = prefix(keys.child(kind, id, '', '').slice(0, -1));
    const [afterKind = '', afterId = ''] = after?.split('/') ?? [];
    const page = await this.kernel.store.page({
      ...all,
      ...(after !== undefined && { gte: `${keys.child(kind, id, afterKind, afterId)}\x00` }),
      keysOnly: true,
      limit: pageLimit(limit),
    });
    return page.map(([key]) => {
      const [, , , childKind, childId] = partsOf(key) as [string, string, string, string, string];
      return { kind: childKind, id: childId };
    });
  }

  async checkpoints({ kind, id }: ActorKey): Promise<Json[]> {
    const page = await this.kernel.store.page({
      ...prefix(keys.outbox(kind, id, '')),
      limit: effectsMax,
    });
    return page.flatMap(([, text]) => {
      const { note } = JSON.parse(text) as { readonly note?: Json };
      return note === undefined ? [] : [note];
    });
  }

  inbox({ kind, id }: ActorKey): Promise<number> {
    return this.kernel.store.count({ ...prefix(keys.inbox(kind, id, 0, '').slice(0, -17)), limit: pageMax });
  }

  entry(seq: number): Promise<LogEntry | undefined> {
    return seq <= 0 ? Promise.resolve(undefined) : this.kernel.log.entry(seq);
  }

  async entries(after: number, limit: number): Promise<LogEntry[]> {
    const page = await this.kernel.store.page({
      gt: keys.log(after),
      lte: keys.log(this.head),
      limit: pageLimit(limit),
    });
    return page.map(([, text]) => readEntry(text));
  }

  tap(listener: (entries: readonly SealedEntry[]) => void): () => void {
    return this.kernel.log.tap(listener);
  }

  failing(kind: string): readonly Failing[] {
    return this.failures.failing(kind);
  }

  subsystems(): readonly { readonly name: string; readonly failing: string | null }[] {
    return subsystems.map((name) => ({ name, failing: this.kernel.root.failing[name] ?? null }));
  }

  deadLetters(): Promise<number> {
    return this.kernel.store.count({ ...prefix('d/'), limit: pageMax });
  }

  /** A page past the first `offset` of `total` rows, reached from the end that is nearer. */
  private async leap(
    all: Range,
    { offset = 0, limit }: PageQuery,
    total: number,
  ): Promise<[key: string, value: string][]> {
    const { store } = this.kernel;
    if (offset <= total / 2) return store.page({ ...all, offset, limit: pageLimit(limit) });
    const left = Math.max(0, total - offset);
    const rows = Math.min(left, pageLimit(limit));
    return rows === 0
      ? []
      : (await store.page({ ...all, reverse: true, offset: left - rows, limit: rows })).reverse();
  }

  private read(kind: string, text: string): StoredActor {
    const stored = JSON.parse(text) as Omit<
      StoredActor,
      'view' | 'value' | 'context' | 'places' | 'revision' | 'position'
    > & {
      readonly rev: number;
      readonly seq: number;
      readonly places?: StatePlaces;
      readonly state: unknown;
    };
    const state = decodeState(stored.state);
    let view: Json = null;
    try {
      ({ view } = viewOfRecord(this.kernel.kinds.of(kind), text));
    } catch {
      /* a record that this build cannot bring to life is shown as it lies there */
    }
    return {
      kind,
      id: stored.id,
      version: stored.version,
      revision: stored.rev,
      position: stored.seq,
      createdAt: stored.createdAt,
      updatedAt: stored.updatedAt,
      parent: stored.parent ?? null,
      value: state.value,
      status: state.status ?? 'active',
      context: state.context,
      timers: stored.timers ?? {},
      calls: stored.calls ?? {},
      failures: stored.failures ?? [],
      halted: stored.halted ?? null,
      places: placesOfRecord(stored),
      view,
    };
  }
}
