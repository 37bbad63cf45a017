import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The project's own sources as text, for the rules of the house: rules look at what is written, so they need
 * no compiler.
 */
export interface Source {
  /** `lib/home/layout.ts` */
  readonly path: string;
  readonly text: string;
  /** The text with comments and the insides of strings blanked, for rules about code. */
  readonly code: string;
  /** What is written for readers of the code. */
  readonly comments: string;
  /** The texts of strings and the parts of templates between `${…}`. */
  readonly strings: readonly string[];
  readonly imports: readonly Import[];
}

export interface Import {
  readonly specifier: string;
  /** The imported file of this project, `lib/world.ts`; undefined for packages. */
  readonly file: string | undefined;
  /** `import type`: gone when the program runs. */
  readonly ofTypes: boolean;
}

export const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Made by a program, and read by none but the compiler. */
const generated = new Set(['lib/client/api.ts']);

export function sourcesOf(folders: readonly string[]): readonly Source[] {
  return folders.flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !generated.has(posix.join(folder, name)))
      .map((name) => sourceOf(posix.join(folder, name), readFileSync(`${root}${folder}/${name}`, 'utf8')))
      .sort((one, other) => one.path.localeCompare(other.path)),
  );
}

/** Exported so that the rules can be tried on sources that break them. */
export function sourceOf(path: string, text: string): Source {
  const code = blanked(text);
  return {
    path,
    text,
    code,
    comments: repaint(text, (piece) => piece !== 'comment'),
    strings: stringsOf(withoutComments(text), code),
    imports: importsOf(path, text),
  };
}

/** What is there without comments and gone without strings; letters keep their places. */
function stringsOf(quiet: string, code: string): readonly string[] {
  const strings: string[] = [];
  let start: number | undefined;
  for (let at = 0; at <= quiet.length; at += 1) {
    const within = at < quiet.length && quiet[at] !== code[at];
    if (within) start ??= at;
    // A space between two words looks the same on both sides
    else if (start !== undefined && (at === quiet.length || !/\s/.test(quiet[at] ?? ''))) {
      strings.push(quiet.slice(start, at).trim());
      start = undefined;
    }
  }
  return strings;
}

function importsOf(path: string, text: string): readonly Import[] {
  const quiet = withoutComments(text);
  const found = [
    ...quiet.matchAll(/(?:^|[;\n])\s*(?:import|export)\b[^'";]*?\bfrom\s*['"]([^'"]+)['"]/g),
    // `'bundle.import'` ends a string, and begins no statement
    ...quiet.matchAll(/(?:(?:^|[;\n])\s*import|\bimport\s*\()\s*['"]([^'"\n]+)['"]/g),
  ];
  const atRunTime = new Set(
    found
      .filter(([statement]) => !/^[;\s]*(?:import|export)\s+type\b/.test(statement))
      .map(([, name]) => name),
  );
  return [...new Set(found.map((match) => match[1] ?? ''))].map((specifier) => ({
    specifier,
    ofTypes: !atRunTime.has(specifier),
    file: specifier.startsWith('.') ? writtenAt(posix.join(posix.dirname(path), specifier)) : undefined,
  }));
}

/** The page's parts are `.tsx`. */
function writtenAt(imported: string): string {
  const bare = imported.replace(/\.js$/, '');
  return existsSync(`${root}${bare}.tsx`) ? `${bare}.tsx` : `${bare}.ts`;
}

type Piece = 'code' | 'comment' | 'string';

const withoutComments = (text: string): string => repaint(text, (piece) => piece === 'comment');
const blanked = (text: string): string => repaint(text, (piece) => piece !== 'code');

/**
 * The text with the letters of some pieces blanked; line breaks and quotes stay. One pass, letter by letter:
 * a regular expression for this takes exponential time on some innocent files. What stands in `${…}` of a
 * template is code.
 */
function repaint(text: string, blank: (piece: Piece) => boolean): string {
  const out: string[] = [];
  const templates: number[] = [];
  let braces = 0;
  let last = '';
  let index = 0;
  const take = (end: number, piece: Piece): void => {
    for (; index < end && index < text.length; index += 1) {
      const letter = text[index] ?? '';
      out.push(blank(piece) && letter !== '\n' && !'\'"`'.includes(letter) ? ' ' : letter);
    }
  };
  while (index < text.length) {
    const letter = text[index] ?? '';
    const pair = text.slice(index, index + 2);
    if (pair === '//') take(endOf(text, index, '\n'), 'comment');
    else if (pair === '/*') take(endOf(text, index + 2, '*/') + 2, 'comment');
    else if (letter === "'" || letter === '"') take(closing(text, index + 1, letter) + 1, 'string');
    else if (letter === '/' && /^[(,=:[!&|?{};\n]?$/.test(last))
      take(closing(text, index + 1, '/') + 1, 'string');
    else if (letter === '`' || (letter === '}' && templates.at(-1) === braces)) {
      if (letter === '}') templates.pop();
      const end = templateEnd(text, index + 1);
      take(end.at, 'string');
      take(end.at + end.length, 'code');
      if (end.length === 2) templates.push(braces);
    } else {
      if (letter === '{') braces += 1;
      if (letter === '}') braces -= 1;
      take(index + 1, 'code');
    }
    if (!/\s/.test(letter) || (letter === '\n' && last === ''))
      last = pair === '//' || pair === '/*' ? last : (text[index - 1] ?? '');
  }
  return out.join('');
}

const endOf = (text: string, from: number, mark: string): number => {
  const found = text.indexOf(mark, from);
  return found === -1 ? text.length : found;
};

/** Where an unescaped mark stands on this line, outside the brackets of a regular expression's class. */
function closing(text: string, from: number, mark: string): number {
  let within = false;
  for (let at = from; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === '\\') at += 1;
    else if (letter === '\n') return at - 1;
    else if (mark === '/' && letter === '[') within = true;
    else if (mark === '/' && letter === ']') within = false;
    else if (letter === mark && !within) return at;
  }
  return text.length;
}

/** The end of a template's text: its closing tick (length 1) or the beginning of `${` (length 2). */
function templateEnd(text: string, from: number): { readonly at: number; readonly length: 1 | 2 } {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '`') return { at, length: 1 };
    else if (text.startsWith('${', at)) return { at, length: 2 };
  }
  return { at: text.length, length: 1 };
}
