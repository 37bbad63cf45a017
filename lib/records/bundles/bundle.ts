import { Document } from 'yaml';
import * as z from 'zod';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import { judged } from '../judged.js';
import { parsePlainYaml } from '../plain-yaml.js';
import { bundledSession, wholeFile } from './session-shape.js';

/**
 * What an export writes and an import reads: one YAML file with the texts of employees, skills and knowledge, and
 * with workflow definitions; or with work items; or, as JSON, with sessions. It holds no secrets, and nothing in it is
 * at work.
 */
export const bundleShape = z.strictObject({
  /** Version of this format. */
  troupe: z.literal(1, { error: 'must be 1: a newer version of Troupe wrote this bundle' }),
  title: z.string().trim().min(1).max(200),
  about: z.string().max(4_000).default(''),
  files: z.record(z.string().max(300), z.string().max(262_144)).default({}),
  workflows: z
    .array(
      z.looseObject({
        id: z
          .string()
          .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/)
          .max(128),
      }),
    )
    .max(200)
    .default([]),
  /** Work items, as they were asked for; absent: none. */
  items: z
    .array(
      z.strictObject({
        id: z.string().regex(/^[A-Z][A-Z0-9]{0,15}-\d{1,12}$/),
        createdAt: z.iso.datetime(),
        /** Where it was made; elsewhere it starts over. */
        status: z.string().max(32).optional(),
        title: z.string().trim().min(1).max(500),
        body: z.string().max(65_536).optional(),
        acceptance: z.string().max(65_536).optional(),
        department: z.string().max(128).optional(),
        assignee: z.string().max(128).optional(),
        dueAt: z.iso.datetime().optional(),
        labels: z.array(z.string().max(64)).max(32).optional(),
        priority: z.int().min(0).max(3).optional(),
        /** It stays closed. Absent: it starts over. */
        closed: z.enum(['done', 'cancelled']).optional(),
      }),
    )
    .max(200)
    .optional(),
  sessions: z.array(bundledSession).max(200).optional(),
  /** Managed files of no session. */
  uploads: z.array(wholeFile).max(200).optional(),
});
export type Bundle = z.output<typeof bundleShape>;

export const bundleBytesMax = 4 * 2 ** 20;
const filesMax = 2_000;

/** `parseBundle(text)` → the bundle, or BAD_REQUEST with the member that is wrong. */
export function parseBundle(text: string): Bundle | Refusal {
  const parsed = parseJson(text) ?? parsePlainYaml(text, bundleBytesMax);
  return 'fault' in parsed
    ? refuse('BAD_REQUEST', {}, `This is not a bundle: ${parsed.fault}.`)
    : bundleOf(parsed.value);
}

/**
 * JSON is YAML too, but what agents said may hold any number of brackets, of which the other parser takes few.
 * Undefined: it is no JSON.
 */
function parseJson(text: string): { readonly value: unknown } | { readonly fault: string } | undefined {
  if (!text.trimStart().startsWith('{') || text.length > bundleBytesMax) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isDeeper(value, nestingMax) ? { fault: `it is nested deeper than ${nestingMax}` } : { value };
  } catch {
    return undefined;
  }
}

const nestingMax = 32;

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1)));

/** A value that came as JSON or YAML, as a bundle. */
export function bundleOf(value: unknown): Bundle | Refusal {
  const checked = judged(bundleShape, value);
  const wrong = (path: string, sentence: string) => refuse('BAD_REQUEST', { path }, sentence);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const path = issue?.path.join('.') ?? '';
    return wrong(path, `This is not a bundle: ${path || 'the file'}: ${issue?.message ?? 'cannot be used'}.`);
  }
  const paths = Object.keys(checked.data.files);
  if (paths.length > filesMax) return wrong('files', `A bundle holds at most ${filesMax} files.`);
  const stray = paths.find((path) => !isBundledPath(path));
  if (stray !== undefined)
    return wrong(
      'files',
      `${JSON.stringify(stray.slice(0, 200))} cannot be imported: a bundle holds org/<department>/<name>.yaml, ` +
        'skills/<name>/SKILL.md and texts in knowledge/.',
    );
  const folders = new Set(paths.flatMap(foldersOf));
  const both = paths.find((path) => folders.has(path));
  return both === undefined ? checked.data : wrong('files', `${both} cannot be a file and a folder.`);
}

/** `foldersOf('knowledge/a/b.md')` → `['knowledge', 'knowledge/a']` */
const foldersOf = (path: string): readonly string[] =>
  [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));

/** What a bundle may hold: employees, departments, skills and Markdown; nothing that runs or configures. */
export const isBundledPath = (path: string): boolean =>
  path.split('/').every((segment) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(segment)) &&
  /^(?:org\/[^/]+\/[^/]+\.yaml|skills\/[^/]+\/SKILL\.md|knowledge\/(?:[^/]+\/){0,5}[^/]+\.(?:md|txt))$/.test(
    path,
  );

/** The text of a bundle; texts of several lines stay readable, but for those of sessions, which are JSON. */
export const printBundle = (bundle: Bundle): string =>
  bundle.sessions === undefined
    ? new Document(bundle, { aliasDuplicateObjects: false }).toString({ lineWidth: 0 })
    : `${JSON.stringify(bundle, null, 1)}\n`;
