import { isScalar, parseDocument, visit, type Document } from 'yaml';

/**
 * YAML that people and agents write, read as plain data only: YAML 1.2 values, no tags, no merge keys, few
 * aliases, a bounded size and depth. The document is kept beside the value so that an edit can leave comments
 * and order alone.
 * @example parsePlainYaml('rank: manager', 10_000) // {value: {rank: 'manager'}, document} or {fault: 'why
 * not'}
 */
export function parsePlainYaml(text: string, charsMax: number): PlainYaml | { readonly fault: string } {
  if (text.length > charsMax) return { fault: `it has more than ${charsMax} characters` };
  if (tooDeep(text)) return { fault: `it is nested deeper than ${nestingMax}` };
  try {
    const document = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      merge: false,
      resolveKnownTags: false,
      uniqueKeys: false, // looked for below: the parser compares each key with all others
      prettyErrors: false,
    });
    const broken = document.errors[0] ?? document.warnings[0];
    if (broken !== undefined) return { fault: `it is not plain YAML (${firstLine(broken.message)})` };
    if (hasTwins(document)) return { fault: 'it is not plain YAML (Map keys must be unique)' };
    return { document, value: document.toJS({ maxAliasCount: aliasesMax }) as unknown };
  } catch (error) {
    // An alias bomb, or deeper than the parser can go
    return { fault: `it is not plain YAML (${firstLine((error as Error).message)})` };
  }
}

/** A key that is there twice in one map. */
function hasTwins(document: Document.Parsed): boolean {
  let found = false;
  visit(document, {
    Map(_, { items }) {
      const keys = items.flatMap(({ key }) => (isScalar(key) ? [key.value] : []));
      found = new Set(keys).size < keys.length;
      return found ? visit.BREAK : undefined;
    },
  });
  return found;
}

export interface PlainYaml {
  readonly document: Document.Parsed;
  readonly value: unknown;
}

const aliasesMax = 20;
const nestingMax = 32;

/**
 * Counted before parsing, because the parser recurses: brackets that are open at once, and indicators in a
 * row.
 */
function tooDeep(text: string): boolean {
  let depth = 0;
  for (const letter of text) {
    if (letter === '[' || letter === '{') depth += 1;
    else if (letter === ']' || letter === '}') depth = Math.max(0, depth - 1);
    if (depth > nestingMax) return true;
  }
  return inARow.test(text);
}

/** `- - - -` and `? ? ? ?` open a level each. */
const inARow = new RegExp(`(?:[-?][ \\t]+){${nestingMax}}`);

const firstLine = (message: string): string =>
  message.split('\n', 1)[0]?.replace(/[.:]$/, '').slice(0, 200) ?? '';
