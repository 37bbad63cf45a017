import { useEffect } from 'preact/hooks';
import { typing } from '../keys.js';
import { timeOfDay } from '../clock.js';
import type { InspectEntry } from '../../frames.js';

/**
 * Back and forward through the steps that are known, and a rail to drag over them. Looking at the past reads it from
 * the log; nothing is run again. The buttons are never truly disabled: with the focus on such a one no key would be heard.
 */
export function Transport({ entries, at, travel, earlier }: { /** Where there is more before the first step at hand. */ readonly earlier?: (() => void) | undefined; readonly entries: readonly Pick<InspectEntry, 'seq' | 'at'>[]; readonly at: number | undefined; readonly travel: (seq: number | undefined) => void }) {
  const oldestFirst = [...entries].reverse();
  const found = at === undefined ? oldestFirst.length - 1 : oldestFirst.findLastIndex(({ seq }) => seq <= at);
  const step = (by: number): void => {
    const to = found + by;
    if (to >= oldestFirst.length) travel(undefined);
    else if (to >= 0) travel(oldestFirst[to]?.seq);
    else earlier?.();
  };
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      if (event.key === '[') step(-1);
      else if (event.key === ']') step(1);
      else if (event.key === 'l') travel(undefined);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
  const here = oldestFirst[found];
  return (
    <div class="transport" role="group" aria-label="Time">
      <button type="button" onClick={() => step(-1)} aria-disabled={found <= 0 && earlier === undefined} aria-label="A step back" title="A step back  [">‹</button>
      <input type="range" min={0} max={Math.max(0, oldestFirst.length - 1)} value={Math.max(0, found)} aria-label="Step" aria-valuetext={here === undefined ? 'before the first step' : `step ${here.seq} at ${timeOfDay(here.at)}`}
        onInput={(event) => { const to = Number(event.currentTarget.value); travel(to >= oldestFirst.length - 1 ? undefined : oldestFirst[to]?.seq); }} />
      <button type="button" onClick={() => step(1)} aria-disabled={at === undefined} aria-label="A step forward" title="A step forward  ]">›</button>
      <span class="num soft" data-standing>{at === undefined ? 'now' : `seq ${at}${here === undefined ? '' : `, ${timeOfDay(here.at)}`}`}</span>
      <button type="button" class={at === undefined ? 'quiet on' : 'primary'} aria-pressed={at === undefined} onClick={() => travel(undefined)} title="Back to now  l">{at === undefined ? 'Live' : 'Back to now'}</button>
    </div>
  );
}
