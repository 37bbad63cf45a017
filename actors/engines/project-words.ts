import { join } from 'node:path';
import { foldersUpToRoot, readPlain } from './project-settings.js';

/** Of one file, and of all together. */
const bytesMax = 64 * 1024;

/**
 * What a project says in words to agents whose program does not look for it itself, since no one trusted the
 * project's settings: of each folder from the root to the working folder the first of these files that says
 * something. For the beginning of the first prompt of a conversation; empty where there is none.
 * @example await projectWords('/home/me/project', ['CLAUDE.md']) // 'CLAUDE.md of this project says:\n…\n\n'
 */
export async function projectWords(
  cwd: string,
  names: readonly string[],
  isRead: (folder: string) => boolean = () => true,
): Promise<string> {
  const folders = (await foldersUpToRoot(cwd)).filter(isRead).toReversed();
  const texts = await Promise.all(folders.map((folder) => firstWords(folder, names)));
  const words = texts
    .filter((text) => text !== '')
    .join('\n\n')
    .slice(0, bytesMax);
  return words === '' ? '' : `${names.at(-1)} of this project says:\n${words}\n\n`;
}

async function firstWords(folder: string, names: readonly string[]): Promise<string> {
  for (const name of names) {
    const text = (await readPlain(join(folder, name), bytesMax))?.toString() ?? '';
    if (text.trim() !== '') return text;
  }
  return '';
}
