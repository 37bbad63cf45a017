import { useSignal, useComputed, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { actorPath, ask, said } from '../../page/ask.js';
import { useLoaded, type Batch } from './live.js';
import type { History } from '../answers.js';
import type { InspectEntry } from '../frames.js';
import type { ActorKey } from '../../../machines/outputs.js';

/**
 * The steps of an actor, newest first. `whole`: its birth is among them, or the log has forgotten what was
 * before.
 */
export interface Steps {
  readonly entries: readonly InspectEntry[];
  readonly error: string | undefined;
  readonly whole: boolean;
  /** Earlier ones are on their way. */
  readonly busy: boolean;
}

/**
 * The last hundred follow the feed; earlier ones are fetched when somebody wants to see them, or looks at a
 * moment before those that are there.
 */
export function useSteps(
  actor: ActorKey,
  at: number | undefined,
  touches: (batch: Batch) => boolean,
): { readonly steps: Signal<Steps>; readonly earlier: () => void } {
  const key = `${actor.kind}/${actor.id}`;
  const newest = useLoaded(
    key,
    (signal) => ask<History>(actorPath(actor, `/history?diff=1&limit=${newestMax}`), { signal }),
    { touches },
  );
  const known = useSignal<readonly InspectEntry[]>([]);
  const forgotten = useSignal(false);
  const busy = useSignal(false);
  const failed = useSignal<string | undefined>(undefined);
  const shown = useRef(key);
  if (shown.current !== key) {
    shown.current = key;
    known.value = [];
    forgotten.value = false;
    failed.value = undefined;
  }
  const steps = useComputed((): Steps => {
    const entries = joined(newest.value.value?.entries ?? [], known.value);
    return {
      entries,
      error: failed.value ?? newest.value.error,
      whole: forgotten.value || entries.length === 0 || entries.at(-1)?.rev === 1,
      busy: busy.value,
    };
  });
  const latest = newest.value.value?.entries;
  useEffect(() => {
    if (latest !== undefined) known.value = joined(latest, known.value);
  }, [latest]);

  const earlier = async (): Promise<void> => {
    const before = steps.value.entries.at(-1)?.seq;
    if (busy.value || before === undefined || steps.value.whole) return;
    busy.value = true;
    try {
      const { entries } = await ask<History>(
        actorPath(actor, `/history?diff=1&limit=${earlierMax}&before=${before}`),
      );
      if (shown.current === key) {
        known.value = [...known.value, ...entries];
        forgotten.value = entries.length === 0;
        failed.value = undefined;
      }
    } catch (error) {
      failed.value = said(error);
    }
    busy.value = false;
  };
  const oldest = steps.value.entries.at(-1)?.seq;
  useEffect(() => {
    if (at !== undefined && oldest !== undefined && at < oldest && steps.value.entries.length < reachedMax)
      void earlier();
  }, [at, oldest]);
  return { steps, earlier: () => void earlier() };
}

const newestMax = 100;
const earlierMax = 200;
/** Nobody steps through more; by hand one may go on. */
const reachedMax = 2_000;

/** What came since is put in front; where more came than was told, what lies behind the hole is forgotten. */
function joined(newest: readonly InspectEntry[], known: readonly InspectEntry[]): readonly InspectEntry[] {
  const oldest = newest.at(-1);
  if (oldest === undefined) return known;
  const rest = known.filter(({ seq }) => seq < oldest.seq);
  return rest[0] === undefined || rest[0].rev === oldest.rev - 1 ? [...newest, ...rest] : newest;
}
