import { isMap, isScalar, isSeq, LineCounter, parseDocument, stringify, visit, type Document } from 'yaml';

/**
 * A definition as YAML that a person and a form write together: what a form changes is changed in the text, and
 * comments, order and style of the rest stay as they are. Every function takes a text and answers the next one.
 */
export interface Read {
  /** Undefined where the text cannot be read. */
  readonly value: Readonly<Record<string, unknown>> | undefined;
  readonly problems: readonly { readonly message: string; readonly line: number }[];
}

export function readText(text: string): Read {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const problems = document.errors.map(({ message, pos }) => ({
    message: message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? '',
    line: lines.linePos(pos[0]).line,
  }));
  if (problems.length > 0) return { value: undefined, problems };
  try {
    const value: unknown = document.toJS();
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { value: value as Readonly<Record<string, unknown>>, problems }
      : { value: undefined, problems: [{ message: 'This must be members and their values.', line: 1 }] };
  } catch (error) {
    // More aliases than any definition has
    return { value: undefined, problems: [{ message: String((error as Error).message), line: 1 }] };
  }
}

/** A value of any shape, as it stands in a field of its own. */
export function readValue(text: string): Read {
  const { value, problems } = readText(`value:\n${text.replaceAll(/^/gm, '  ')}`);
  return { value, problems: problems.map((problem) => ({ ...problem, line: problem.line - 1 })) };
}

export const textOf = (value: unknown): string => stringify(value, style);

export type Path = readonly (string | number)[];

/** Undefined removes it. */
export const withMember = (text: string, path: Path, value: unknown): string =>
  edited(text, (document) => {
    if (value !== undefined) document.setIn(path, document.createNode(value));
    else if (document.hasIn(path)) {
      document.deleteIn(path);
      removeEmpty(document, path.slice(0, -1));
    }
  });

/** `options: {}` says nothing. */
function removeEmpty(document: Document, path: Path): void {
  const parent = document.getIn(path);
  if (path.length < 3 || !isMap(parent) || parent.items.length > 0) return;
  document.deleteIn(path);
  removeEmpty(document, path.slice(0, -1));
}

type Raw = Readonly<Record<string, unknown>>;

/** Put a node behind another: what followed that one follows the new one, where that is plain. */
export const withNode = (text: string, node: Raw, after: string | undefined): string =>
  edited(text, (document) => {
    const edges = rawEdges(document);
    const out = edges.filter(({ edge }) => edge['from'] === after);
    const [only] = out;
    append(document, 'nodes', node);
    if (after === undefined) return;
    if (out.length === 1 && only !== undefined && isPlain(only.edge))
      document.setIn(['edges', only.n, 'from'], node['id']);
    append(document, 'edges', { id: edgeId(edges, after, String(node['id'])), from: after, to: node['id'] });
  });

export const withEdge = (text: string, from: string, to: string): string =>
  edited(text, (document) =>
    append(document, 'edges', { id: edgeId(rawEdges(document), from, to), from, to }),
  );

/** Its edges go with it; what led to it leads to what plainly followed it. */
export const withoutNode = (text: string, id: string): string =>
  edited(text, (document) => {
    const edges = rawEdges(document);
    const out = edges.filter(({ edge }) => edge['from'] === id);
    const next = out.length === 1 && out[0] !== undefined && isPlain(out[0].edge) ? out[0].edge['to'] : null;
    for (const { edge, n } of [...edges].reverse())
      if (edge['from'] === id || (edge['to'] === id && next === null)) document.deleteIn(['edges', n]);
      else if (edge['to'] === id) document.setIn(['edges', n, 'to'], next);
    const at = indexOf(document, 'nodes', id);
    if (at >= 0) document.deleteIn(['nodes', at]);
  });

/** The id of a node, wherever it is named: in edges, conditions and texts. */
export const withNodeRenamed = (text: string, id: string, next: string): string =>
  edited(text, (document) => {
    const at = indexOf(document, 'nodes', id);
    if (at >= 0) document.setIn(['nodes', at, 'id'], next);
    for (const { edge, n } of rawEdges(document))
      for (const end of ['from', 'to']) if (edge[end] === id) document.setIn(['edges', n, end], next);
    visit(document, {
      Scalar: (_key, scalar) => {
        if (typeof scalar.value === 'string' && scalar.value.includes(`steps.${id}.`))
          scalar.value = scalar.value.replaceAll(`steps.${id}.`, `steps.${next}.`);
      },
    });
  });

/** Where in the text a fault is, from its path (`nodes[2].options`) or the id of what it is about: lines from 1. */
export function placeOf(
  text: string,
  { path = '', ref }: { readonly path?: string | undefined; readonly ref?: string | undefined },
): { readonly line: number; readonly from: number; readonly to: number } | undefined {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const parts: (string | number)[] = [...path.matchAll(/[^.[\]]+/g)].map(([part]) =>
    /^\d+$/.test(part) ? Number(part) : part,
  );
  while (parts.length > 0 && document.getIn(parts, true) == null) parts.pop();
  if (parts.length === 0 && ref !== undefined)
    for (const list of ['nodes', 'edges']) {
      const at = indexOf(document, list, ref);
      if (at >= 0) parts.push(list, at);
    }
  const found = parts.length === 0 ? undefined : document.getIn(parts, true);
  const range = isMap(found) || isSeq(found) || isScalar(found) ? found.range : undefined;
  if (range == null) return undefined;
  return { line: lines.linePos(range[0]).line, from: range[0], to: range[1] };
}

/** Where a text cannot be read, nothing is changed. */
function edited(text: string, change: (document: Document) => void): string {
  const document = parseDocument(text);
  if (document.errors.length > 0) return text;
  change(document);
  return document.toString(style);
}

function append(document: Document, list: string, value: unknown): void {
  const node = document.createNode(value);
  if (isSeq(document.get(list))) document.addIn([list], node);
  else document.set(list, document.createNode([value]));
}

function rawEdges(document: Document): readonly { readonly edge: Raw; readonly n: number }[] {
  const { edges } = (document.toJS() ?? {}) as { readonly edges?: unknown };
  return (Array.isArray(edges) ? (edges as readonly unknown[]) : []).flatMap((edge, n) =>
    typeof edge === 'object' && edge !== null ? [{ edge: edge as Raw, n }] : [],
  );
}

function indexOf(document: Document, list: string, id: string): number {
  const all = ((document.toJS() ?? {}) as Raw)[list];
  return Array.isArray(all) ? all.findIndex((one) => (one as Raw | null)?.['id'] === id) : -1;
}

const isPlain = (edge: Raw): boolean =>
  edge['when'] === undefined && edge['lane'] == null && (edge['kind'] ?? 'sequence') === 'sequence';

function edgeId(edges: readonly { readonly edge: Raw }[], from: string, to: string): string {
  const taken = new Set(edges.map(({ edge }) => edge['id']));
  let id = `${from}-${to}`;
  for (let n = 2; taken.has(id); n += 1) id = `${from}-${to}-${n}`;
  return id;
}

const style = { lineWidth: 0 } as const;
