import { asJson } from '../outputs.js';
import { jsonBytes } from '../text.js';
import type { Patterns } from './conditions.js';
import {
  definitionLimits as limits,
  type WorkflowDefinition,
  type WorkflowEdge,
  type WorkflowNode,
  type WorkflowStatus,
} from './definition.js';
import { layeredLayout } from './layout.js';
import { livenessFaults } from './liveness.js';
import { linearPatterns } from './patterns.js';
import {
  isRaw,
  listAt,
  maybeTextAt,
  note,
  numberAt,
  recordAt,
  startReading,
  textAt,
  timeAt,
  wordAt,
  within,
  type GraphFault,
  type Place,
  type Raw,
  type Reading,
} from './reader.js';
import { readNode } from './read-nodes.js';
import { readEdge, readLoop } from './read-edge.js';
import { gatesAt, idAt, shapeAt } from './read-parts.js';
import { referenceFaults, structureFaults } from './structure.js';

/**
 * What someone wrote → a definition in its normal form, and everything that is wrong with it. Pure, bounded,
 * never throws; reading what it made changes nothing. Only a definition without faults may be stored.
 *
 *     const {definition, faults} = parseDefinition({title: 'Digest', nodes: [{id: 'a', type: 'step', actor:
 * {kind: 'noop'}}]})
 */
export interface ReadDefinition {
  /** In normal form: every member present, edges and nodes ordered. */
  readonly definition: WorkflowDefinition;
  /** At most 400; what is beyond is counted in the last one. */
  readonly faults: readonly GraphFault[];
  /** Those of `faults` that say how a run could get stuck. */
  readonly liveness: readonly GraphFault[];
  /** What was added or moved to make it normal: `code` for programs, `message` for people, `ref` where. */
  readonly diagnostics: readonly { readonly code: string; readonly message: string; readonly ref?: string }[];
}

/** With which patterns and stamp a definition is read. */
export interface ReadOptions {
  /** Members that a caller cannot choose. */
  readonly stamp?: Partial<
    Pick<WorkflowDefinition, 'id' | 'version' | 'status' | 'createdBy' | 'createdAt' | 'updatedAt'>
  >;
  /** What `matches` asks. Default: an engine that takes linear time. */
  readonly patterns?: Patterns;
}

const members = [
  'schemaVersion',
  'id',
  'name',
  'title',
  'description',
  'version',
  'status',
  'owner',
  'department',
  'runners',
  'orchestrator',
  'input',
  'nodes',
  'edges',
  'runGates',
  'loop',
  'concurrency',
  'layout',
  'layoutIntent',
  'createdBy',
  'createdAt',
  'updatedAt',
];
const root: Place = { ref: '', path: '' };

/**
 * Read a definition, whatever came: the definition with its defaults, and every fault with its place. Never
 * throws.
 * @example const { definition, faults } = parseDefinition({ name: 'Digest', nodes: [], edges: [] });
 */
export function parseDefinition(value: unknown, options: ReadOptions = {}): ReadDefinition {
  const reading = startReading();
  const raw = recordAt(reading, value, root, members);
  const diagnostics: { code: string; message: string; ref?: string }[] = [];
  const read = listAt(reading, raw, 'nodes', root, limits.nodesMax, 'too-many-nodes').flatMap(
    (node, index) => readNode(reading, node, index) ?? [],
  );
  const ids = new Set(read.map(({ id }) => id));
  const isNode = (id: string): boolean => ids.has(id);
  const { patterns = linearPatterns } = options;
  const loop = readLoop(reading, raw['loop'], within(root, 'loop'), { isNode, patterns });
  const roundsMax = loop?.maxRoundsPerRun ?? null;
  const written = listAt(reading, raw, 'edges', root, limits.edgesMax, 'too-many-edges').map((edge, index) =>
    readEdge(reading, edge, index, { isNode, roundsMax, patterns }),
  );
  const { nodes, edges } = withTrigger(read, written, diagnostics);
  if (edges.length > limits.edgesPerNodeMax * nodes.length)
    note(
      reading,
      'too-many-edges',
      `${edges.length} edges are more than ${limits.edgesPerNodeMax} for each of the ${nodes.length} nodes`,
      within(root, 'edges'),
    );
  const definition = placed(
    {
      ...headOf(reading, raw, options),
      nodes,
      edges,
      loop,
      runGates: gatesAt(reading, raw, 'runGates', root, 'run'),
    },
    raw,
    diagnostics,
  );

  structureFaults(reading, definition);
  referenceFaults(reading, definition);
  const before = reading.faults.length;
  livenessFaults(reading, definition);
  const liveness = reading.faults.slice(before);
  const size = jsonBytes(asJson(definition));
  if (size > limits.definitionBytesMax)
    note(
      reading,
      'definition-too-large',
      `the definition has ${size} bytes; at most ${limits.definitionBytesMax} are allowed`,
    );
  const faults =
    reading.dropped === 0
      ? reading.faults
      : [...reading.faults.slice(0, -1), { code: 'more-faults', message: `and ${reading.dropped + 1} more` }];
  return { definition, faults, liveness, diagnostics };
}

type Head = Omit<WorkflowDefinition, 'nodes' | 'edges' | 'loop' | 'runGates' | 'layout'>;

