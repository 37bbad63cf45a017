import { isMap, isPair, isScalar, LineCounter, parseDocument, type Document, type Node } from 'yaml';
import type * as z from 'zod';
import { readPlainFile } from './atomic-file.js';
import { configKeys, namesAt } from './config-keys.js';
import { configSchema, defaultConfig, readOnce, type Config } from './config.js';
import { nearest } from '../../machines/text.js';
import { HomeError } from './home-error.js';

/**
 * config.yaml → settings. YAML is a rich language and this file may come from anywhere, so: plain YAML 1.2
 * values only (no tags, no merge keys), few aliases, a bounded size. Every fault names the line and the key
 * where it is.
 */

/**
 * `await readConfig(layout.config)`: the defaults when the file is absent or empty. Rejects with a HomeError
 * (BAD_CONFIG).
 */
export async function readConfig(path: string): Promise<Config> {
  const bytes = await readPlainFile(path, configBytesMax);
  return bytes === undefined ? defaultConfig() : parseConfig(bytes.toString('utf8'), path);
}

/** The same for a text; `source` is how messages call it. */
export function parseConfig(text: string, source = 'config.yaml'): Config {
  const { faults, settings } = inspectConfig(text);
  const [first] = faults;
  if (first === undefined) return settings ?? defaultConfig();
  const more = faults.length - faultsShownMax;
  throw new HomeError(
    'BAD_CONFIG',
    [
      ...faults.slice(0, faultsShownMax).map((fault) => faultLine(fault, source)),
      ...(more > 0 ? [`and ${more} more: "troupe config check" lists them.`] : []),
    ].join('\n'),
    first.key === null ? 'Fix that line, then start again.' : 'Fix the settings, then start again.',
  );
}

/** What is wrong at one place of config.yaml. */
export interface ConfigFault {
  /** From 1; null: of the file as a whole. */
  readonly line: number | null;
  /** `gateway.port`; null where it is not YAML at all. */
  readonly key: string | null;
  readonly what: string;
}

/** `config.yaml:3, gateway.port: expected number, received string.` */
export const faultLine = ({ line, key, what }: ConfigFault, source: string): string =>
  `${source}${line === null ? '' : `:${line}`}${key === null ? '' : `, ${key}`}: ${what}`;

/**
 * All that is wrong with a text, and the settings that it has when all of that is left out: a fault in one place
 * hides none in another. No settings: it is not YAML. Never throws for what the text says.
 */
export function inspectConfig(text: string): {
  readonly faults: readonly ConfigFault[];
  readonly settings?: Config;
  /** The text's values, as they stand there. */
  readonly given?: unknown;
  /** Where the key of the innermost existing part of a path stands. */
  readonly lineAt?: (path: readonly PropertyKey[]) => number | null;
} {
  const lines = new LineCounter();
  const lineOf = (at: number | undefined): number | null =>
    at === undefined ? null : lines.linePos(at).line;
  const document = parsed(text, lines);
  if (typeof document === 'string') return { faults: [{ line: null, key: null, what: document }] };
  const broken = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    line: lineOf(pos[0]),
    key: null,
    what: `invalid YAML (${firstLine(message)}).`,
  }));
  if (broken.length > 0) return { faults: broken };
  let given: unknown;
  try {
    given = document.toJS({ maxAliasCount: aliasesMax }) ?? {};
  } catch (error) {
    return { faults: [{ line: null, key: null, what: `${firstLine((error as Error).message)}.` }] };
  }
  const lineAt = (path: readonly PropertyKey[]): number | null => lineOf(position(document, path));
  let value = given;
  const faults: ConfigFault[] = [];
  for (let round = 0; round < roundsMax; round += 1) {
    const checked = configSchema.safeParse(value ?? {}, readOnce);
    if (checked.success) return { faults, settings: checked.data, given, lineAt };
    for (const { path, what } of checked.error.issues.slice(0, issuesMax).flatMap(found)) {
      const fault = { line: lineAt(path), key: path.join('.') || 'the whole file', what };
      if (!faults.some(({ key }) => key === fault.key)) faults.push(fault);
      value = without(value, existing(value, path));
    }
  }
  return { faults, given, lineAt };
}

