import { curve, nameIn } from '../../chart/svg-of.js';
import { areaOf, type as sizes, type Arrow, type Box, type Drawing } from '../../chart/drawing.js';

/** A state as a box with its lines; what is cut in a line is whole in its tooltip. */
export function StateBox({
  box: { path, shape, x, y, width, height, title, lines, depth },
  lit,
  hot,
  words,
  choose,
  chooseEdges,
}: {
  readonly box: Box;
  readonly lit: boolean;
  readonly hot: (edges: readonly string[]) => boolean;
  readonly words: (edges: readonly string[]) => string;
  readonly choose: ((path: string) => void) | undefined;
  readonly chooseEdges: ((edges: readonly string[]) => void) | undefined;
}) {
  const left = x + sizes.pad;
  const name = { [shape === 'any' ? 'data-any' : 'data-state']: path };
  const canChoose = choose !== undefined && shape !== 'any' && shape !== 'root';
  return (
    <g
      class={`node ${shape} depth-${depth % 3}${lit ? ' lit' : ''}${canChoose ? ' can' : ''}`}
      {...name}
      onClick={() => canChoose && choose(path)}
    >
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
      {lines.map(({ text, whole, about, edges }, n) => (
        <text
          key={n}
          class={`line ${about}${hot(edges) ? ' lit' : ''}${chooseEdges && edges.length > 0 ? ' can' : ''}`}
          x={left}
          y={y + sizes.titleHeight + 14 + n * sizes.lineHeight}
          onClick={(event) => {
            if (chooseEdges === undefined || edges.length === 0) return;
            event.stopPropagation();
            chooseEdges(edges);
          }}
        >
          {text}
          <title>{edges.length === 0 ? whole : words(edges)}</title>
        </text>
      ))}
    </g>
  );
}

/** Arrows are not drawn where words are: a line through them makes another word. */
export const WordsMask = ({
  name,
  drawing: { width, height, arrows },
}: {
  readonly name: string;
  readonly drawing: Drawing;
}) => (
  <mask id={nameIn(name, 'words')} maskUnits="userSpaceOnUse" x={0} y={0} width={width} height={height}>
    <rect width={width} height={height} fill="#fff" />
    {arrows.map(({ label }, n) => label !== null && <rect key={n} {...areaOf(label)} fill="#000" />)}
  </mask>
);

/** `isNew`: it was taken while one looked, and is drawn once more from its beginning. */
export function ArrowLine({
  name,
  arrow: { edges, points, from, to },
  hot,
  isNew,
  choose,
}: {
  /** Of the drawing. */
  readonly name: string;
  readonly arrow: Arrow;
  readonly hot: boolean;
  readonly isNew: boolean;
  readonly choose: ((edges: readonly string[]) => void) | undefined;
}) {
  const [first] = points;
  const way = curve(points);
  return (
    <>
      {edges.length === 0 && first !== undefined && (
        <circle class="start" cx={first.x} cy={first.y - 4} r={5} />
      )}
      <path
        class={`arrow${hot ? ' lit' : ''}${hot && isNew ? ' new' : ''}`}
        data-from={from}
        data-to={to}
        d={way}
        pathLength={hot ? 1 : undefined}
        marker-end={`url(#${nameIn(name, hot ? 'hot' : 'tip')})`}
      />
      {choose !== undefined && edges.length > 0 && (
        <path class="reach can" d={way} onClick={() => choose(edges)} />
      )}
    </>
  );
}

export function ArrowLabel({
  arrow: { label, edges },
  hot,
  words,
  choose,
}: {
  readonly arrow: Arrow;
  readonly hot: boolean;
  readonly words: (edges: readonly string[]) => string;
  readonly choose: ((edges: readonly string[]) => void) | undefined;
}) {
  if (label === null) return null;
  const top = label.y - ((label.lines.length - 1) * sizes.lineHeight) / 2 + 4;
  return (
    <text
      class={`label${hot ? ' lit' : ''}${choose === undefined ? '' : ' can'}`}
      onClick={() => choose?.(edges)}
    >
      {label.lines.map((line, n) => (
        <tspan key={n} x={label.x} y={top + n * sizes.lineHeight}>
          {line}
        </tspan>
      ))}
      <title>{words(edges)}</title>
    </text>
  );
}
