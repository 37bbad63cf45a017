import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { activeStates, stateNames } from '../../../../machines/state-names.js';
import type { Json } from '../../../../machines/outputs.js';
import type { Drawing } from '../../chart/drawing.js';
import type { Chart as Machine } from '../../chart/definition.js';
import { nameIn } from '../../chart/svg-of.js';
import type { InspectEntry } from '../../../client/inspector-frames.js';
import { edgesTaken, type Filter } from '../taken.js';
import { areasOf, boxesOf } from './chart-areas.js';
import { ArrowLabel, ArrowLine, StateBox, WordsMask } from './chart-shapes.js';
import { OutOfView } from './out-of-view.js';
import { readable } from './step.js';
import { Tip } from './tip.js';
import { ZoomButtons } from './zoom-buttons.js';
import { useRoom } from './room.js';
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
  const large = useSignal(false);
  const lit = useMemo(() => activeStates(value), [value]);
  const taken = useMemo(() => (last === undefined ? [] : edgesTaken(machine, last)), [machine, last]);
  const room = useRoom(box);
  useEffect(() => {
    if (room === undefined) return;
    let gone = false;
    void import('../../chart/lay-out.js').then(({ layOut }) => {
      if (!gone) drawing.value = layOut(machine, room);
    });
    return () => {
      gone = true;
    };
  }, [machine, room]);
  const drawn = drawing.value;
  const focus = useMemo(
    () => (drawn === undefined ? [] : areasOf(drawn, lit, taken)),
    [drawn, lit.join(), taken.join()],
  );
  const zoom = useZoom(box, drawn ?? nothing, focus);
  useEffect(zoom.home, [room]);
  return (
    <figure
      class={large.value ? 'chart-figure large' : 'chart-figure'}
      onKeyDown={({ key }) => {
        if (key === 'Escape') large.value = false;
      }}
    >
      <div class="chart-frame">
        <div
          ref={box}
          class="chart-box"
          tabIndex={0}
          role="region"
          aria-label="Statechart, can be scrolled; plus and minus zoom, 0 shows all"
          aria-busy={drawn === undefined}
        >
          {drawn === undefined ? (
            <p class="soft">Drawing …</p>
          ) : (
            <Picture
              machine={machine}
              drawing={drawn}
              lit={lit}
              taken={taken}
              turn={last?.seq ?? 0}
              isNew={last !== undefined && last.seq > opened.current}
              width={drawn.width * zoom.scale}
              filter={filter}
            />
          )}
        </div>
        {drawn !== undefined && <OutOfView states={boxesOf(drawn, lit)} zoom={zoom} />}
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
        <ZoomButtons zoom={zoom} label="Size of the chart">
          <button
            type="button"
            class="quiet"
            aria-pressed={large.value}
            onClick={() => {
              large.value = !large.value;
            }}
          >
            {large.value ? 'Back to the page' : 'Fill the window'}
          </button>
        </ZoomButtons>
      </figcaption>
    </figure>
  );
}

/** The drawing itself: boxes, then arrows, then words. */
function Picture({
  machine,
  drawing,
  lit,
  taken,
  turn,
  isNew,
  width,
  filter,
}: {
  readonly machine: Machine;
  readonly drawing: Drawing;
  readonly lit: readonly string[];
  /** Ids of the edges that were taken last. */
  readonly taken: readonly string[];
  /** Of the step that was taken last: each is drawn from its beginning. */
  readonly turn: number;
  readonly isNew: boolean;
  /** In pixels. */
  readonly width: number;
  readonly filter: ((filter: Filter) => void) | undefined;
}) {
  const { id, boxes, arrows } = drawing;
  const hot = (edges: readonly string[]): boolean => edges.some((edge) => taken.includes(edge));
  const words = (edges: readonly string[]): string =>
    [...new Set(machine.edges.filter((edge) => edges.includes(edge.id)).map(wordsOf))].join('\n');
  const byEdges = filter && ((ids: readonly string[]) => filter({ by: 'edges', ids, name: words(ids) }));
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${drawing.width} ${drawing.height}`}
      style={{ width: `${width}px` }}
      role="img"
      aria-label={`Statechart of ${id}. Active: ${lit.join(', ')}.`}
    >
      <defs>
        <Tip id={nameIn(id, 'tip')} />
        <Tip id={nameIn(id, 'hot')} shape="tip-taken" />
        <WordsMask drawing={drawing} />
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
            key={hot(arrow.edges) ? `${n} ${turn}` : n}
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
  );
}

const nothing = { width: 0, height: 0 };

/** A transition in full: its event, its guard with parameters, and where it leads. */
const wordsOf = ({ event, condition, to, actions }: Machine['edges'][number]): string =>
  event +
  (condition === null ? '' : ` [${condition}]`) +
  (to.length === 0 ? '' : ` → ${to.join(', ')}`) +
  (actions.length === 0 ? '' : ` / ${actions.join(', ')}`);
