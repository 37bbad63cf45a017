import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { activeStates, stateNames } from '../../../../machines/state-names.js';
import type { Json } from '../../../../machines/outputs.js';
import { curve } from '../../chart/svg-of.js';
import { type as sizes, type Arrow, type Box, type Drawing } from '../../chart/drawing.js';
import type { Chart as Machine } from '../../chart/definition.js';
import type { InspectEntry } from '../../frames.js';
import { hasMoved } from '../moves.js';
import { readable } from './step.js';
import { Tip } from './tip.js';

/**
 * A statechart drawn from the machine's definition: where the actor stands is lit, and so is the way that it
 * took last. The layout comes as a file of its own, when the first chart is drawn. Below the drawing the same
 * is said in words.
 */
export function Chart({
  machine,
  value,
  last,
}: {
  readonly machine: Machine;
  readonly value: Json;
  readonly last: InspectEntry | undefined;
}) {
  const drawing = useSignal<Drawing | undefined>(undefined);
  const whole = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const lit = useMemo(() => activeStates(value), [value]);
  const taken = useMemo(() => (last === undefined ? [] : edgesTaken(machine, last)), [machine, last]);
  useEffect(() => {
    let gone = false;
    void import('../../chart/lay-out.js').then(({ layOut }) => {
      if (!gone) drawing.value = layOut(machine);
    });
    return () => {
      gone = true;
    };
  }, [machine]);
  const drawn = drawing.value;
  useEffect(() => center(box.current), [drawn, lit.join(), whole.value]);
  if (drawn === undefined)
    return (
      <div class="chart-box" aria-busy="true">
        <p class="soft">Drawing …</p>
      </div>
    );
  const { width, height, id, boxes, arrows } = drawn;
  const hot = (edges: readonly string[]): boolean => edges.some((edge) => taken.includes(edge));
  return (
    <figure class="chart-figure">
      <div
        ref={box}
        class={whole.value ? 'chart-box whole' : 'chart-box'}
        tabIndex={0}
        role="region"
        aria-label="Statechart, can be scrolled"
      >
        <svg
          class="chart"
          viewBox={`0 0 ${width} ${height}`}
          style={whole.value ? { width: '100%' } : { width: `${width}px` }}
          role="img"
          aria-label={`Statechart of ${id}. Active: ${lit.join(', ')}.`}
        >
          <defs>
            <Tip id={`${id}-tip`} />
            <Tip id={`${id}-hot`} shape="tip-taken" />
          </defs>
          {boxes.map((one, n) => (
            <StateBox
              key={`${one.path} ${one.shape} ${n}`}
              box={one}
              lit={one.shape !== 'any' && one.shape !== 'root' && lit.includes(one.path)}
              hot={hot}
            />
          ))}
          {arrows.map((arrow, n) => (
            <Edge key={n} id={id} arrow={arrow} hot={hot(arrow.edges)} />
          ))}
          {arrows.map((arrow, n) => (
            <Label key={n} arrow={arrow} hot={hot(arrow.edges)} />
          ))}
        </svg>
      </div>
      <figcaption>
        <span>
          In <b>{stateNames(value).join(', ')}</b>
          {last !== undefined && (
            <>
              , last moved by <b>{readable(last.event.type)}</b>
            </>
          )}
          .
        </span>
        <button
          type="button"
          class="quiet"
          aria-pressed={whole.value}
          onClick={() => {
            whole.value = !whole.value;
          }}
        >
          {whole.value ? 'Actual size' : 'Fit to width'}
        </button>
      </figcaption>
    </figure>
  );
}

function StateBox({
  box: { path, shape, x, y, width, height, title, lines, depth },
  lit,
  hot,
}: {
  readonly box: Box;
  readonly lit: boolean;
  readonly hot: (edges: readonly string[]) => boolean;
}) {
  const left = x + sizes.pad;
  const name = { [shape === 'any' ? 'data-any' : 'data-state']: path };
  return (
    <g class={`node ${shape} depth-${depth % 3}${lit ? ' lit' : ''}`} {...name}>
      <rect x={x} y={y} width={width} height={height} rx={shape === 'any' ? 14 : 8} />
      {shape === 'final' && (
        <rect class="inner" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx={6} />
      )}
      <text class="title" x={left} y={y + 18}>
        {title}
      </text>
      {lines.length > 0 && (shape === 'atomic' || shape === 'final') && (
        <path class="rule" d={`M${x} ${y + sizes.titleHeight + 2} h${width}`} />
      )}
      {lines.map((line, n) => (
        <text
          key={n}
          class={`line ${line.about}${hot(line.edges) ? ' lit' : ''}`}
          x={left}
          y={y + sizes.titleHeight + 14 + n * sizes.lineHeight}
        >
          {line.text}
        </text>
      ))}
    </g>
  );
}

function Edge({
  id,
  arrow: { edges, points, from, to },
  hot,
}: {
  readonly id: string;
  readonly arrow: Arrow;
  readonly hot: boolean;
}) {
  const [first] = points;
  return (
    <>
      {edges.length === 0 && first !== undefined && (
        <circle class="start" cx={first.x} cy={first.y - 4} r={5} />
      )}
      <path
        class={hot ? 'arrow lit' : 'arrow'}
        data-from={from}
        data-to={to}
        d={curve(points)}
        marker-end={`url(#${id}-${hot ? 'hot' : 'tip'})`}
      />
    </>
  );
}

function Label({ arrow: { label }, hot }: { readonly arrow: Arrow; readonly hot: boolean }) {
  if (label === null) return null;
  const top = label.y - ((label.lines.length - 1) * sizes.lineHeight) / 2 + 4;
  return (
    <text class={hot ? 'label lit' : 'label'}>
      {label.lines.map((line, n) => (
        <tspan key={n} x={label.x} y={top + n * sizes.lineHeight}>
          {line}
        </tspan>
      ))}
    </text>
  );
}

/**
 * Which transitions of the definition a logged step can have been: same event, from a state that was active,
 * into states that are.
 */
function edgesTaken({ edges }: Machine, { event, from, to }: InspectEntry): readonly string[] {
  if (from === null) return [];
  const before = activeStates(from);
  const after = activeStates(to);
  const possible = edges.filter(
    (edge) =>
      edge.type === event.type &&
      (edge.from === '' || before.includes(edge.from)) &&
      edge.to.every((target) => after.includes(target)),
  );
  const moved = possible.filter((edge) => edge.to.some((target) => !before.includes(target)));
  return (moved.length > 0 ? moved : hasMoved({ from, to }) ? [] : possible).map(({ id }) => id);
}

/** Bring what is lit into view, without moving the page itself. */
function center(box: HTMLDivElement | null): void {
  const lit = box?.querySelector('.node.lit.atomic, .node.lit.final') ?? box?.querySelector('.node.lit');
  if (!box || !lit) return;
  const outer = box.getBoundingClientRect();
  const inner = lit.getBoundingClientRect();
  box.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  box.scrollTop += inner.top + inner.height / 2 - outer.top - outer.height / 2;
}
