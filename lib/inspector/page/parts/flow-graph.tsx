import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { curve } from '../../chart/svg-of.js';
import { short } from '../../../page/clock.js';
import type { Tone } from '../../../page/parts/state.js';
import { Tip } from './tip.js';
import { ZoomButtons } from './zoom-buttons.js';
import { useZoom } from './zoom.js';
import type { Flow, Places } from '../flow-layout.js';

/** A node as it is drawn: what it is called, and a line of how it is with it. */
export interface FlowNode {
  readonly id: string;
  readonly label: string;
  readonly line: string;
  readonly tone: Tone;
  /** For specs and styles. */
  readonly status: string;
}

/**
 * The graph of a workflow or a run from left to right: all of it where that can be read, else the node `at`. A click or
 * Enter chooses a node.
 */
export function FlowGraph({
  of,
  nodes,
  edges,
  at,
  chosen,
  choose,
  hint,
}: {
  /** `the run` */
  readonly of: string;
  readonly nodes: readonly FlowNode[];
  readonly edges: Flow['edges'];
  readonly at: string | undefined;
  readonly chosen: string | undefined;
  readonly choose: (nodeId: string) => void;
  /** What a click does, in a sentence. */
  readonly hint: string;
}) {
  const places = useSignal<Places | undefined>(undefined);
  const flow: Flow = {
    nodes: nodes.map(({ id }) => ({ id })),
    edges: edges.map(({ from, to, kind, lane }) => ({ from, to, kind, lane })),
  };
  const shape = JSON.stringify(flow);
  useEffect(() => {
    let gone = false;
    void import('../flow-layout.js').then(({ layOutFlow }) => {
      if (!gone) places.value = layOutFlow(flow);
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
  if (drawn === undefined)
    return (
      <p class="soft" aria-busy="true">
        Drawing …
      </p>
    );
  return (
    <figure class="chart-figure">
      <div
        ref={box}
        class="chart-box"
        tabIndex={0}
        role="region"
        aria-label={`Graph of ${of}, can be scrolled; plus and minus zoom, 0 shows all`}
      >
        <svg
          class="chart run-graph"
          viewBox={`0 0 ${drawn.width} ${drawn.height}`}
          style={{ width: `${drawn.width * zoom.scale}px` }}
          role="group"
          aria-label={`${nodes.length} steps`}
        >
          <defs>
            <Tip id="run-tip" />
          </defs>
          {drawn.edges.map(({ points, style }, n) => (
            <path key={n} class={`arrow ${style}`} d={curve(points)} marker-end="url(#run-tip)" />
          ))}
          {nodes.map((node) => {
            const place = drawn.nodes.get(node.id);
            if (place === undefined) return null;
            const act = (): void => choose(node.id);
            const title = short(node.label, 22);
            return (
              <g
                key={node.id}
                class={`run-node ${node.tone}${chosen === node.id ? ' chosen' : ''}`}
                data-node={node.id}
                data-status={node.status}
                tabindex={0}
                role="button"
                aria-pressed={chosen === node.id}
                aria-label={`${title} ${node.line}${title === node.label ? '' : `, ${node.label}`}`}
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
                  {short(node.line, 28)}
                </text>
              </g>
            );
          })}
        </svg>
      </div>
      <figcaption>
        <span class="soft">{hint}</span>
        <ZoomButtons zoom={zoom} label="Size of the graph" />
      </figcaption>
    </figure>
  );
}

const nothing = { width: 0, height: 0 };
