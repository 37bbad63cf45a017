import { areaOf, type, type Arrow, type Box, type Drawing, type Point } from './drawing.js';

/**
 * A drawing as SVG text that stands alone: readable in light and dark, with a sentence for who cannot see it.
 * States carry `data-state`, arrows and lines `data-edges`; what is lit has the class `lit`. Every word is
 * escaped.
 */
export interface SvgOptions {
  /** Paths of active states (`activeStates(value)`). */
  readonly lit?: readonly string[];
  /** Ids of edges that were taken last. */
  readonly taken?: readonly string[];
  /** False leaves the style sheet out, for pages that bring their own. */
  readonly style?: boolean;
}

/** `svgOf(layOut(chartOf(machine)), {lit: ['running']})` */
export function svgOf(drawing: Drawing, { lit = [], taken = [], style = true }: SvgOptions = {}): string {
  const { width, height, id, boxes, arrows } = drawing;
  const states = boxes.filter(({ shape, path }) => path !== '' && shape !== 'any').map(({ title }) => title);
  const about =
    `Statechart of ${id}: states ${states.join(', ')}.` +
    `${lit.length === 0 ? '' : ` Active: ${lit.join(', ')}.`}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${width} ${height}" width="` +
      `${width}" height="${height}" role="img" aria-label="${escape(about)}">`,
    ...(style ? [`<style>${sheet}</style>`] : []),
    `<defs>${marker(id, 'tip')}${marker(id, 'tip-taken')}${mask(drawing)}</defs>`,
    ...boxes.map((box) => boxText(box, box.shape !== 'any' && lit.includes(box.path), taken)),
    `<g mask="url(#${nameIn(id, 'words')})">`,
    ...arrows.map((arrow) =>
      arrowText(
        id,
        arrow,
        arrow.edges.some((edge) => taken.includes(edge)),
      ),
    ),
    '</g>',
    ...arrows.map((arrow) =>
      labelText(
        arrow,
        arrow.edges.some((edge) => taken.includes(edge)),
      ),
    ),
    '</svg>',
  ].join('\n');
}

/** Named for the machine: several charts may stand in one page. Of its id what an address may hold. */
export const nameIn = (id: string, name: string): string => `${id.replaceAll(/[^\w-]/g, '_')}-${name}`;

const marker = (id: string, name: string): string =>
  `<marker id="${nameIn(id, name)}" class="${name}" viewBox="0 0 8 8" refX="7" refY="4" ` +
  'markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.8 L8 4 L0 ' +
  '7.2 z"/></marker>';

/** Arrows are not drawn where words are: a line through them makes another word. */
function mask({ id, width, height, arrows }: Drawing): string {
  const areas = arrows.flatMap(({ label }) => (label === null ? [] : [areaOf(label)]));
  const rect = (area: { x: number; y: number; width: number; height: number }, fill: string): string =>
    `<rect x="${round(area.x)}" y="${round(area.y)}" width="${round(area.width)}" height="` +
    `${round(area.height)}" fill="${fill}"/>`;
  return (
    `<mask id="${nameIn(id, 'words')}" maskUnits="userSpaceOnUse" x="0" y="0" width="${width}" height="` +
    `${height}">${rect({ x: 0, y: 0, width, height }, '#fff')}` +
    `${areas.map((area) => rect(area, '#000')).join('')}</mask>`
  );
}

function boxText(
  { path, shape, x, y, width, height, title, lines, depth }: Box,
  isLit: boolean,
  taken: readonly string[],
): string {
  const radius = shape === 'any' ? 14 : 8;
  const left = x + type.pad;
  const below = y + type.titleHeight + 14;
  const words = lines.map(({ text, whole, about, edges }, n) => {
    const hot = edges.some((edge) => taken.includes(edge));
    return (
      `<text class="line ${about}${hot ? ' lit' : ''}" x="${round(left)}" y="` +
      `${round(below + n * type.lineHeight)}"${edgesOf(edges)} xml:space="preserve">${escape(text)}` +
      `${text === whole ? '' : titleOf(whole)}</text>`
    );
  });
  return [
    `<g class="state ${shape} depth-${depth % 3}${isLit ? ' lit' : ''}" ` +
      `${shape === 'any' ? 'data-any' : 'data-state'}="${escape(path)}">`,
    `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="${radius}"/>`,
    ...(shape === 'final'
      ? [
          `<rect class="inner" x="${round(x + 3)}" y="${round(y + 3)}" width="${round(width - 6)}" ` +
            `height="${round(height - 6)}" rx="${radius - 2}"/>`,
        ]
      : []),
    `<text class="title" x="${round(left)}" y="${round(y + 18)}">${escape(title)}</text>`,
    ...(lines.length > 0 && (shape === 'atomic' || shape === 'final')
      ? [`<path class="rule" d="M${round(x)} ${round(y + type.titleHeight + 2)} h${round(width)}"/>`]
      : []),
    ...words,
    '</g>',
  ].join('');
}

