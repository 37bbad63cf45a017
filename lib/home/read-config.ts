import { isMap, isPair, isScalar, LineCounter, parseDocument, type Document, type Node } from 'yaml';
import type * as z from 'zod';
import { readPlainFile } from './atomic-file.js';
import { configSchema, defaultConfig, type Config } from './config.js';
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
  const lines = new LineCounter();
  const document = parsed(text, source, lines);
  const fault = (at: number | undefined, what: string): HomeError => {
    const line = at === undefined ? '' : ` line ${lines.linePos(at).line}`;
    return new HomeError('BAD_CONFIG', `${source}${line}: ${what}`, 'Fix that line, then start again.');
  };
  const broken = document.errors[0] ?? document.warnings[0];
  if (broken !== undefined) throw fault(broken.pos[0], `invalid YAML (${firstLine(broken.message)}).`);

  const checked = configSchema.safeParse(plain(document, fault) ?? {});
  if (checked.success) return checked.data;
  const faults = checked.error.issues
    .slice(0, faultsShownMax)
    .map((issue) => faultOf(issue, document, lines, source));
  throw new HomeError('BAD_CONFIG', faults.join('\n'), 'Fix the settings, then start again.');
}

export const configBytesMax = 2 ** 20;
const aliasesMax = 50;
const nestingMax = 32;
const faultsShownMax = 10;

function parsed(text: string, source: string, lineCounter: LineCounter): Document.Parsed {
  // Counted before parsing: the parser recurses, and a stack overflow is no way to find out.
  const deepest = deepestFlow(text);
  if (deepest > nestingMax)
    throw new HomeError(
      'BAD_CONFIG',
      `${source}: brackets are nested deeper than ${nestingMax}.`,
      'Settings are flat; remove them.',
    );
  try {
    return parseDocument(text, {
      lineCounter,
      version: '1.2',
      schema: 'core',
      merge: false,
      resolveKnownTags: false,
      uniqueKeys: true,
      prettyErrors: false,
    });
  } catch (cause) {
    throw new HomeError('BAD_CONFIG', `${source}: invalid YAML.`, 'Fix the file, then start again.', {
      cause,
    });
  }
}

function plain(
  document: Document.Parsed,
  fault: (at: number | undefined, what: string) => HomeError,
): unknown {
  try {
    return document.toJS({ maxAliasCount: aliasesMax });
  } catch (error) {
    throw fault(undefined, `${firstLine((error as Error).message)}.`);
  }
}

/** `config.yaml line 3, gateway.port: expected number, received string.` */
function faultOf(
  issue: z.core.$ZodIssue,
  document: Document.Parsed,
  lines: LineCounter,
  source: string,
): string {
  const path = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path;
  const what =
    issue.code === 'unrecognized_keys'
      ? `unknown setting${hint(issue, path)}`
      : `${issue.message.replace(/^Invalid input: /, '')}.`;
  const at = position(document, path);
  return (
    `${source}${at === undefined ? '' : ` line ${lines.linePos(at).line}`}, ` +
    `${path.join('.') || 'the whole file'}: ${what}`
  );
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

/** `; did you mean "authRequired"?` where a setting of that level differs in two letters at most. */
function hint(issue: z.core.$ZodIssue, path: readonly PropertyKey[]): string {
  const wrong = String(path.at(-1));
  const level = issue.path.reduce<unknown>(
    (value, part) => (value as Record<PropertyKey, unknown> | undefined)?.[part],
    defaultConfig(),
  );
  const names = Object.keys((level ?? {}) as object);
  const meant = nearest(wrong, names);
  return meant === undefined ? `; known: ${names.join(', ')}.` : `; did you mean "${meant}"?`;
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
