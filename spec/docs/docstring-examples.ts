import { sourcesOf, type Source } from '../house/sources.js';
import { apiReport } from './api-report.js';

/** What follows an `@example` in the docstring of an exported thing, or of a member of one. */
export interface DocstringExample {
  /** `lib/client/client.ts:62` */
  readonly place: string;
  readonly code: string;
  /** Of `config.yaml`, not of a program. */
  readonly isConfig: boolean;
}

/** Which entry exports a name: `createSupervisor` → `troupe`. The first of several. */
export async function entriesOfNames(): Promise<ReadonlyMap<string, string>> {
  const entries = new Map<string, string>();
  for (const section of (await apiReport()).split(/^## /m).slice(1))
    for (const [, name = ''] of section.matchAll(/^export (?:\w+ )+?(\w+)\b(?= |<|:|\()/gm))
      if (!entries.has(name)) entries.set(name, section.slice(0, section.indexOf('\n')));
  return entries;
}

/** Those that users see. What no entry exports has its examples for ourselves. */
export function docstringExamples(entries: ReadonlyMap<string, string>): readonly DocstringExample[] {
  const sources = sourcesOf(['lib', 'actors', 'machines']);
  const renamings = sources.flatMap(({ code }) => [...code.matchAll(/(\w+) as (\w+)/g)]);
  const outside = new Map(renamings.map(([, inner = '', outer = '']) => [inner, outer]));
  const isPublic = (name: string): boolean => entries.has(name) || entries.has(outside.get(name) ?? '');
  return sources.flatMap((source) => examplesOf(source, isPublic));
}

function examplesOf(
  { path, text }: Source,
  isPublic: (name: string) => boolean,
): readonly DocstringExample[] {
  return [...text.matchAll(/\/\*\*(?:(?!\*\/)[^])*\*\//g)].flatMap(({ 0: comment, index }) => {
    if (!isPublic(ownerOf(text, index + comment.length))) return [];
    const lines = comment.replace(/\s*\*\/$/, '').replace(/^ *\* ?/gm, '');
    return lines
      .split(/@example\s+/)
      .slice(1)
      .map((code) => ({
        place: `${path}:${text.slice(0, index).split('\n').length}`,
        code: code.trim(),
        isConfig: code.includes('# config.yaml'),
      }));
  });
}

/** What the comment that ends at `end` belongs to: the export right after it, or the one that it stands in. */
function ownerOf(text: string, end: number): string {
  const declaration = /^export (?:async |declare |abstract )?(?:const|function|class|interface|type) (\w+)/gm;
  const after = text.slice(end).trimStart();
  const near = after.startsWith('export ') ? declaration.exec(after) : null;
  return near?.[1] ?? [...text.slice(0, end).matchAll(declaration)].at(-1)?.[1] ?? '';
}

/** An example as a module: with an import of every name that it uses and does not declare. */
export function moduleOf(code: string, homes: ReadonlyMap<string, string>): string {
  const declarations = code.matchAll(/\b(?:const|function|class|import)\s+(\{[^}]*\}|\* as \w+|\w+)/g);
  const declared = new Set([...declarations].flatMap(([, names = '']) => names.match(/\w+/g) ?? []));
  const used = new Set(code.replace(/'[^'\n]*'|\/\/.*$/gm, '').match(/(?<![\w]|(?<!\.\.)\.)[A-Za-z]\w*/g));
  const imports = [...used]
    .filter((name) => !declared.has(name) && homes.has(name))
    .map((name) => `import { ${name} } from '${homes.get(name)}';`);
  return `${imports.join('\n')}\n${code}\nexport {};\n`;
}
