import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chartOf } from '../../lib/inspector/chart/chart-of.js';
import { layOut } from '../../lib/inspector/chart/lay-out.js';
import { svgOf } from '../../lib/inspector/chart/svg-of.js';
import { catalogue, type Drawn } from './catalogue.js';
import { draw } from './draw.js';
import { childrenOf, edgesOf, pathOf, type StateNode } from './edges.js';

/**
 * What is made from the machines: the charts in machines/README.md, the pictures in machines/charts, the
 * hashes beside this file.
 */
const root = new URL('../../../', import.meta.url);
export const readmePath = fileURLToPath(new URL('machines/README.md', root));
export const hashesPath = fileURLToPath(new URL('spec/charts/hashes.json', root));

const begin = '<!-- charts: written by `npm run charts`, never by hand -->';
const end = '<!-- end of charts -->';

/** The README with fresh charts between its markers. */
export function freshReadme(text: string): string {
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`machines/README.md has lost its markers ${begin} … ${end}`);
  return `${before}${begin}\n\n${catalogue.map(draw).join('\n')}\n${end}${after}`;
}

/** The pictures that the README shows: file → SVG. */
export const pictures = (): ReadonlyMap<string, string> =>
  new Map(
    catalogue.map(({ name, machine }) => [
      fileURLToPath(new URL(`machines/charts/${name}.svg`, root)),
      `${svgOf(layOut(chartOf(machine)))}\n`,
    ]),
  );

/** Machine → version → hash. A version that was released keeps its hash for ever. */
export type Hashes = Readonly<Record<string, Readonly<Record<string, string>>>>;

export const readHashes = (): Hashes => JSON.parse(readFileSync(hashesPath, 'utf8')) as Hashes;

/**
 * SHA-256 of what a machine is, without its functions: states, transitions, guards and actions by name,
 * effects.
 */
export const hashOf = ({ machine }: Drawn): string =>
  createHash('sha256')
    .update(JSON.stringify(structure(machine.root)))
    .digest('hex');

function structure(node: StateNode): unknown {
  return {
    path: pathOf(node),
    type: node.type,
    history: node.history,
    initial: node.initial?.target?.map((target) => pathOf(target as StateNode)) ?? null,
    edges: edgesOf(node).map(({ condition: _shown, ...edge }) => edge),
    invoke: node.invoke.map(({ id, src }) => [id, String(src)]),
    entry: node.entry.map(named),
    exit: node.exit.map(named),
    states: childrenOf(node).map(structure),
  };
}

const named = (action: unknown): string =>
  typeof action === 'string' ? action : ((action as { type?: string }).type ?? 'function');
