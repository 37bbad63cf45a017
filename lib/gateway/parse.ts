import { placeOf } from '../commands/page-after.js';
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { judged } from '../records/judged.js';
import { deeperThan, jsonDepthMax } from '../../machines/text.js';
import { refuse, type Refusal } from '../../machines/refusals.js';

/**
 * Unknown bytes → typed values, or a refusal that names what is wrong. Bodies are read by hand: bounded while
 * they arrive, parsed once, and looked at for depth and for members that would smuggle authority before any
 * schema runs.
 */
export async function readJson(request: IncomingMessage, limits: BodyLimits): Promise<unknown> {
  const media = checkMedia(request);
  if (media) return media;
  const bytes = await readBytes(request, limits.bytesMax);
  if (!Buffer.isBuffer(bytes)) return bytes;
  limits.onBytes?.(bytes);
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes)) return refuse('BAD_REQUEST', {}, 'The body is not UTF-8.');
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    return refuse('BAD_REQUEST', {}, 'Invalid JSON in request body');
  }
  return judgeJson(value, limits) ?? value;
}

export interface BodyLimits {
  readonly bytesMax: number;
  readonly forbidden?: readonly string[];
  /** Is shown the bytes as they came: a signature is one of these, not of what they mean. */
  readonly onBytes?: (bytes: Buffer) => void;
}

/**
 * What is wrong with a value before any schema looks at it: its depth, and members that smuggle authority.
 */
export function judgeJson(value: unknown, limits: Pick<BodyLimits, 'forbidden'>): Refusal | undefined {
  if (deeperThan(value, jsonDepthMax))
    return refuse('BAD_REQUEST', {}, `The body is nested deeper than ${jsonDepthMax}.`);
  return forbiddenMember(value, limits.forbidden ?? []);
}

export const bodyBytesDefault = 1_048_576;

/**
 * `parse(schema, body, 'body')` → the value, or BAD_REQUEST with the path of the first fault and all of them
 * in `issues`.
 */
export function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  where: 'body' | 'query',
): z.output<Schema> | Refusal {
  const result = judged(schema, value);
  if (result.success) return result.data;
  const issues = result.error.issues
    .slice(0, 20)
    .map((issue) => ({ path: pathOf(issue), message: sentenceOf(issue, value, where) }));
  return refuse('BAD_REQUEST', { path: issues[0]?.path ?? '', issues }, issues[0]?.message);
}

function pathOf(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join('.');
  if (issue.code !== 'unrecognized_keys') return path;
  return [path, issue.keys[0]].filter(Boolean).join('.');
}

function sentenceOf(issue: z.core.$ZodIssue, value: unknown, where: string): string {
  const path = pathOf(issue);
  if (issue.code === 'unrecognized_keys') return `unknown member(s): ${issue.keys.join(', ')}`;
  const given = memberAt(value, issue.path);
  const absent = path !== '' && given === undefined;
  if (absent && issue.code === 'invalid_type') return `${path} is required`;
  if (absent && issue.code === 'invalid_value')
    return `${path} is required: ${issue.values.map(String).join(', ')}`;
  return `${path === '' ? where : path}: ${messageOf(issue, given)}`;
}

const memberAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inside, key) =>
      typeof inside === 'object' && inside !== null
        ? (inside as Record<PropertyKey, unknown>)[key]
        : undefined,
    value,
  );

/**
 * `?status=done&limit=5` → `{status: 'done', limit: '5'}`. A parameter given twice is refused: which one
 * counts is a guess.
 */
export function readQuery(url: string): Record<string, string> | Refusal {
  const at = url.indexOf('?');
  const query: Record<string, string> = {};
  if (at === -1) return query;
  const seen = new Set<string>();
  for (const [name, value] of new URLSearchParams(url.slice(at + 1))) {
    if (seen.has(name)) return refuse('BAD_REQUEST', { path: name }, `${name} is given more than once`);
    seen.add(name);
    query[name] = value;
  }
  return query;
}

/** The id in the path. */
export const idOf = (call: { readonly params: Readonly<Record<string, string>> }): string =>
  call.params['id'] ?? '';

