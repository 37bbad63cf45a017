import { useEffect } from 'preact/hooks';
import { typing } from '../keys.js';
import { whole } from '../clock.js';

/** The whole of the log as a rail: drag, step by step with `[` and `]`, and `l` for now. */
export function Rail({ from, to, at, travel, says }: { readonly from: number; readonly to: number; readonly at: number | undefined; readonly travel: (seq: number | undefined) => void; readonly says: string }) {
  const here = at ?? to;
  const reach = (seq: number): void => travel(seq >= to ? undefined : Math.max(from, seq));
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      if (event.key === '[') reach(here - 1);
      else if (event.key === ']') reach(here + 1);
      else if (event.key === 'l') travel(undefined);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
  return (
    <div class="transport" role="group" aria-label="Time">
      <button type="button" onClick={() => reach(here - 1)} aria-disabled={here <= from} aria-label="A step back" title="A step back  [">‹</button>
      <input type="range" min={from} max={Math.max(from, to)} value={here} aria-label="Log position" aria-valuetext={`${here} of ${to}, ${says}`} onInput={(event) => reach(Number(event.currentTarget.value))} />
      <button type="button" onClick={() => reach(here + 1)} aria-disabled={at === undefined} aria-label="A step forward" title="A step forward  ]">›</button>
      <span class="num soft" data-standing>{at === undefined ? 'now' : `seq ${whole(at)}${says === '' ? '' : `, ${says}`}`}</span>
      <button type="button" class={at === undefined ? 'quiet on' : 'primary'} aria-pressed={at === undefined} onClick={() => travel(undefined)} title="Back to now  l">{at === undefined ? 'Live' : 'Back to now'}</button>
    </div>
  );
}
