import { refuse, type Refusal } from '../../../machines/refusals.js';
import type { Environment } from '../../environment.js';
import { openJailed, readStart, segmentsOf } from '../jailed-file.js';
import { openLibrary, type Library } from './library.js';
import type { Dated, Document } from './newest.js';
import { snippetOf, titleOf } from './snippet.js';
import { markdown } from './tree.js';
import type { Hit } from './word-index.js';
import { fragmentsOf } from './words.js';

/**
 * What the house knows: Markdown below `knowledge/` and `docs/`, found by fragments of words and read by
 * path. Nothing else of the home can be reached from here, whatever the path says and whatever stands in its
 * place.
 */
export interface Knowledge {
  /**
   * At most 20 documents that hold all the words, most matches first, then by path. BAD_REQUEST for a
   * question that is none, BUSY when very many are asked at once.
   */
  search(question: string): Promise<Answer | Refusal>;
  /** A page of what there is, last changed first. BUSY as in `search`. */
  list(query: { readonly limit: number; readonly after?: Dated }): Promise<KnowledgePage | Refusal>;
  read(path: string): Promise<KnowledgeText | Refusal>;
  readonly library: Library;
  close(): Promise<void>;
}

export interface Answer {
  readonly query: string;
  readonly results: readonly {
    readonly path: string;
    readonly title: string;
    readonly snippet: string;
    readonly matchCount: number;
  }[];
  /** False while the index is still being built. */
  readonly complete: boolean;
}

export interface KnowledgePage {
  readonly documents: readonly (Document & { readonly title: string })[];
  readonly hasMore: boolean;
  /** False while the index is still being built. */
  readonly complete: boolean;
}

export interface KnowledgeText {
  readonly path: string;
  readonly title: string;
  readonly content: string;
  readonly truncated: boolean;
  readonly totalChars: number;
}

/** `openKnowledge({home: layout.home, environment})` */
export function openKnowledge({
  home,
  environment,
}: {
  readonly home: string;
  readonly environment: Environment;
}): Knowledge {
  const library = openLibrary({ home, folders: roots, environment });

  /**
   * Title and snippet. Of a large document only its beginning is looked at: twenty of them must not hold
   * anybody up.
   */
  async function shown(
    { path, matchCount }: Hit,
    fragments: readonly string[],
  ): Promise<Answer['results'][number]> {
    const text = await startOf(path, shownBytesMax);
    const snippet = text === undefined ? '' : snippetOf(text, fragments);
    return { path, title: titleOf(text ?? '', path), snippet, matchCount };
  }

  const titled = async (document: Document): Promise<KnowledgePage['documents'][number]> => ({
    ...document,
    title: titleOf((await startOf(document.path, titleBytesMax)) ?? '', document.path),
  });

  /** Undefined where it is gone, or no file to be read. */
  async function startOf(path: string, bytesMax: number): Promise<string | undefined> {
    const opened = await openJailed(home, path);
    if (typeof opened === 'string') return undefined;
    try {
      return (await readStart(opened.handle, Math.min(opened.size, bytesMax))).toString('utf8');
    } finally {
      await opened.handle.close();
    }
  }

  return {
    library,
    async search(question) {
      const query = question.trim();
      if (query === '') return refuse('BAD_REQUEST', { path: 'q' }, 'q is required');
      if (question.length > questionCharsMax)
        return refuse(
          'BAD_REQUEST',
          { path: 'q' },
          `q is too long (${question.length} chars, max ${questionCharsMax})`,
        );
      const fragments = fragmentsOf(query);
      if (fragments.length > fragmentsMax)
        return refuse(
          'BAD_REQUEST',
          { path: 'q' },
          `q has ${fragments.length} different words, max ${fragmentsMax}`,
        );
      await library.ready(patienceMs);
      const hits = await library.find(fragments, hitsMax);
      if (hits === undefined) return tooMany;
      const results = await Promise.all(hits.map((hit) => shown(hit, fragments)));
      return { query, results, complete: library.complete };
    },
    async list({ limit, after }) {
      await library.ready(patienceMs);
      const found = await library.newest(limit + 1, after);
      if (found === undefined) return tooMany;
      const documents = await Promise.all(found.slice(0, limit).map(titled));
      return { documents, hasMore: found.length > limit, complete: library.complete };
    },
    async read(path) {
      const segments = segmentsOf(path);
      const fit =
        segments !== undefined &&
        segments.length > 1 &&
        roots.includes(segments[0] ?? '') &&
        markdown.test(path) &&
        segments.every((segment) => !segment.startsWith('.'));
      if (!fit)
        return refuse(
          'BAD_REQUEST',
          { path: 'path' },
          'path must be a relative path of a Markdown file below knowledge/ or docs/, as returned by search',
        );
      const opened = await openJailed(home, path);
      if (opened === 'absent') return refuse('NOT_FOUND', { path }, 'Not found');
      if (typeof opened === 'string')
        return refuse('FORBIDDEN', { path }, 'The path is outside the readable folders.');
      try {
        const text = (await readStart(opened.handle, Math.min(opened.size, readBytesMax))).toString('utf8');
        const content =
          text.length > contentCharsMax
            ? text.slice(0, contentCharsMax).replace(/[\uD800-\uDBFF]$/, '')
            : text;
        return {
          path,
          title: titleOf(text, path),
          content,
          truncated: content.length < text.length || opened.size > readBytesMax,
          totalChars: text.length,
        };
      } finally {
        await opened.handle.close();
      }
    },
    close: () => library.close(),
  };
}

const roots: readonly string[] = ['knowledge', 'docs'];
const tooMany = refuse('BUSY', {}, 'Too many searches are running. Try again later.');
const hitsMax = 20;
const questionCharsMax = 1_024;
const shownBytesMax = 128 * 1_024;
const titleBytesMax = 32 * 1_024;
const fragmentsMax = 32;
const contentCharsMax = 20_000;
const readBytesMax = 8 * 2 ** 20;
/** For the first reading of a small house; a large one answers with what it has. */
const patienceMs = 2_000;
