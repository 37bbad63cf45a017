import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's own sources as text, for the rules of the house: rules look at what is written, so they need no compiler. */
export interface Source {
  /** `lib/home/layout.ts` */
  readonly path: string;
  readonly text: string;
  /** The text with comments and the insides of strings blanked, for rules about code. */
  readonly code: string;
  readonly imports: readonly Import[];
}

export interface Import {
  readonly specifier: string;
  /** The imported file of this project, `lib/world.ts`; undefined for packages. */
  readonly file: string | undefined;
}

export const root = fileURLToPath(new URL('../../../', import.meta.url));

export function sourcesOf(folders: readonly string[]): readonly Source[] {
  return folders.flatMap((folder) => readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => sourceOf(posix.join(folder, name), readFileSync(`${root}${folder}/${name}`, 'utf8')))
    .sort((one, other) => one.path.localeCompare(other.path)));
}

/** Exported so that the rules can be tried on sources that break them. */
export function sourceOf(path: string, text: string): Source {
  return { path, text, code: blanked(text), imports: importsOf(path, text) };
}

function importsOf(path: string, text: string): readonly Import[] {
  const quiet = withoutComments(text);
  const found = [...quiet.matchAll(/(?:^|[;\n])\s*(?:import|export)\b[^'";]*?\bfrom\s*['"]([^'"]+)['"]/g), ...quiet.matchAll(/\bimport\s*\(?\s*['"]([^'"]+)['"]/g)];
  return [...new Set(found.map((match) => match[1] ?? ''))].map((specifier) => ({
    specifier,
    file: specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts') : undefined,
  }));
}

// One pass over comments, strings and templates; the groups tell which it was. Good enough for house rules: a slash
// between quotes inside a regular expression may fool it, and then a rule fails loudly, not silently.
const tokens = /(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`)|(\/(?![*\/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[dgimsuvy]*(?=\s*[.,;)\]]))/g;

const withoutComments = (text: string): string => text.replace(tokens, (whole, comment: string | undefined) => (comment === undefined ? whole : blank(whole)));

const blanked = (text: string): string => text.replace(tokens, (whole, comment: string | undefined, string: string | undefined) => {
  if (comment !== undefined) return blank(whole);
  if (string === undefined) return blank(whole);
  // What stands in ${…} of a template is code.
  return string.startsWith('`') ? string.replace(/\$\{([^}]*)\}|[^\n]/g, (piece, inner: string | undefined) => (inner === undefined ? ' ' : `  ${inner} `)) : `${string[0] ?? ''}${blank(string.slice(1, -1))}${string.at(-1) ?? ''}`;
});

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');
