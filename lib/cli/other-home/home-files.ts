import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BundledFile } from '../../records/bundles/session-shape.js';
import { openJailed } from '../../records/jailed-file.js';
import type { Database } from './database.js';
import type { ImportLedger } from './report.js';
import { gathering, type SendOptions } from './send.js';
import { textOf, type KnownTables } from './tables.js';

/** Managed files of the other home, by their ids: `files/<id>/<name>`, or where the database says that they lie. */
export interface HomeFiles {
  /** Without its bytes where it is too large; undefined: it is not there, or leads out of the home. */
  read(id: string): Promise<BundledFile | undefined>;
  /** Its bytes were taken with a session: as a file of none they would outlive it. */
  cameWithSession(file: BundledFile): void;
  hasCome(file: BundledFile): boolean;
}

/** `(await homeFiles('/home/me/.other', database, tables).read(id))?.content` */
export function homeFiles(
  home: string,
  database: Database | undefined,
  { files }: Partial<KnownTables>,
): HomeFiles {
  const come = new Set<string>();
  return {
    cameWithSession: ({ sha256, name, content }) => content !== undefined && come.add(`${sha256} ${name}`),
    hasCome: ({ sha256, name }) => come.has(`${sha256} ${name}`),
    async read(id) {
      const [row] =
        files === undefined || database === undefined
          ? []
          : database.rows(files, { where: { column: 'id', is: id } });
      const named = row === undefined ? undefined : textOf(row, 'path', 1_000);
      const places = named === undefined || named.startsWith('/') ? await placesOf(home, id) : [named];
      for (const place of places) {
        const name = (row && textOf(row, 'filename', 255)) ?? place.split('/').at(-1) ?? id;
        const file = await readFileOf(home, place, name);
        if (file !== undefined) return file;
      }
      return undefined;
    },
  };
}

const placesOf = async (home: string, id: string): Promise<readonly string[]> =>
  (await readdir(join(home, 'files', id)).catch(() => [])).map((name) => `files/${id}/${name}`);

async function readFileOf(home: string, place: string, name: string): Promise<BundledFile | undefined> {
  if (!/^(?:files|uploads)\//.test(place)) return undefined;
  const opened = await openJailed(home, place);
  if (typeof opened === 'string') return undefined;
  try {
    const hash = createHash('sha256');
    const pieces: Buffer[] = [];
    for await (const piece of opened.handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
      hash.update(piece);
      if (opened.size <= fileBytesMax) pieces.push(piece);
    }
    const sha256 = hash.digest('hex');
    return opened.size <= fileBytesMax
      ? { sha256, name, content: Buffer.concat(pieces).toString('base64') }
      : { sha256, name };
  } finally {
    await opened.handle.close();
  }
}

/** More does not fit into one request beside other things. */
const fileBytesMax = 1_000_000;

/** Files that stand in `files/` and came with no session. */
export async function importFiles(home: string, files: HomeFiles, options: SendOptions): Promise<void> {
  const whole = gathering(options);
  const entries = await readdir(join(home, 'files'), { withFileTypes: true }).catch(() => []);
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const file = entry.isDirectory() ? await files.read(entry.name) : undefined;
    if (file !== undefined && files.hasCome(file)) continue;
    if (file === undefined)
      leaveFile(options.ledger, entry.name, 'It is no managed file, or leads elsewhere.');
    else if (file.content === undefined)
      leaveFile(options.ledger, file.name, 'It has more than 1,000,000 bytes: upload it by hand.');
    else {
      const { sha256, name, content } = file;
      await whole.add({ area: 'file', name: `file ${name}`, part: { uploads: [{ sha256, name, content }] } });
    }
  }
  await whole.flush();
}

const leaveFile = (ledger: ImportLedger, name: string, why: string): void => ledger.leave('file', name, why);

/** Texts are small, and none is read behind a link: the maker of the folder could name any file by one. */
export const unreadable = 'It has more than 262,144 bytes, or leads elsewhere.';

/** `await readPlain('/home/me/.other', 'cron/jobs.json')`; undefined: it is not there, too large, or leads elsewhere. */
export async function readPlain(home: string, path: string): Promise<string | undefined> {
  const opened = await openJailed(home, path);
  if (typeof opened === 'string') return undefined;
  try {
    return opened.size > 262_144 ? undefined : await opened.handle.readFile('utf8');
  } finally {
    await opened.handle.close();
  }
}

/** Names in a folder, in order; none where there is no such folder. */
export const namesIn = async (home: string, folder: string): Promise<readonly string[]> =>
  (await readdir(join(home, folder)).catch((): string[] => [])).sort();
