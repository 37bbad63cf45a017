import { useSignal, useComputed, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { actorPath, ask, said } from '../../page/ask.js';
import { useLoaded, type Batch } from './live.js';
import type { History } from '../answers.js';
import type { InspectEntry } from '../../client/inspector-frames.js';
import type { ActorKey } from '../../../machines/outputs.js';

/**
 * Steps of an actor, newest first, without a hole. `whole`: its creation is among them, or the log has forgotten
 * what was before. `isPast`: a stretch of its life from before what the feed keeps here.
 */
export interface Steps {
  readonly entries: readonly InspectEntry[];
  readonly error: string | undefined;
  readonly whole: boolean;
  readonly isPast: boolean;
  /** More of them are on their way. */
  readonly busy: boolean;
}

export interface StepReader {
  readonly steps: Signal<Steps>;
  /** Those before the first at hand. */
  readonly earlier: () => void;
  /** Those after the last of a stretch of the past. */
  readonly later: () => void;
  /** The log position of a step by its number, from 1; undefined where the log has forgotten it. */
  readonly seqOf: (revision: number) => Promise<number | undefined>;
}

/**
 * The last hundred follow the feed, and earlier ones are fetched when they are asked for. A moment far back is shown
 * in a stretch of its own, so that no life is too long to be looked at.
 */
export function useSteps(
  actor: ActorKey,
  at: number | undefined,
  touches: (batch: Batch) => boolean,
): StepReader {
  const key = `${actor.kind}/${actor.id}`;
  const read = async (query: string): Promise<readonly InspectEntry[]> =>
    (await ask<History>(actorPath(actor, `/history?diff=1&${query}`))).entries;
  const newest = useLoaded(
    key,
    (signal) => ask<History>(actorPath(actor, `/history?diff=1&limit=${pageMax}`), { signal }),
    { touches },
  );
  const known = useSignal<readonly InspectEntry[]>([]);
  const past = useSignal<readonly InspectEntry[]>([]);
  const moment = useSignal(at);
  moment.value = at;
  const forgotten = useSignal(false);
  const busy = useSignal(false);
  const failed = useSignal<string | undefined>(undefined);
  const shown = useRef(key);
  if (shown.current !== key) {
    shown.current = key;
    known.value = past.value = [];
    forgotten.value = false;
    failed.value = undefined;
  }
  const steps = useComputed((): Steps => {
    const live = joined(newest.value.value?.entries ?? [], known.value);
    const isPast = covers(past.value, moment.value) && !covers(live, moment.value);
    const entries = isPast ? past.value : live;
    return {
      entries,
      isPast,
      error: failed.value ?? newest.value.error,
      whole: forgotten.value || entries.length === 0 || entries.at(-1)?.rev === 1,
      busy: busy.value,
    };
  });
  const latest = newest.value.value?.entries;
  useEffect(() => {
    if (latest !== undefined) known.value = joined(latest, known.value);
  }, [latest]);

  async function attempt(reading: () => Promise<void>): Promise<void> {
    if (busy.value) return;
    busy.value = true;
    try {
      await reading();
      failed.value = undefined;
    } catch (error) {
      failed.value = said(error);
    }
    busy.value = false;
  }

  const earlier = (): Promise<void> =>
    attempt(async () => {
      const { entries, isPast, whole } = steps.value;
      const before = entries.at(-1)?.seq;
      if (before === undefined || whole) return;
      const more = await read(`limit=${earlierMax}&before=${before}`);
      if (shown.current !== key) return;
      forgotten.value = more.length === 0;
      if (isPast) past.value = [...entries, ...more];
      else known.value = [...known.value, ...more];
    });

  const later = (): Promise<void> =>
    attempt(async () => {
      const [last] = past.value;
      if (last === undefined) return;
      const more = await read(`limit=${pageMax}&revision=${last.rev + pageMax}`);
      if (shown.current === key) past.value = [...more.filter(({ rev }) => rev > last.rev), ...past.value];
    });

  async function seqOf(revision: number): Promise<number | undefined> {
    const here = steps.value.entries.find(({ rev }) => rev === revision);
    if (here !== undefined) return here.seq;
    const stretch = await read(`limit=${pageMax}&revision=${revision + pageMax / 2}`);
    if (shown.current !== key || stretch.length === 0) return undefined;
    past.value = stretch;
    forgotten.value = false;
    return stretch.find(({ rev }) => rev <= revision)?.seq;
  }

  const oldest = steps.value.entries.at(-1)?.seq;
  useEffect(() => {
    if (at === undefined || oldest === undefined || at >= oldest || steps.value.whole) return;
    void attempt(async () => {
      const [then] = await read(`limit=1&before=${at + 1}`);
      if (then === undefined || shown.current !== key) return;
      const stretch = await read(`limit=${pageMax}&revision=${then.rev + pageMax / 2}`);
      if (shown.current === key) past.value = stretch;
    });
  }, [at, oldest]);
  return { steps, earlier: () => void earlier(), later: () => void later(), seqOf };
}

const pageMax = 100;
const earlierMax = 200;

/** Does the moment lie in this stretch? */
const covers = (entries: readonly InspectEntry[], at: number | undefined): boolean => {
  const oldest = entries.at(-1);
  return at !== undefined && oldest !== undefined && at >= oldest.seq;
};

/** What came since is put in front; where more came than was told, what lies behind the hole is forgotten. */
function joined(newest: readonly InspectEntry[], known: readonly InspectEntry[]): readonly InspectEntry[] {
  const oldest = newest.at(-1);
  if (oldest === undefined) return known;
  const rest = known.filter(({ seq }) => seq < oldest.seq);
  return rest[0] === undefined || rest[0].rev === oldest.rev - 1 ? [...newest, ...rest] : newest;
}
