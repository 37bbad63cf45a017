import { short } from '../../../page/clock.js';
import { moveOf } from '../moves.js';
import { linkTo } from '../place.js';
import { tone } from '../../../page/parts/state.js';
import { readable } from './step.js';
import { Tip } from './tip.js';
import { stateNames } from '../../../../machines/state-names.js';
import type { Causes } from '../../answers.js';
import type { InspectEntry } from '../../../client/inspector-frames.js';

/**
 * A chain of causes as a sequence diagram: a lane for each actor, time downward, an arrow from what caused to
 * what was caused.
 */
export function Sequence({ causes: { entries, links, seq } }: { readonly causes: Causes }) {
  const shown = entries.slice(0, rowsMax);
  const lanes = [...new Map(shown.map((entry) => [laneOf(entry), entry])).values()];
  const laneAt = new Map(lanes.map((entry, n) => [laneOf(entry), n]));
  const rowAt = new Map(shown.map((entry, n) => [entry.seq, n]));
  const x = (entry: InspectEntry): number => left + (laneAt.get(laneOf(entry)) ?? 0) * laneWidth;
  const y = (n: number): number => top + n * rowHeight;
  const width = left + lanes.length * laneWidth;
  const height = top + shown.length * rowHeight;
  return (
    <div class="sequence-box" tabIndex={0} role="region" aria-label="Sequence diagram, can be scrolled">
      <svg
        class="sequence"
        viewBox={`0 0 ${width} ${height}`}
        style={{ width: `${width}px` }}
        role="group"
        aria-label={`${shown.length} steps of ${lanes.length} actors`}
      >
        <defs>
          <Tip id="sequence-tip" />
        </defs>
        {lanes.map((entry, n) => (
          <g key={laneOf(entry)}>
            <line class="lane" x1={left + n * laneWidth} y1={44} x2={left + n * laneWidth} y2={height} />
            <a href={linkTo({ view: 'actor', kind: entry.kind, id: entry.id })}>
              <text class="lane-kind" x={left + n * laneWidth - 8} y={16}>
                {entry.kind}
              </text>
              <text class="lane-id" x={left + n * laneWidth - 8} y={32}>
                {short(entry.id, 24)}
              </text>
            </a>
          </g>
        ))}
        {links.map(({ from, to, how }) => {
          const [a, b] = [rowAt.get(from), rowAt.get(to)];
          const [cause, effect] = [
            a === undefined ? undefined : shown[a],
            b === undefined ? undefined : shown[b],
          ];
          if (a === undefined || b === undefined || cause === undefined || effect === undefined) return null;
          return (
            <path
              key={`${from}-${to}`}
              class={`link ${how}`}
              d={curve(x(cause), y(a), x(effect), y(b))}
              marker-end="url(#sequence-tip)"
            >
              <title>{`${from} → ${to}: ${how}`}</title>
            </path>
          );
        })}
        {shown.map((entry, n) => {
          const here = entry.seq === seq;
          const what = short(readable(entry.event.type), 26);
          const moved = `${entry.seq}${enteredText(entry)}`;
          return (
            <a
              key={entry.seq}
              href={linkTo({ view: 'time', at: entry.seq })}
              aria-current={here ? 'step' : undefined}
              aria-label={`${what} ${moved}, ${entry.kind} ${entry.id}`}
            >
              <circle
                class={`mark ${tone(stateNames(entry.to)[0] ?? '')}${here ? ' here' : ''}`}
                cx={x(entry)}
                cy={y(n)}
                r={here ? 7 : 5}
              />
              <text class={here ? 'what here' : 'what'} x={x(entry) + 14} y={y(n) - 1}>
                {what}
              </text>
              {' ' /* between words, for who hears them */}
              <text class="moved" x={x(entry) + 14} y={y(n) + 13}>
                {moved}
              </text>
            </a>
          );
        })}
      </svg>
    </div>
  );
}

const left = 28;
const top = 66;
const laneWidth = 232;
const rowHeight = 44;
const rowsMax = 200;

const laneOf = ({ kind, id }: InspectEntry): string => `${kind}/${id}`;

function enteredText(entry: InspectEntry): string {
  const { entered } = moveOf(entry);
  return entered.length === 0 ? '' : ` → ${short(entered.join(', '), 28)}`;
}

/** Within a lane a bow beside it, between lanes a slanted line that ends flat. */
function curve(x1: number, y1: number, x2: number, y2: number): string {
  if (x1 === x2) return `M${x1 - 5} ${y1} C${x1 - 22} ${y1 + 8} ${x1 - 22} ${y2 - 8} ${x1 - 7} ${y2 - 1}`;
  const side = x2 > x1 ? -9 : 9;
  const bend = Math.min(120, Math.abs(x2 - x1) / 2) * Math.sign(x2 - x1);
  return `M${x1} ${y1} C${x1 + bend * 0.2} ${y1 + (y2 - y1) * 0.8} ${x2 - bend} ${y2} ${x2 + side} ${y2}`;
}
