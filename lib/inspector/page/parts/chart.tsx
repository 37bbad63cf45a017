import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { activeStates, stateNames } from '../../../../machines/state-names.js';
import type { Json } from '../../../../machines/outputs.js';
import { aligned } from '../../chart/aligned.js';
import type { Drawing } from '../../chart/drawing.js';
import type { Chart as Machine } from '../../chart/definition.js';
import { nameIn } from '../../chart/svg-of.js';
import type { InspectEntry } from '../../../client/inspector-frames.js';
import { edgesTaken, type Filter } from '../taken.js';
import { areasOf, boxesOf, stepIn } from './chart-areas.js';
import { ArrowLabel, ArrowLine, StateBox, WordsMask } from './chart-shapes.js';
import { OutOfView } from './out-of-view.js';
import { readable } from './step.js';
import { Tip } from './tip.js';
import { ZoomButtons } from './zoom-buttons.js';
import { useRoom } from './room.js';
import { useZoom } from './zoom.js';

interface Shown {
  readonly machine: Machine;
  readonly value: Json;
  readonly last: InspectEntry | undefined;
  readonly filter?: ((filter: Filter) => void) | undefined;
}

/** The chart of an actor, and on demand a second one of it in a dialog that fills the window. */
export function Chart({ filter, ...shown }: Shown) {
  const isLarge = useSignal(false);
  const close = (): void => {
    isLarge.value = false;
  };
  return (
    <>
      <ChartFigure {...shown} filter={filter}>
        <button
          type="button"
          class="quiet"
          aria-haspopup="dialog"
          onClick={() => {
            isLarge.value = true;
          }}
        >
          Fill the window
        </button>
      </ChartFigure>
      {isLarge.value && (
        <ChartWindow name={`Statechart of ${shown.machine.id}`} close={close}>
          <ChartFigure
            {...shown}
            among="window"
            filter={
              filter &&
              ((by) => {
                close(); // the history stands on the page
                filter(by);
              })
            }
          >
            <button type="submit" class="quiet">
              Back to the page
            </button>
          </ChartFigure>
        </ChartWindow>
      )}
    </>
  );
}

/** Nothing behind it can be reached until it is closed: by its button, by Escape or by a choice that leads back. */
function ChartWindow({
  name,
  close,
  children,
}: {
  readonly name: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="chart-window" aria-label={name} onClose={close}>
      <form method="dialog">{children}</form>
    </dialog>
  );
}

/**
 * A statechart drawn from the machine's definition: where the actor stands is lit, and so is the way that it
 * took last, which moves when it happens. The layout comes as a file of its own, when the first chart is drawn.
 * Below the drawing the same is said in words. A click on a state or an arrow is a wish for its history.
 */
function ChartFigure({
  machine,
  value,
  last,
  filter,
  among = 'page',
  children,
}: Shown & {
  /** Two drawings of one machine share no names. */
  readonly among?: 'page' | 'window';
  /** Further buttons. */
  readonly children: ComponentChildren;
}) {
  const drawing = useSignal<Drawing | undefined>(undefined);
  const box = useRef<HTMLDivElement>(null);
  // Up to this step no one has to be shown what happened. History that is read after the chart is no news
  const opened = useRef(last?.seq);
  opened.current ??= last?.seq;
  const known = useSignal(0);
  const shownAgain = useSignal(0);
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
  const placed = drawing.value;
  const drawn = useMemo(() => placed && aligned(placed, machine.root, lit), [placed, lit.join()]);
  const isNew = last !== undefined && last.seq > Math.max(opened.current ?? 0, known.value);
  const step = useMemo(() => drawn && stepIn(drawn, taken), [drawn, taken.join()]);
  const focus = useMemo(
    () => (drawn === undefined ? [] : areasOf(drawn, lit, step, isNew)),
    [drawn, lit.join(), step, isNew],
  );
  const zoom = useZoom(box, drawn ?? nothing, focus);
  useEffect(zoom.home, [room]);
  const whereItIs = (): void => {
    known.value = last?.seq ?? 0;
    zoom.home();
  };
  const showStep = (): void => {
    if (step === undefined) return;
    shownAgain.value += 1;
    zoom.show(step.area, { whole: true });
  };
  return (
    <figure class="chart-figure">
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
              name={`${drawn.id}-${among}`}
              machine={machine}
              drawing={drawn}
              lit={lit}
              taken={taken}
              turn={`${last?.seq ?? 0} ${shownAgain.value}`}
              isNew={isNew || shownAgain.value > 0}
              width={drawn.width * zoom.scale}
              filter={filter}
            />
          )}
        </div>
        {drawn !== undefined && (
          <OutOfView
            states={boxesOf(drawn, lit)}
            step={step && last && { area: step.area, name: readable(last.event.type), show: showStep }}
            zoom={zoom}
          />
        )}
      </div>
      <figcaption>
        <span>
          In <b>{stateNames(value).join(', ')}</b>
          {last !== undefined && (
            <>
              , last moved by <b>{readable(last.event.type)}</b>
              {step !== undefined && step.from !== '' && (
                <>
                  {' '}
                  from <b>{step.from}</b> to <b>{step.to}</b>
                </>
              )}
            </>
          )}
          .
          {filter !== undefined && (
            <span class="soft"> A click on a state or an arrow shows its history.</span>
          )}
        </span>
        <ZoomButtons zoom={{ ...zoom, home: whereItIs }} label="Size of the chart">
          {step !== undefined && (
            <button type="button" class="quiet" onClick={showStep}>
              Last step
            </button>
          )}
          {children}
        </ZoomButtons>
      </figcaption>
    </figure>
  );
}

/** The drawing itself: boxes, then arrows, then words. */
function Picture({
  name,
  machine,
  drawing,
  lit,
  taken,
  turn,
  isNew,
  width,
  filter,
}: {
  /** Of what is drawn, in the names of its parts. */
  readonly name: string;
  readonly machine: Machine;
  readonly drawing: Drawing;
  readonly lit: readonly string[];
  /** Ids of the edges that were taken last. */
  readonly taken: readonly string[];
  /** Of the step that was taken last: each is drawn from its beginning. */
  readonly turn: string;
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
        <Tip id={nameIn(name, 'tip')} />
        <Tip id={nameIn(name, 'hot')} shape="tip-taken" />
        <WordsMask name={name} drawing={drawing} />
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
      <g mask={`url(#${nameIn(name, 'words')})`}>
        {arrows.map((arrow, n) => (
          <ArrowLine
            key={hot(arrow.edges) ? `${n} ${turn}` : n}
            name={name}
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
