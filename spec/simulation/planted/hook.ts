import type { Edit } from './planted.js';

/** Module hooks: changes the compiled code of planted faults while it is loaded. */
let edits: readonly Edit[] = [];

export function initialize(given: readonly Edit[]): void {
  edits = given;
}

interface Loaded {
  readonly source?: unknown;
}

export async function load<Result extends Loaded>(
  url: string,
  context: unknown,
  next: (url: string, context: unknown) => Promise<Result>,
): Promise<Result> {
  const loaded = await next(url, context);
  const own = edits.filter(({ file }) => url.endsWith(`/dist/${file}`));
  return own.length === 0 ? loaded : { ...loaded, source: own.reduce(edited, String(loaded.source)) };
}

export function edited(source: string, { file, from, to }: Edit): string {
  const parts = source.split(from);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} places like: ${from}`);
  return parts.join(to);
}
