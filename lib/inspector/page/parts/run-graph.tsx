import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { curve } from '../../chart/svg-of.js';
import { short } from '../../../page/clock.js';
import { tone } from '../../../page/parts/state.js';
import { Tip } from './tip.js';
import { ZoomButtons } from './zoom-buttons.js';
import { useZoom } from './zoom.js';
import type { Places } from '../run-layout.js';
import type { Run } from './run-record.js';

/**
 * The graph of a run from left to right: all of it where that can be read, else the node where the run is. Each node
 * says what its newest receipt says; a click shows all of that.
 */
export function RunGraph({
  run,
  at,
  chosen,
  choose,
}: {
  readonly run: Run;
  /** Where the run is. */
  readonly at: string | undefined;
  readonly chosen: string | undefined;
  readonly choose: (nodeId: string) => void;
}) {
  const places = useSignal<Places | undefined>(undefined);
  const definition = run.definitionSnapshot;
  const shape = JSON.stringify(definition);
  useEffect(() => {
    let gone = false;
    if (definition !== null)
      void import('../run-layout.js').then(({ layOutRun }) => {
        if (!gone) places.value = layOutRun(definition);
      });
    return () => {
      gone = true;
    };
  }, [shape]);
  const drawn = places.value;
  const box = useRef<HTMLDivElement>(null);
  const focus = useMemo(() => {
    const node = at === undefined ? undefined : drawn?.nodes.get(at);
    return drawn === undefined ? [] : [{ x: 0, y: 0, ...drawn }, ...(node === undefined ? [] : [node])];
  }, [drawn, at]);
  const zoom = useZoom(box, drawn ?? nothing, focus);
  if (drawn === undefined || definition === null)
    return (
      <p class="soft" aria-busy="true">
        Drawing …
      </p>
    );
  const receipts = new Map(run.steps.map((step) => [step.nodeId, step]));
  return (
    <figure class="chart-figure">
      <div
        ref={box}
        class="chart-box"
        tabIndex={0}
        role="region"
        aria-label="Graph of the run, can be scrolled; plus and minus zoom, 0 shows all"
      >
        <svg
          class="chart run-graph"
          viewBox={`0 0 ${drawn.width} ${drawn.height}`}
          style={{ width: `${drawn.width * zoom.scale}px` }}
          role="group"
          aria-label={`${definition.nodes.length} steps`}
        >
          <defs>
            <Tip id="run-tip" />
          </defs>
          {drawn.edges.map(({ points, style }, n) => (
            <path key={n} class={`arrow ${style}`} d={curve(points)} marker-end="url(#run-tip)" />
          ))}
          {definition.nodes.map((node) => {
            const place = drawn.nodes.get(node.id);
            if (place === undefined) return null;
            const receipt = receipts.get(node.id);
            const status =
              node.id === run.parked?.nodeId
                ? 'parked'
                : (receipt?.status ?? (node.type === 'trigger' ? 'fired' : 'pending'));
            const act = (): void => choose(node.id);
            const title = short(node.label, 22);
            const line =
              `${node.type === 'step' ? status : `${node.type}, ${status}`}` +
              `${(receipt?.attempt ?? 0) > 1 ? `, attempt ${receipt?.attempt}` : ''}`;
            return (
              <g
                key={node.id}
                class={`run-node ${status === 'pending' ? 'rest' : tone(status)}${chosen === node.id ? ' chosen' : ''}`}
                data-node={node.id}
                data-status={status}
                tabindex={0}
                role="button"
                aria-pressed={chosen === node.id}
                aria-label={`${title} ${line}${title === node.label ? '' : `, ${node.label}`}`}
                onClick={act}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' || event.key === ' ') {
                    event.preventDefault();
                    act();
                  }
                }}
              >
                <rect x={place.x} y={place.y} width={place.width} height={place.height} rx={10} />
                <text class="title" x={place.x + 14} y={place.y + 22}>
                  {title}
                </text>
                {' ' /* between words, for who hears them */}
                <text class="line" x={place.x + 14} y={place.y + 40}>
                  {line}
                </text>
              </g>
            );
          })}
        </svg>
      </div>
      <figcaption>
        <span class="soft">A click on a step shows its receipt.</span>
        <ZoomButtons zoom={zoom} label="Size of the graph" />
      </figcaption>
    </figure>
  );
}

const nothing = { width: 0, height: 0 };