function headOf(reading: Reading, raw: Raw, { stamp = {} }: ReadOptions): Head {
  if (raw['schemaVersion'] !== undefined && raw['schemaVersion'] !== 1)
    note(reading, 'bad-schema-version', 'schemaVersion must be 1', within(root, 'schemaVersion'));
  const name = (member: 'owner' | 'department' | 'orchestrator'): string | null =>
    maybeTextAt(reading, raw, member, root, { charsMax: limits.titleCharsMax });
  const givenId = stamp.id ?? (raw['id'] == null ? undefined : idAt(reading, raw, 'id', root));
  const title = textAt(reading, raw, 'title', root, {
    charsMax: limits.titleCharsMax,
    code: 'missing-title',
    ...(raw['title'] == null && typeof raw['name'] === 'string' && raw['name'] !== ''
      ? { standard: raw['name'].slice(0, limits.titleCharsMax) }
      : {}),
  });
  const ownName =
    raw['name'] == null
      ? slug(title) || slug(givenId ?? '') || 'workflow'
      : textAt(reading, raw, 'name', root, {
          charsMax: limits.idCharsMax,
          code: 'bad-name',
          pattern: /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
          like: 'be words of a-z and 0-9 joined by dashes',
        });
  const time = (member: 'createdAt' | 'updatedAt'): string =>
    stamp[member] ?? timeAt(reading, raw, member, root) ?? '1970-01-01T00:00:00.000Z';
  return {
    schemaVersion: 1,
    id: givenId ?? (slug(ownName) || 'workflow'),
    name: ownName,
    title,
    description: maybeTextAt(reading, raw, 'description', root, { charsMax: limits.descriptionCharsMax }),
    version:
      stamp.version ??
      numberAt(reading, raw, 'version', root, {
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
        standard: 1,
        code: 'bad-version',
      }),
    status:
      stamp.status ??
      wordAt<WorkflowStatus>(
        reading,
        raw,
        'status',
        root,
        ['active', 'paused', 'retired'],
        'active',
        'bad-status',
      ),
    owner: name('owner'),
    department: name('department'),
    orchestrator: name('orchestrator'),
    runners: listAt(reading, raw, 'runners', root, limits.runnersMax).flatMap((runner, index) => {
      if (typeof runner === 'string' && runner !== '' && runner.length <= limits.titleCharsMax)
        return [runner];
      note(reading, 'bad-field', 'runners holds names of employees', {
        ref: 'runners',
        path: `runners[${index}]`,
      });
      return [];
    }),
    input: shapeAt(reading, raw, 'input', root),
    concurrency: numberAt(reading, raw, 'concurrency', root, {
      min: 1,
      max: limits.concurrencyMax,
      standard: 1,
      code: 'bad-concurrency',
    }),
    createdBy:
      stamp.createdBy ??
      maybeTextAt(reading, raw, 'createdBy', root, { charsMax: limits.titleCharsMax }) ??
      'operator',
    createdAt: time('createdAt'),
    updatedAt: time('updatedAt'),
  };
}

/** `Morning digest!` → `morning-digest` */
export const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, limits.idCharsMax)
    .replace(/-+$/, '');

/** A graph without a trigger begins by hand, at every node that nothing leads to. */
function withTrigger(
  nodes: readonly WorkflowNode[],
  edges: readonly WorkflowEdge[],
  diagnostics: { code: string; message: string; ref?: string }[],
): { nodes: readonly WorkflowNode[]; edges: readonly WorkflowEdge[] } {
  if (nodes.length === 0 || nodes.length >= limits.nodesMax || nodes.some(({ type }) => type === 'trigger'))
    return { nodes, edges };
  const ids = new Set([...nodes, ...edges].map(({ id }) => id));
  const free = (wanted: string): string => {
    let id = wanted;
    for (let n = 2; ids.has(id); n += 1) id = `${wanted}-${n}`;
    ids.add(id);
    return id;
  };
  const id = free('trigger');
  const led = new Set(edges.filter(({ kind }) => kind !== 'loop').map(({ to }) => to));
  const first = nodes.filter((node) => !led.has(node.id));
  diagnostics.push({
    code: 'trigger-added',
    message: `a manual trigger was added before ${first
      .map((node) => node.id)
      .join(', ')
      .slice(0, 300)}`,
    ref: id,
  });
  return {
    nodes: [
      { id, label: 'Start', position: { x: 0, y: 0 }, type: 'trigger', trigger: { kind: 'manual' } },
      ...nodes,
    ], // members in the reader's order: see difference.ts
    edges: [
      ...first.map((node, index): WorkflowEdge => ({
        id: free(`start-${index + 1}`),
        from: id,
        to: node.id,
        kind: 'sequence',
        lane: null,
        label: null,
        when: [],
        maxRounds: null,
      })),
      ...edges,
    ],
  };
}

/**
 * Positions: those of the author where `layout.source` or `layoutIntent` says `manual`, else generated. An
 * intent is of one writing and is not kept.
 */
function placed(
  definition: Omit<WorkflowDefinition, 'layout'>,
  raw: Raw,
  diagnostics: { code: string; message: string }[],
): WorkflowDefinition {
  const { layout, layoutIntent } = raw;
  const intended = layoutIntent ?? (isRaw(layout) ? layout['source'] : undefined);
  if (intended === 'manual') return { ...definition, layout: { source: 'manual', version: 1 } };
  const places = layeredLayout(definition.nodes, definition.edges);
  const nodes = definition.nodes.map((node) => ({ ...node, position: places.get(node.id) ?? node.position }));
  const moved = definition.nodes.filter(
    (node, index) =>
      (node.position.x !== 0 || node.position.y !== 0) &&
      (node.position.x !== nodes[index]?.position.x || node.position.y !== nodes[index]?.position.y),
  );
  if (moved.length > 0)
    diagnostics.push({
      code: 'nodes-moved',
      message: `${moved.length} nodes were given new positions; layout.source "manual" keeps them`,
    });
  return { ...definition, nodes, layout: { source: 'generated', version: 1 } };
}
