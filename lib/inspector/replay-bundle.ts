import type { Kind } from '../../actors/contracts.js';
import type { Json } from '../../machines/outputs.js';
import type { Bundle, BundledActor, BundledEntry } from './bundle.js';
import { chartOf } from './chart/chart-of.js';
import { machineHash } from './machines.js';
import { memberHash, Replay, stateHash } from './replay.js';

/** What a replay of a bundle came to. `same`: every state of every actor. */
export interface ReplayReport {
  readonly same: boolean;
  readonly entries: number;
  readonly actors: readonly {
    readonly kind: string;
    readonly id: string;
    readonly entries: number;
    /** The first entry that led to another state than it did when it happened. */
    readonly differs: {
      readonly seq: number;
      readonly event: string;
      readonly expected: Json;
      readonly got: Json;
      readonly members: readonly string[];
      readonly error?: string;
    } | null;
    /** Of the state at the end. */
    readonly hash: string | null;
  }[];
  /** Machines that are not what they were, or are not known here. */
  readonly machines: readonly {
    readonly kind: string;
    readonly about: 'unknown' | 'other version' | 'changed';
  }[];
}

/**
 * Decide everything in a bundle once more, with the machines of this build. Pure: nothing is read, written or
 * done.
 */
export function replayBundle(bundle: Bundle, kinds: readonly Kind[]): ReplayReport {
  const known = new Map(kinds.map((kind) => [kind.kind, kind]));
  const machines = Object.entries(bundle.machines).flatMap(
    ([kind, { version, hash }]): ReplayReport['machines'][number][] => {
      const own = known.get(kind);
      if (own === undefined) return [{ kind, about: 'unknown' }];
      if (own.version !== version) return [{ kind, about: 'other version' }];
      return machineHash(chartOf(own.machine)) === hash ? [] : [{ kind, about: 'changed' }];
    },
  );
  const actors = bundle.actors.map((actor) => {
    const kind = known.get(actor.kind);
    return kind === undefined
      ? { kind: actor.kind, id: actor.id, entries: actor.entries.length, differs: null, hash: null }
      : replayed(actor, kind);
  });
  return {
    same:
      machines.every(({ about }) => about !== 'unknown') && actors.every(({ differs }) => differs === null),
    entries: bundle.actors.reduce((sum, { entries }) => sum + entries.length, 0),
    actors,
    machines,
  };
}

function replayed(actor: BundledActor, kind: Kind): ReplayReport['actors'][number] {
  const own = { kind: actor.kind, id: actor.id, entries: actor.entries.length };
  const replay = new Replay(kind, actor.start);
  let hash: string | null = null;
  for (const entry of actor.entries) {
    const about = { seq: entry.seq, event: entry.event.type, expected: entry.to };
    try {
      const state = replay.next(entry);
      hash = stateHash(state);
      if (hash !== entry.state)
        return {
          ...own,
          hash,
          differs: { ...about, got: state.value, members: otherMembers(entry, state.context) },
        };
    } catch (error) {
      return {
        ...own,
        hash,
        differs: {
          ...about,
          got: null,
          members: [],
          error: error instanceof Error ? error.message : String(error),
        },
      };
    }
  }
  return { ...own, hash, differs: null };
}

/** Of the members that the entry changed then: those that are another now. */
const otherMembers = (
  { changed }: BundledEntry,
  context: Readonly<Record<string, Json>>,
): readonly string[] =>
  Object.entries(changed)
    .filter(([member, hash]) => memberHash(context[member]) !== hash)
    .map(([member]) => member);
