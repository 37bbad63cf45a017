import { folders, type Edit } from './planted.js';

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
  if (!folders.some((folder) => url.includes(`/${folder}/`))) return loaded;
  return { ...loaded, source: edits.reduce(edited, String(loaded.source)) };
}

const edited = (source: string, { from, to }: Edit): string => source.split(from).join(to);
