import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { activeStates, stateNames } from '../../../../machines/state-names.js';
import type { Json } from '../../../../machines/outputs.js';
import type { Area, Drawing } from '../../chart/drawing.js';
import type { Chart as Machine } from '../../chart/definition.js';
import { nameIn } from '../../chart/svg-of.js';
import type { InspectEntry } from '../../../client/inspector-frames.js';
import { edgesTaken, type Filter } from '../taken.js';
import { ArrowLabel, ArrowLine, StateBox, WordsMask } from './chart-shapes.js';
import { readable } from './step.js';
import { Tip } from './tip.js';
import { ZoomButtons } from './zoom-buttons.js';
import { useZoom } from './zoom.js';

/**
 * A statechart drawn from the machine's definition: where the actor stands is lit, and so is the way that it
 * took last, which moves when it happens. The layout comes as a file of its own, when the first chart is drawn.
 * Below the drawing the same is said in words. A click on a state or an arrow is a wish for its history.
 */
export function Chart({
  machine,
  value,
  last,
  filter,
}: {
  readonly machine: Machine;
  readonly value: Json;
  readonly last: InspectEntry | undefined;
  readonly filter?: (filter: Filter) => void;
}) {
  const drawing = useSignal<Drawing | undefined>(undefined);
  const box = useRef<HTMLDivElement>(null);
  const opened = useRef(last?.seq ?? 0);
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
  const focus = useMemo(
    () => (drawn === undefined ? [] : areasOf(drawn, lit, taken)),
    [drawn, lit.join(), taken.join()],
  );
  const zoom = useZoom(box, drawn ?? nothing, focus);
  if (drawn === undefined)
    return (
      <div class="chart-box" aria-busy="true">
        <p class="soft">Drawing …</p>
      </div>
    );
  const { width, height, id, boxes, arrows } = drawn;
  const hot = (edges: readonly string[]): boolean => edges.some((edge) => taken.includes(edge));
  const isNew = last !== undefined && last.seq > opened.current;
  const words = (edges: readonly string[]): string =>
    [...new Set(machine.edges.filter((edge) => edges.includes(edge.id)).map(wordsOf))].join('\n');
  const byEdges = filter && ((ids: readonly string[]) => filter({ by: 'edges', ids, name: words(ids) }));
  return (
    <figure class="chart-figure">
      <div
        ref={box}
        class="chart-box"
        tabIndex={0}
        role="region"
        aria-label="Statechart, can be scrolled; plus and minus zoom, 0 shows all"
      >
        <svg
          class="chart"
          viewBox={`0 0 ${width} ${height}`}
          style={{ width: `${width * zoom.scale}px` }}
          role="img"
          aria-label={`Statechart of ${id}. Active: ${lit.join(', ')}.`}
        >
          <defs>
            <Tip id={nameIn(id, 'tip')} />
            <Tip id={nameIn(id, 'hot')} shape="tip-taken" />
            <WordsMask drawing={drawn} />
          </defs>
          {boxes.map((one, n) => (
            <StateBox
              key={`${one.path} ${one.shape} ${n}`}
              box={one}
              lit={one.shape !== 'any' && one.shape !== 'root' && lit.includes(one.path)}
              hot={hot}
              words={words}
              choose={filter && ((path) => filter({ by: 'state', path }))}
              chooseEdges={byEdges}
            />
          ))}
          <g mask={`url(#${nameIn(id, 'words')})`}>
            {arrows.map((arrow, n) => (
              <ArrowLine
                key={hot(arrow.edges) ? `${n} ${last?.seq}` : n}
                id={id}
                arrow={arrow}
                hot={hot(arrow.edges)}
                isNew={isNew}
                choose={byEdges}
              />
            ))}
          </g>
          {arrows.map((arrow, n) => (
            <ArrowLabel key={n} arrow={arrow} hot={hot(arrow.edges)} words={words} choose={byEdges} />
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
          {filter !== undefined && (
            <span class="soft"> A click on a state or an arrow shows its history.</span>
          )}
        </span>
        <ZoomButtons zoom={zoom} label="Size of the chart" />
      </figcaption>
    </figure>
  );
}

const nothing = { width: 0, height: 0 };

/** A transition in full: its event, its guard with parameters, and where it leads. */
const wordsOf = ({ event, condition, to, actions }: Machine['edges'][number]): string =>
  event +
  (condition === null ? '' : ` [${condition}]`) +
  (to.length === 0 ? '' : ` → ${to.join(', ')}`) +
  (actions.length === 0 ? '' : ` / ${actions.join(', ')}`);

/**
 * What should be seen, the best first: where it stands with the way that it took, where it stands, one state of that.
 * Regions that rest say little and are left out where another one stands somewhere.
 */
function areasOf(
  { boxes, arrows }: Drawing,
  lit: readonly string[],
  taken: readonly string[],
): readonly Area[] {
  const inner = lit.filter((path) => !lit.some((other) => other.startsWith(`${path}.`)));
  const speaking = inner.filter((path) => !/\.(?:none|idle|off)$/.test(path));
  const named = speaking.length > 0 ? speaking : inner;
  const active = boxes.filter(
    ({ path, shape }) => shape !== 'any' && shape !== 'root' && named.includes(path),
  );
  const ways = arrows.filter(({ edges }) => edges.some((edge) => taken.includes(edge)));
  const corners = active.map(({ x, y, width, height }) => [
    { x, y },
    { x: x + width, y: y + height },
  ]);
  return [[...corners.flat(), ...ways.flatMap(({ points }) => points)], corners.flat(), corners[0] ?? []]
    .filter(() => corners.length > 0)
    .map(around);
}

function around(points: readonly { readonly x: number; readonly y: number }[]): Area {
  const [left, top] = [Math.min(...points.map(({ x }) => x)), Math.min(...points.map(({ y }) => y))];
  return {
    x: left,
    y: top,
    width: Math.max(...points.map(({ x }) => x)) - left,
    height: Math.max(...points.map(({ y }) => y)) - top,
  };
}