export const configBytesMax = 2 ** 20;
const aliasesMax = 50;
const nestingMax = 32;
const faultsShownMax = 10;
/** A check of one part is only made when another found nothing: so it is asked again without what is wrong. */
const roundsMax = 8;
/** Of one round: what is wrong in more places is another kind of file. */
const issuesMax = 100;

/** The places that an issue speaks of: each unknown setting is one. */
function found(
  issue: z.core.$ZodIssue,
): readonly { readonly path: readonly PropertyKey[]; readonly what: string }[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, issuesMax).map((key) => ({
      path: [...issue.path, key],
      what: `unknown setting${hint(issue.path, key)}`,
    }));
  const what = issue.message.replace(/^Invalid input: /, '');
  return [{ path: issue.path, what: /[.?]$/.test(what) ? what : `${what}.` }];
}

/** A copy without what stands at `path`; of a list nothing is left, so that no other place is counted again. */
function without(value: unknown, [first, ...rest]: readonly PropertyKey[]): unknown {
  if (first === undefined) return undefined;
  if (Array.isArray(value)) return [];
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) =>
      name !== String(first) ? [[name, one]] : rest.length === 0 ? [] : [[name, without(one, rest)]],
    ),
  );
}

/** A sentence instead where it cannot even be read. */
function parsed(text: string, lineCounter: LineCounter): Document.Parsed | string {
  // Counted before parsing: the parser recurses, and a stack overflow is no way to find out.
  if (deepestFlow(text) > nestingMax)
    return `brackets are nested deeper than ${nestingMax}. Settings are flat; remove them.`;
  try {
    return parseDocument(text, {
      lineCounter,
      version: '1.2',
      schema: 'core',
      merge: false,
      resolveKnownTags: false,
      uniqueKeys: true,
      prettyErrors: false,
      logLevel: 'error', // what it would print is among the faults
    });
  } catch {
    return 'invalid YAML.';
  }
}

/** Where the key of the innermost existing part of `path` stands. */
function position(document: Document.Parsed, path: readonly PropertyKey[]): number | undefined {
  let node: unknown = document.contents;
  let at = (document.contents as Node | null)?.range?.[0];
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find(
        (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(part),
      );
      if (pair === undefined) return at;
      at = (pair.key as Node).range?.[0] ?? at;
      node = pair.value;
    } else {
      node = document.getIn([...path].slice(0, path.indexOf(part) + 1), true);
      at = (node as Node | undefined)?.range?.[0] ?? at;
    }
  }
  return at;
}

/** `; did you mean "authRequired"?`: a setting of that level that differs in two letters at most, or one elsewhere. */
function hint(level: readonly PropertyKey[], wrong: string): string {
  const names = namesAt(level) ?? [];
  const elsewhere = configKeys().filter(({ key }) => key.endsWith(`.${wrong}`));
  const meant = elsewhere.length === 1 ? elsewhere[0]?.key : nearest(wrong, names);
  if (meant !== undefined) return `; did you mean "${meant}"?`;
  return names.length === 0 ? '.' : `; known: ${names.join(', ')}.`;
}

/** Of a member that is missing, the whole that lacks it. */
function existing(value: unknown, path: readonly PropertyKey[]): readonly PropertyKey[] {
  let at = value;
  for (const [depth, part] of path.entries()) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return path.slice(0, depth);
    at = (at as Record<PropertyKey, unknown>)[part];
  }
  return path;
}

function deepestFlow(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const letter of text) {
    if (letter === '[' || letter === '{') deepest = Math.max(deepest, (depth += 1));
    else if (letter === ']' || letter === '}') depth = Math.max(0, depth - 1);
  }
  return deepest;
}

const firstLine = (message: string): string => message.split('\n', 1)[0]?.replace(/[.:]$/, '') ?? '';
