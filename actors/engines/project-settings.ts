import { constants } from 'node:fs';
import { createHash } from 'node:crypto';
import { lstat, open, readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { settingsInFile } from './settings-in-file.js';

/**
 * What a project says to the agents that work in it beyond words: permissions, hooks, servers, environment. A person
 * has to trust these files as they are, by their hash; words (CLAUDE.md, AGENTS.md, GEMINI.md, plain skills, the
 * choice of a model) need no trust.
 */
export interface ProjectSettings {
  /** The folder with `.git` that the working folder lies in, else the working folder: what is trusted. */
  readonly root: string;
  /** Of all the files below, with their names. */
  readonly sha256: string;
  /** Relative to the root, each with what it would set: `.claude/settings.json (hooks, permissions)`. */
  readonly files: readonly string[];
  /** Something could not be read, or is a link: there is no hash to go by, and it cannot be trusted. */
  readonly isUnread: boolean;
}

/** Names that are looked for in the working folder and above it, up to the root. */
export const settingsNames = {
  claude: ['.claude', '.mcp.json'],
  codex: ['.codex'],
  gemini: ['.gemini'],
  qwen: ['.qwen'],
  opencode: ['.opencode', 'opencode.json', 'opencode.jsonc'],
  copilot: ['.copilot', '.mcp.json', '.vscode/mcp.json', '.github/hooks', '.github/copilot'],
  // judged for agents that no one has described: see allSettingsNames
  others: ['.amp', '.cline', '.clinerules', '.crush.json', '.cursor', '.goose', '.kilocode', '.kiro', '.roo'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** What any agent may take over; of one that does not say where it looks, all of these. */
export const allSettingsNames: readonly string[] = [...new Set(Object.values(settingsNames).flat())];

/**
 * Undefined where a person need not trust anything. Reads at most 1,000 files of 1 MiB.
 * @example await projectSettings('/home/me/project', ['.claude', '.mcp.json'])
 */
export async function projectSettings(
  cwd: string,
  names: readonly string[] = allSettingsNames,
): Promise<ProjectSettings | undefined> {
  const folders = await foldersUpToRoot(cwd);
  const root = folders.at(-1) ?? cwd;
  const found: Found[] = [];
  for (const folder of folders)
    for (const name of names) await collect(join(folder, name), { root, depth: 0, found });
  const wanting = found.filter(({ sets }) => sets.length > 0);
  if (wanting.length === 0) return undefined;
  const hash = createHash('sha256');
  for (const { path, digest } of found.toSorted((a, b) => (a.path < b.path ? -1 : 1)))
    hash.update(`${path}\0${digest}\n`);
  return {
    root,
    sha256: hash.digest('hex'),
    isUnread: found.some(({ digest }) => digest === ''),
    files: wanting.slice(0, filesShownMax).map(({ path, sets }) => `${path} (${sets.join(', ')})`),
  };
}

interface Found {
  readonly path: string;
  readonly digest: string;
  /** What wants trust. */
  readonly sets: readonly string[];
}

const filesMax = 1_000;
const filesShownMax = 20;
const bytesMax = 2 ** 20;
const depthMax = 8;

/** The working folder and those above it, up to the one with `.git`; without a repository it alone. */
export async function foldersUpToRoot(cwd: string): Promise<readonly string[]> {
  const folders: string[] = [];
  for (let at = cwd; folders.length < 64; at = dirname(at)) {
    folders.push(at);
    if (await lstat(join(at, '.git')).catch(() => undefined)) return folders;
    if (dirname(at) === at) break;
  }
  return [cwd];
}

async function collect(
  path: string,
  { root, depth, found }: { readonly root: string; readonly depth: number; readonly found: Found[] },
): Promise<void> {
  const name = relative(root, path);
  const facts = await lstat(path).catch(() => undefined);
  if (facts === undefined) return;
  const unread = (why: string): void => void found.push({ path: name, digest: '', sets: [why] });
  if (found.length >= filesMax || depth > depthMax) return unread('too many files');
  if (facts.isDirectory()) {
    const entries = await readdir(path).catch(() => undefined);
    if (entries === undefined) return unread('unreadable');
    for (const entry of entries.toSorted())
      await collect(join(path, entry), { root, depth: depth + 1, found });
    return;
  }
  // A link leads to what can change without it
  const bytes = facts.isFile() ? await readPlain(path, bytesMax) : undefined;
  if (bytes === undefined) return unread(facts.isFile() ? 'unreadable or too long' : 'no plain file');
  const digest = createHash('sha256').update(bytes).digest('hex');
  found.push({ path: name, digest, sets: settingsInFile(name, bytes.toString()) });
}

/**
 * What a plain file holds that an agent may have written, read by the gateway: no link is followed, for it could
 * lead to what the agent may not read, and no pipe is waited for. Undefined where there is none, or a longer one.
 */
export async function readPlain(path: string, bytesMax: number): Promise<Buffer | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const facts = await file.stat();
    return facts.isFile() && facts.size <= bytesMax ? await file.readFile() : undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