function arrowText(id: string, { edges, from, to, points }: Arrow, hot: boolean): string {
  const [first] = points;
  const start =
    edges.length === 0 && first !== undefined
      ? `<circle class="start" cx="${round(first.x)}" cy="${round(first.y - 4)}" r="5"/>`
      : '';
  return (
    `${start}<path class="arrow${hot ? ' lit' : ''}" data-from="${escape(from)}" data-to="${escape(to)}"` +
    `${edgesOf(edges)} d="${curve(points)}" marker-end="url(#${nameIn(id, hot ? 'tip-taken' : 'tip')})"/>`
  );
}

function labelText({ label, edges }: Arrow, hot: boolean): string {
  if (label === null) return '';
  const top = label.y - ((label.lines.length - 1) * type.lineHeight) / 2 + 4;
  const spans = label.lines.map(
    (line, n) =>
      `<tspan x="${round(label.x)}" y="${round(top + n * type.lineHeight)}">${escape(line)}</tspan>`,
  );
  const title = label.lines.join('\n') === label.whole ? '' : titleOf(label.whole);
  return `<text class="label${hot ? ' lit' : ''}"${edgesOf(edges)}>${spans.join('')}${title}</text>`;
}

/** Shown where one points at words that are cut. */
const titleOf = (whole: string): string => `<title>${escape(whole)}</title>`;

/**
 * Through all points without corners, also where the words of an arrow are. In each point it runs as from the one
 * before to the one after, and bends no further out than the shorter way to these.
 */
export function curve(points: readonly Point[]): string {
  const [first] = points;
  if (first === undefined || points.length < 2) return '';
  const parts = [`M${round(first.x)} ${round(first.y)}`];
  const bends = points.map((point, n) => bendOf(points[n - 1] ?? point, point, points[n + 1] ?? point));
  for (let n = 1; n < points.length; n += 1) {
    const [from, to] = [points[n - 1] as Point, points[n] as Point];
    const [out, into] = [bends[n - 1] as Point, bends[n] as Point];
    const numbers = [from.x + out.x, from.y + out.y, to.x - into.x, to.y - into.y, to.x, to.y];
    parts.push(`C${numbers.map(round).join(' ')}`);
  }
  return parts.join(' ');
}

function bendOf(before: Point, at: Point, after: Point): Point {
  const [x, y] = [after.x - before.x, after.y - before.y];
  const reach = Math.min(
    Math.hypot(at.x - before.x, at.y - before.y),
    Math.hypot(after.x - at.x, after.y - at.y),
  );
  const part = reach / 3 / (Math.hypot(x, y) || 1);
  return { x: x * part, y: y * part };
}

const edgesOf = (edges: readonly string[]): string =>
  edges.length === 0 ? '' : ` data-edges="${escape(edges.join(' '))}"`;
const round = (value: number): number => Math.round(value * 10) / 10;
/** For text and for attributes in double quotes; control characters, which XML does not know, go. */
export const escape = (text: string): string =>
  text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const sheet = `
.chart{--paper:#ffffff;--ink:#1d2733;--soft:#5b6b7c;--edge:#8a99a8;--fill:#f6f8fa;--fill2:#eef2f6;
--stroke:#b6c2cd;--lit:#0b6bcb;--litfill:#d9ecff;--invoke:#7a3fb5;
font:12px ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
background:var(--paper)}
@media (prefers-color-scheme:dark){.chart{--paper:#0f1419;--ink:#e6edf3;--soft:#9fb0c0;--edge:#6b7c8d;
--fill:#171e26;--fill2:#1d2630;--stroke:#3a4855;--lit:#5ab0ff;--litfill:#10314f;--invoke:#c79bff}}
.state rect{fill:var(--fill);stroke:var(--stroke)}.state.root>rect{fill:var(--paper)}
.state.atomic>rect,.state.final>rect{fill:var(--fill2)}
.state.any>rect{fill:var(--paper);stroke-dasharray:2 3}
.depth-1.compound>rect,.depth-1.parallel>rect{stroke-dasharray:6 4}.state .inner{fill:none}
.state.lit>rect{stroke:var(--lit);stroke-width:2.5}
.state.atomic.lit>rect,.state.final.lit>rect{fill:var(--litfill)}.rule{stroke:var(--stroke);fill:none}
.title{fill:var(--ink);font-weight:600;font-size:13px}.any .title{fill:var(--soft);font-style:italic;
font-weight:400}.lit>.title{fill:var(--lit)}
.line,.label{fill:var(--soft);font-size:11px}.line.invoke{fill:var(--invoke)}
.line.lit,.label.lit{fill:var(--lit);stroke:var(--lit);stroke-width:0.4px}
.label{text-anchor:middle}
.arrow{fill:none;stroke:var(--edge);stroke-width:1.3}.arrow.lit{stroke:var(--lit);stroke-width:2.5}
.start{fill:var(--soft)}.tip path{fill:var(--edge)}.tip-taken path{fill:var(--lit)}
`.trim();
