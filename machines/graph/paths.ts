import type { Json } from '../outputs.js';

/**
 * Paths: the closed grammar by which conditions and texts look at a run. Nothing else of the world can be
 * named, own members only are followed, and there is nothing in it to evaluate.
 *
 *     steps.<id>.status | steps.<id>.attempt
 *     steps.<id>.outcome.summary | notes | finalMessage | artifacts | fields[.<key>…]
 *     run.id | run.rounds | run.status
 *     trigger.kind | source | event | fireRef | payload[.<key>…]
 *     input[.<key>…]
 */
export type Path =
  | { readonly root: 'steps'; readonly nodeId: string; readonly keys: readonly string[] }
  | { readonly root: 'run' | 'trigger' | 'input'; readonly keys: readonly string[] };

/** What paths are read from: the state of a run. */
export interface Scope {
  readonly steps: Readonly<Record<string, StepScope>>;
  readonly run: { readonly id: string; readonly rounds: number; readonly status: string };
  readonly trigger: {
    readonly kind?: Json;
    readonly source?: Json;
    readonly event?: Json;
    readonly fireRef?: Json;
    readonly payload?: Json;
  };
  readonly input: Json;
}

export interface StepScope {
  readonly status: string;
  readonly attempt?: number;
  readonly outcome?: {
    readonly summary?: Json;
    readonly notes?: Json;
    readonly finalMessage?: Json;
    readonly artifacts?: Json;
    readonly fields?: Json;
  } | null;
}

export const pathLimits = { charsMax: 512, keysMax: 16, templatesMax: 64, renderedCharsMax: 64_000 } as const;

const key = /^[A-Za-z0-9_$-]{1,128}$/;
const forbidden = new Set(['__proto__', 'constructor', 'prototype']);
const stepMembers = new Set(['status', 'attempt']);
const outcomeMembers = new Set(['summary', 'notes', 'finalMessage', 'artifacts']);
const runMembers = new Set(['id', 'rounds', 'status']);
const triggerMembers = new Set(['kind', 'source', 'event', 'fireRef']);

/**
 * `parsePath('steps.draft.outcome.fields.score')` → the path, or undefined. Node ids may hold dots: with
 * `isNode` the split that names a node is taken, else the one with the shortest id.
 */
export function parsePath(text: string, isNode?: (id: string) => boolean): Path | undefined {
  if (text.length > pathLimits.charsMax) return undefined;
  const parts = text.split('.');
  const [root, ...keys] = parts;
  if (keys.length > pathLimits.keysMax + 8 || parts.some((part) => forbidden.has(part))) return undefined;
  switch (root) {
    case 'input':
      return fits(keys) ? { root, keys } : undefined;
    case 'run':
      return keys.length === 1 && runMembers.has(keys[0] ?? '') ? { root, keys } : undefined;
    case 'trigger':
      return (keys.length === 1 && triggerMembers.has(keys[0] ?? '')) ||
        (keys[0] === 'payload' && fits(keys.slice(1)))
        ? { root, keys }
        : undefined;
    case 'steps':
      return parseStep(keys, isNode);
    default:
      return undefined;
  }
}

function parseStep(
  parts: readonly string[],
  isNode: ((id: string) => boolean) | undefined,
): Path | undefined {
  let first: Path | undefined;
  for (let end = 1; end < parts.length; end += 1) {
    const keys = parts.slice(end);
    if (!isStepTail(keys)) continue;
    const nodeId = parts.slice(0, end).join('.');
    if (nodeId === '') continue;
    const path: Path = { root: 'steps', nodeId, keys };
    if (isNode === undefined || isNode(nodeId)) return path;
    first ??= path;
  }
  return first;
}

function isStepTail(keys: readonly string[]): boolean {
  if (keys[0] !== 'outcome') return keys.length === 1 && stepMembers.has(keys[0] ?? '');
  return (
    (keys.length === 2 && outcomeMembers.has(keys[1] ?? '')) || (keys[1] === 'fields' && fits(keys.slice(2)))
  );
}

const fits = (keys: readonly string[]): boolean =>
  keys.length <= pathLimits.keysMax && keys.every((part) => key.test(part));

/** The value at a path, or undefined where there is none. */
export function readPath(path: Path, scope: Scope): Json | undefined {
  const start: unknown = path.root === 'steps' ? own(scope.steps, path.nodeId) : scope[path.root];
  // A scope is JSON, and so is every part of it
  return path.keys.reduce<unknown>(own, start) as Json | undefined;
}

function own(value: unknown, member: string): unknown {
  return typeof value === 'object' &&
    value !== null &&
    Object.hasOwn(value, member) &&
    !(Array.isArray(value) && member === 'length')
    ? (value as Readonly<Record<string, unknown>>)[member]
    : undefined;
}

const template = /\{\{([^{}]{0,600})\}\}/g;

/** The paths that a text holds, as written: `pathsIn('Hello {{ input.name }}')` → `['input.name']`. */
export const pathsIn = (text: string): readonly string[] =>
  [...text.matchAll(template)].map((match) => (match[1] ?? '').trim());

/**
 * The text with each `{{path}}` replaced by its value (absent: nothing; objects: as JSON), cut at 64,000
 * characters. Values are never rendered again.
 */
export function render(text: string, scope: Scope): string {
  const isNode = (id: string): boolean => Object.hasOwn(scope.steps, id);
  const whole = text.replace(template, (written, inner: string) => {
    const path = parsePath(inner.trim(), isNode);
    if (path === undefined) return written;
    const value = readPath(path, scope);
    return value === undefined || value === null
      ? ''
      : typeof value === 'string'
        ? value
        : JSON.stringify(value);
  });
  return whole.slice(0, pathLimits.renderedCharsMax);
}

/**
 * The same for every string in a value; a string that is nothing but one `{{path}}` becomes the value itself.
 * Depth at most 16.
 */
export function renderJson(value: Json, scope: Scope, depth = 0): Json {
  if (typeof value === 'string') {
    const only = /^\{\{([^{}]{0,600})\}\}$/.exec(value);
    const path =
      only === null ? undefined : parsePath((only[1] ?? '').trim(), (id) => Object.hasOwn(scope.steps, id));
    return path === undefined ? render(value, scope) : (readPath(path, scope) ?? null);
  }
  if (typeof value !== 'object' || value === null || depth >= 16) return value;
  if (Array.isArray(value)) return value.map((item: Json) => renderJson(item, scope, depth + 1));
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) =>
      item === undefined ? [] : [[name, renderJson(item, scope, depth + 1)]],
    ),
  );
}
