/**
 * A chart with places: boxes and arrows in the units of an SVG, origin at the upper left. What `layOut`
 * answers and anyone who draws reads; plain data, so that it can be made in a worker, shipped, and drawn by
 * anybody.
 */
export interface Drawing {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  /** Outer boxes before the boxes inside them. */
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
}

export interface Box {
  /** Of the state; of `any` the state that it speaks for. */
  readonly path: string;
  /** `any`: what may happen wherever the state around it stands. */
  readonly shape: 'root' | 'compound' | 'parallel' | 'region' | 'atomic' | 'final' | 'history' | 'any';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly title: string;
  /** Below the title: invokes, entry and exit actions, and events that lead nowhere else. */
  readonly lines: readonly Line[];
  readonly depth: number;
}

export interface Line {
  readonly text: string;
  /** Of which `text` may be cut. */
  readonly whole: string;
  readonly about: 'invoke' | 'action' | 'event';
  /** Ids of the chart's edges that the line stands for. */
  readonly edges: readonly string[];
}

export interface Arrow {
  /**
   * Ids of the chart's edges that the arrow stands for; none for the arrow that shows where a state begins.
   */
  readonly edges: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly points: readonly Point[];
  readonly label: Label | null;
}

/** Words around a place of an arrow; `whole` is all of them, a line each. */
export interface Label extends Point {
  readonly lines: readonly string[];
  readonly whole: string;
}

/** A part of a drawing, in its own units. */
export interface Area extends Point {
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Sizes in pixels of the type that the boxes are made for. */
export const type = { titleHeight: 22, lineHeight: 16, pad: 10, headerHeight: 28 } as const;

/** About how wide words are, in fonts as wide as DejaVu Sans: nothing is measured, so that it is the same everywhere. */
export function widthOf(text: string, of: 'title' | 'line'): number {
  let em = 0;
  for (const character of text) em += thin.test(character) ? 0.36 : wide.test(character) ? 0.76 : 0.62;
  return of === 'title' ? em * 13 * 1.1 : em * 11;
}

/** The place that words around a place of an arrow take up, where no line is drawn. */
export function areaOf({ x, y, lines }: Label): Area {
  const width = Math.max(...lines.map((line) => widthOf(line, 'line')));
  const height = lines.length * type.lineHeight;
  return { x: x - width / 2, y: y - height / 2, width, height };
}

const thin = /[ .,:;!'|ijlI[\]()frt/]/;
const wide = /[A-HJ-Zmw→↻⚙…_%@]/;
