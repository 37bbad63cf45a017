import { HomeError } from '../home-error.js';
import type { Destination } from './place.js';
import { manifestSchema, type Manifest } from './manifest.js';
import { isSame, type Seal } from './seal.js';

/**
 * The backups of one home, at a destination:
 *
 * ```
 * <instance>-<id>/repository.json     that it is one, of what instance, and whether it is encrypted
 * <instance>-<id>/objects/<digest>    contents: pieces of files, up to 4 MiB together
 * <instance>-<id>/backups/<time>      manifests. A backup is there when its manifest is, which is written last
 * ```
 *
 * An object belongs to every manifest that names it, so removing a backup never takes what another one needs.
 */
export interface Repository {
  readonly folder: string;
  readonly encrypted: boolean;
  /** The name of contents, see `Seal`. */
  digest(content: Uint8Array): string;
  /** Stores contents and answers their name. */
  keep(content: Uint8Array): Promise<string>;
  /** Rejects with a DamagedBackup where the object is missing or not what its name says. */
  content(object: string): Promise<Buffer>;
  /** Names of the backups, oldest first. */
  names(): Promise<readonly string[]>;
  read(name: string): Promise<Manifest>;
  write(name: string, manifest: Manifest): Promise<void>;
  /** Removes these backups, and then all objects that no other one needs. Answers how many objects went. */
  remove(names: readonly string[]): Promise<number>;
}

/** Something of a backup is missing, or not as it was written. */
export class DamagedBackup extends HomeError {
  constructor(folder: string, why: string, options?: ErrorOptions) {
    super('BAD_HOME', `The backups in ${folder} are damaged: ${why}.`, 'Use another backup.', options);
  }
}

/** What `repository.json` says; undefined where there is none. */
export interface RepositoryNote {
  readonly instance: string;
  readonly encrypted: boolean;
}

export async function readNote(
  destination: Destination,
  folder: string,
): Promise<RepositoryNote | undefined> {
  const bytes = await destination.get(inside(folder, noteName));
  if (bytes === undefined) return undefined;
  try {
    const { troupeBackups, instance, encrypted } = JSON.parse(bytes.toString('utf8')) as {
      troupeBackups: unknown;
      instance: unknown;
      encrypted: unknown;
    };
    if (troupeBackups !== 1) throw new Error('it was written by a newer version');
    return { instance: String(instance), encrypted: encrypted === true };
  } catch (cause) {
    throw new DamagedBackup(folder, `${noteName} cannot be read`, { cause });
  }
}

/** Begins a repository where there is none yet. */
export async function beginRepository(
  destination: Destination,
  folder: string,
  note: RepositoryNote,
): Promise<void> {
  const found = await readNote(destination, folder);
  if (found === undefined)
    return destination.put(
      inside(folder, noteName),
      Buffer.from(`${JSON.stringify({ troupeBackups: 1, ...note })}\n`),
    );
  if (found.encrypted !== note.encrypted)
    throw new HomeError(
      'BAD_HOME',
      `The backups in ${folder} are ${found.encrypted ? '' : 'not '}encrypted, and backup.encrypt says otherwise.`,
      'Change backup.encrypt back, or choose another place as backup.to.',
    );
}

/** `openRepository(destination, 'default-1f0c2a9b', seal)`; an empty folder: the top of the destination. */
export function openRepository(destination: Destination, folder: string, seal: Seal): Repository {
  const object = (name: string): string => inside(folder, `objects/${name}`);
  const backup = (name: string): string => inside(folder, `backups/${name}`);

  async function read(name: string): Promise<Manifest> {
    const sealed = await destination.get(backup(name));
    if (sealed === undefined) throw new DamagedBackup(folder, `there is no backup ${name}`);
    const text = await opened(sealed, name);
    const json = text.subarray(65);
    if (!isSame(text.toString('latin1', 0, 64), seal.digest(json)))
      throw new DamagedBackup(folder, `the list of ${name} is not as it was written`);
    const parsed = manifestSchema.safeParse(JSON.parse(json.toString('utf8')));
    if (!parsed.success) throw new DamagedBackup(folder, `the list of ${name} cannot be read`);
    return parsed.data;
  }

  async function opened(sealed: Buffer, what: string): Promise<Buffer> {
    try {
      return Buffer.from(await seal.open(sealed));
    } catch (cause) {
      throw new DamagedBackup(folder, `${what} cannot be opened with this key`, { cause });
    }
  }

  return {
    folder,
    encrypted: seal.encrypted,
    digest: (content) => seal.digest(content),
    async keep(content) {
      const name = seal.digest(content);
      await destination.put(object(name), await seal.close(content));
      return name;
    },
    async content(name) {
      const sealed = await destination.get(object(name));
      if (sealed === undefined) throw new DamagedBackup(folder, `the object ${name} is missing`);
      const content = await opened(sealed, `the object ${name}`);
      if (!isSame(seal.digest(content), name))
        throw new DamagedBackup(folder, `the object ${name} is not as it was written`);
      return content;
    },
    names: async () => [...(await destination.list(backup('')))].filter(isName).sort(),
    read,
    write(name, manifest) {
      const json = Buffer.from(JSON.stringify(manifest));
      const text = Buffer.concat([Buffer.from(`${seal.digest(json)}\n`, 'latin1'), json]);
      return seal.close(text).then((sealed) => destination.put(backup(name), sealed));
    },
    async remove(names) {
      for (const name of names) await destination.remove(backup(name));
      for (const part of ['objects', 'backups']) await destination.sweep(inside(folder, part));
      const needed = new Set<string>();
      for (const name of await this.names()) {
        const manifest = await read(name).catch((error: unknown) => {
          if (!(error instanceof DamagedBackup)) throw error;
        });
        if (manifest === undefined) return 0; // what cannot be read may need any object
        for (const entry of manifest.entries)
          if ('pieces' in entry) for (const piece of entry.pieces) needed.add(piece.object);
      }
      const unneeded = (await destination.list(object(''))).filter((name) => !needed.has(name));
      for (const name of unneeded) await destination.remove(object(name));
      return unneeded.length;
    },
  };
}

/** `2026-11-22T03-00-00-000Z`: colons do not go into names everywhere. */
export const nameAt = (at: number): string => new Date(at).toISOString().replaceAll(/[:.]/g, '-');

/** When a backup was made, epoch ms; NaN where the name is none. */
export function timeOf(name: string): number {
  const [all, hour, minutes, seconds, ms] =
    /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3})Z$/.exec(name) ?? [];
  return all === undefined ? Number.NaN : Date.parse(`${hour}:${minutes}:${seconds}.${ms}Z`);
}
const isName = (name: string): boolean => !Number.isNaN(timeOf(name));

const noteName = 'repository.json';
const inside = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);
