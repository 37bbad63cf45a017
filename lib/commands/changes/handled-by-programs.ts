import type { WorkPlace } from './work-place.js';

/**
 * Some files are not stored as they lie in the folder, or are merged by a program (`.gitattributes`: large files,
 * encrypted ones). Such programs are never started here, so these files would come out as something else: they are a
 * person's to handle. Answers why, or undefined where there are none among `paths`.
 */
export async function handledByPrograms(
  place: Pick<WorkPlace, 'ask'>,
  paths: readonly string[],
): Promise<string | undefined> {
  for (let from = 0; from < paths.length; from += pathsAtOnce) {
    const some = paths.slice(from, from + pathsAtOnce);
    const fields = (await place.ask('check-attr', '-z', 'filter', 'merge', '--', ...some)).split('\0');
    for (let n = 0; n + 2 < fields.length; n += 3) {
      const [path = '', attribute = '', value = ''] = fields.slice(n, n + 3);
      if (!builtIn.has(value))
        return `${path} has "${attribute}=${value}": a program that Troupe does not start. Use git yourself.`;
    }
  }
  return undefined;
}

const builtIn: ReadonlySet<string> = new Set(['unspecified', 'unset', 'set', 'text', 'binary', 'union']);
const pathsAtOnce = 500;
