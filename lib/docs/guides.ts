import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The guides: Markdown files beside this source, which ship with the package. They are read at `/docs` of a
 * gateway and with `troupe help <topic>`; both show the same text.
 */
export interface Guide {
  /** `command-line`: its file without `.md`, and its topic. */
  readonly name: string;
  /** Its first heading. */
  readonly title: string;
  /** Its first paragraph: one sentence that says what the guide is for. */
  readonly about: string;
  readonly text: string;
}

/** In the order in which a newcomer would read them. */
export const topics = [
  'getting-started',
  'command-line',
  'security',
  'http-api',
  'client',
  'events',
  'engines',
  'connectors',
  'notifications',
  'workflows',
  'cron',
  'organisation',
  'console',
  'inspector',
  'embedding',
  'kinds',
  'xstate-6',
  'effects',
  'reference',
  'testing',
  'operations',
  'watching',
  'machines',
  'promises',
  'errors',
  'upgrading',
  'glossary',
] as const;

const guides = new Map<string, Guide>();

/** `readGuide('effects')?.title` → `Effects`; undefined where there is no such topic. */
export function readGuide(name: string): Guide | undefined {
  // Only names of the list above reach the disk.
  if (!topics.some((topic) => topic === name)) return undefined;
  const known = guides.get(name);
  if (known !== undefined) return known;
  const text = readBeside(`${name}.md`);
  const [, title = name, about = ''] = /^# (.+)\n+([^]+?)\n\n/.exec(text) ?? [];
  const guide = { name, title, about: about.replaceAll('\n', ' '), text };
  guides.set(name, guide);
  return guide;
}

export const allGuides = (): readonly Guide[] =>
  topics.flatMap((name) => {
    const guide = readGuide(name);
    return guide === undefined ? [] : [guide];
  });

/** The stylesheet of the pages. */
export const styleOfPages = (): string => readBeside('style.css');

/** From `dist/lib/docs/`, in a checkout as in the installed package, the sources lie three folders up. */
const readBeside = (file: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../lib/docs/${file}`, import.meta.url)), 'utf8');
