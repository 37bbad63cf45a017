import { parseDocument } from 'yaml';

/**
 * What a file of a project's settings would set that wants trust, in words for a person; empty where it is words and
 * choices. What is unknown or cannot be parsed wants trust.
 * @example settingsInFile('.claude/settings.json', '{"hooks": {}}') // ['hooks']
 */
export function settingsInFile(path: string, text: string): readonly string[] {
  const isClaudes = /(?:^|\/)\.claude\//.test(path);
  // it asks for each tool whatever an agent of its own lists; others may not
  if (/\.mdx?$/.test(path)) return frontMatterIn(text).filter((key) => !isClaudes || key !== 'tools');
  if (isClaudes) {
    if (/\.claude\/settings[^/]*\.json$/.test(path)) return settingsIn(text);
    return /\.json$/.test(path) ? ['settings'] : []; // a script runs only where something names it
  }
  if (/\.txt$/.test(path)) return [];
  return [/mcp/i.test(path) ? 'servers' : 'settings'];
}

const namesShownMax = 10;

function settingsIn(text: string): readonly string[] {
  try {
    const settings = JSON.parse(text) as unknown;
    if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) return ['unreadable'];
    return Object.keys(settings)
      .filter((key) => !plainKeys.has(key))
      .slice(0, namesShownMax);
  } catch {
    return ['unreadable'];
  }
}

/** Of Claude Code's settings: words and choices that neither run nor permit anything. */
const plainKeys: ReadonlySet<string> = new Set([
  '$schema',
  'model',
  'language',
  'outputStyle',
  'effortLevel',
  'alwaysThinkingEnabled',
  'includeCoAuthoredBy',
]);

/**
 * A skill, command or agent that permits itself tools, brings hooks or servers, or runs commands as it is read. YAML
 * has many spellings of one key (flow, quotes, escapes, merges), so it is parsed and not searched.
 */
function frontMatterIn(text: string): readonly string[] {
  // to some it ends at the first dashes that end a line, to others at the first line of dashes: both are read
  const fronts = [
    /^\s*---[ \t]*\r?\n([^]*?)---[ \t]*(?:\r?\n|$)/.exec(text),
    /^\s*---[ \t]*\r?\n((?:[^]*?\n)?)---[ \t]*(?:\r?\n|$)/.exec(text),
  ].flatMap((found) => found?.[1] ?? []);
  const isUnended = fronts.length === 0 && /^\s*---/.test(text);
  const keys = isUnended ? ['unreadable'] : fronts.flatMap(keysOf);
  const sets = new Set(keys.filter((key) => !plainWords.has(plain(key))));
  if (/![`{]/.test(text)) sets.add('commands');
  return [...sets].slice(0, namesShownMax);
}

function keysOf(front: string): readonly string[] {
  const document = parseDocument(front, { merge: true, uniqueKeys: false });
  if (document.errors.length > 0) return ['unreadable'];
  try {
    const value: unknown = document.toJS({ maxAliasCount: 10 });
    return typeof value === 'object' && value !== null ? Object.keys(value) : [];
  } catch {
    return ['unreadable'];
  }
}

const plain = (key: string): string => key.toLowerCase().replace(/[-_ ]/g, '');

/** Keys that describe, choose or narrow. */
const plainWords: ReadonlySet<string> = new Set(
  [
    ...['name', 'description', 'title', 'version', 'license', 'author', 'tags', 'category', 'metadata'],
    ...['model', 'effort', 'color', 'temperature', 'language', 'globs', 'paths', 'alwaysApply'],
    ...['argument-hint', 'arguments', 'when_to_use', 'user-invocable', 'disable-model-invocation'],
    ...['disallowed-tools', 'compatibility', 'keep-coding-instructions'],
  ].map(plain),
);
