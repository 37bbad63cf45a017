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
export function Sequence({ causes: { entries, links, titles, seq } }: { readonly causes: Causes }) {
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
            <line
              class="lane"
              x1={left + n * laneWidth}
              y1={top - 22}
              x2={left + n * laneWidth}
              y2={height}
            />
            <a href={linkTo({ view: 'actor', kind: entry.kind, id: entry.id })}>
              <LaneHead entry={entry} title={titles[laneOf(entry)]} x={left + n * laneWidth - 8} />
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

/** What people call the actor, then its id. */
const LaneHead = ({
  entry: { kind, id },
  title,
  x,
}: {
  readonly entry: InspectEntry;
  readonly title: string | undefined;
  readonly x: number;
}) => (
  <>
    <title>{title === undefined ? `${kind} ${id}` : `${title}, ${kind} ${id}`}</title>
    <text class="lane-kind" x={x} y={16}>
      {kind}
    </text>
    {title !== undefined && (
      <text class="lane-title" x={x} y={32}>
        {short(title, 28)}
      </text>
    )}
    <text
      class={title === undefined ? 'lane-id lane-title' : 'lane-id'}
      x={x}
      y={title === undefined ? 32 : 47}
    >
      {short(id, 26)}
    </text>
  </>
);

const left = 28;
const top = 80;
const laneWidth = 244;
const rowHeight = 44;
const rowsMax = 200;

const laneOf = ({ kind, id }: InspectEntry): string => `${kind}/${id}`;

function enteredText(entry: InspectEntry): string {
  const { entered } = moveOf(entry);
  return entered.length === 0 ? '' : ` → ${short(entered.join(', '), 28)}`;
}

/**
 * Words stand to the right of each step, and no line runs through them: within a lane a bow to its left; to the right
 * down beside the lane and along the row of the step, which is alone in it; to the left above the words of the row.
 */
function curve(x1: number, y1: number, x2: number, y2: number): string {
  if (x1 === x2) return `M${x1 - 5} ${y1} C${x1 - 22} ${y1 + 8} ${x1 - 22} ${y2 - 8} ${x1 - 7} ${y2 - 1}`;
  if (x2 > x1)
    return `M${x1 + 4} ${y1 + 5} L${x1 + 8} ${y1 + 12} V${y2 - 10} Q${x1 + 8} ${y2} ${x1 + 18} ${y2} H${x2 - 9}`;
  const [beside, above] = [x1 - 8, y2 - 20];
  const down = `M${x1 - 4} ${y1 + 5} L${beside} ${y1 + 12} V${above - 6} Q${beside} ${above} ${beside - 6} ${above}`;
  return `${down} H${x2 + 12} Q${x2 + 3} ${above} ${x2 + 2} ${y2 - 9}`;
}