function checkMedia(request: IncomingMessage): Refusal | undefined {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    return refuse('UNSUPPORTED_MEDIA_TYPE', {}, 'Send the body without content-encoding.');
  const type = request.headers['content-type'];
  if (type === undefined || type === 'application/json') return undefined;
  const charset = /;\s*charset="?([^";\s]+)/i.exec(type)?.[1]?.toLowerCase();
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8')
    return refuse('UNSUPPORTED_MEDIA_TYPE', { charset });
  return /^multipart\//i.test(type) ? refuse('UNSUPPORTED_MEDIA_TYPE') : undefined;
}

/**
 * The whole body, or a refusal as soon as it is too long. A client that goes away leaves a BAD_REQUEST that
 * no one reads.
 */
function readBytes(request: IncomingMessage, bytesMax: number): Promise<Buffer | Refusal> {
  const tooLarge = (): Refusal => refuse('PAYLOAD_TOO_LARGE', { bytesMax }, 'Payload too large');
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) {
    request.resume();
    return Promise.resolve(tooLarge());
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= bytesMax) chunks.push(chunk);
      else {
        chunks.length = 0;
        resolve(tooLarge());
      }
    });
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const gone = (): void => resolve(refuse('BAD_REQUEST', {}, 'The body ended too early.'));
    request.on('error', gone);
    request.on('aborted', gone);
  });
}

/** Who made a thing, where it comes from and what was approved are never the caller's to say. */
function forbiddenMember(value: unknown, forbidden: readonly string[]): Refusal | undefined {
  if (forbidden.length === 0 || typeof value !== 'object' || value === null) return undefined;
  for (const member of Object.keys(value)) {
    const hit = forbidden.some((name) =>
      name.endsWith('*') ? member.startsWith(name.slice(0, -1)) : member === name,
    );
    if (hit) return refuse('BAD_REQUEST', { path: member }, `${member} cannot be set here`);
  }
  return undefined;
}

/**
 * What is wrong with a value, in a sentence that a person can act on. The schema library's own words are
 * replaced; those that a schema was given are kept.
 * @example wordingOf(issue, 5) // 'must be text, not a number'
 */
export function messageOf(issue: z.core.$ZodIssue, value: unknown): string {
  if (!/^(?:Invalid|Too) /.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return (
        `must be ${kinds[issue.expected] ?? issue.expected}, not ` +
        `${typeof value === 'number' && issue.expected === 'int' ? value : kindOf(value)}`
      );
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return issue.minimum === 1 && sizes[issue.origin] !== undefined
        ? 'must not be empty'
        : `must ${has(issue.origin)}at least ${sized(issue.origin, issue.minimum)}`;
    case 'too_big':
      return `must ${has(issue.origin)}at most ${sized(issue.origin, issue.maximum)}`;
    case 'invalid_format':
      return issue.format === 'datetime' ? 'must be a time like 2026-01-31T09:00:00.000Z' : issue.message;
    default:
      return issue.message;
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
};
const sizes: Readonly<Record<string, string>> = {
  string: 'characters',
  array: 'elements',
  object: 'members',
};

const has = (origin: string): string => (sizes[origin] === undefined ? 'be ' : 'have ');
const sized = (origin: string, limit: number | bigint): string =>
  [limit, limit === 1 ? sizes[origin]?.slice(0, -1) : sizes[origin]]
    .filter((part) => part !== undefined)
    .join(' ');

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return kinds[typeof value] ?? 'that';
}

/** Behind the last of a page that was read. Empty: the first page, answered as one that is followed by others. */
export const cursor = z
  .string()
  .max(2_000)
  .transform((value, context) => {
    const place = value === '' ? undefined : placeOf(value);
    if (place !== undefined || value === '') return { place };
    context.addIssue({ code: 'custom', message: 'must be nextCursor of an answer' });
    return z.NEVER;
  })
  .optional()
  .describe('`nextCursor` of the page before, instead of an offset: what did not move is shown once.');

/** Of rows that are numbered as they are written: the number of the last one that was shown. */
export const rowCursor = z
  .string()
  .regex(/^\d{0,15}$/, 'must be nextCursor of an answer')
  .transform((number) => (number === '' ? undefined : Number(number)))
  .optional()
  .describe('`nextCursor` of the page before.');

export const nextCursor = z.string().nullable().describe('`cursor` of the next page; null at the end.');

/** The same for lists whose pages always say where the next one begins. */
export const place = cursor.transform((given) => given?.place);
