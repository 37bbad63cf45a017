import { parseDocument } from 'yaml';
import { readPlainFile, writeAtomically } from './atomic-file.js';
import { configBytesMax } from './read-config.js';
import { embeddedStore } from './store-setting.js';

/**
 * Takes `store` out of the config.yaml of a home that was restored into its own folder: it names the database that the
 * backup was made from, which may still be there, with another node on it. Answers what it named, without the user;
 * undefined where nothing had to be changed. One that cannot be read stays as it is: the start says what is wrong.
 * @example await useOwnStore(join(folder, 'config.yaml')) // 'postgres://db.example/troupe?home=main'
 */
export async function useOwnStore(path: string): Promise<string | undefined> {
  const text = (await readPlainFile(path, configBytesMax).catch(() => undefined))?.toString('utf8') ?? '';
  const document = parseDocument(text);
  if (document.errors.length > 0 || document.contents === null) return undefined;
  const { store } = (document.toJS() ?? {}) as { readonly store?: unknown };
  if (typeof store !== 'string' || store === embeddedStore) return undefined;
  document.set('store', embeddedStore);
  await writeAtomically(path, String(document), { mode: 0o600 });
  return URL.canParse(store) ? withoutUser(new URL(store)) : 'a database';
}

function withoutUser(url: URL): string {
  url.username = '';
  url.password = '';
  return url.href;
}
