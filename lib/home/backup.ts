import { join } from 'node:path';
import * as z from 'zod';
import { announceStopped, readAnnouncement } from './announce.js';
import { isWithinHome, keptParts, realPlace } from './backups/kept-parts.js';
import { makeFolder, readPlainFile, writeAtomically } from './atomic-file.js';
import { copyTree, type Copied } from './copy-tree.js';
import { HomeError } from './home-error.js';
import type { Layout } from './layout.js';
import { freePlace, inside, whole } from './new-folder.js';
import { useOwnStore } from './own-store.js';

/**
 * A backup is a folder: the store as of one commit, the files of the home, and a list of both with their
 * hashes. The store is copied first: a file is written before the commit that speaks of it, so every file
 * that the copied store knows is there to be copied after it. A backup appears under its name only when it is
 * whole.
 *
 * Not in it: `work/` (the agents' working folders, which are theirs to keep), `logs/` and `tmp/`.
 */
export interface BackupReport {
  readonly target: string;
  readonly files: number;
  readonly bytes: number;
  /** Position of the last commit in the copied store. */
  readonly seq: number;
}

/** Copies a store into an empty folder, or back from one; answers the position of its last commit. */
export type CopyStore = (folder: string) => Promise<{ readonly seq: number }>;

/**
 * `await backUp(layout, target, (folder) => store.backup(folder))`. `target` must not exist, or be an empty
 * folder outside the home.
 */
export async function backUp(
  layout: Layout,
  target: string,
  copyStore: CopyStore,
  at: number,
): Promise<BackupReport> {
  const place = await freePlace(target, 'The backup');
  const parts = await keptParts(layout.home);
  if (
    (await isWithinHome(layout.home, place, parts)) ||
    inside(await realPlace(place), await realPlace(layout.home))
  )
    throw new HomeError(
      'BAD_HOME',
      `${place} is inside the home, or contains it.`,
      'Choose a folder elsewhere.',
    );
  return whole(place, async (folder) => {
    await makeFolder(join(folder, storeFolder));
    const { seq } = await copyStore(join(folder, storeFolder));
    const files: Copied[] = [];
    for (const { name, at: from } of parts) files.push(...(await copyTree(from, folder, name)));
    const manifest: Manifest = {
      troupeBackup: 1,
      at: new Date(at).toISOString(),
      instance: layout.instance,
      seq,
      files,
    };
    await writeAtomically(join(folder, manifestName), `${JSON.stringify(manifest, null, 1)}\n`, {
      mode: 0o600,
    });
    return {
      target: place,
      files: files.length,
      bytes: files.reduce((sum, file) => sum + file.bytes, 0),
      seq,
    };
  });
}

/**
 * `await restore(source, layout, copyStoreBack)`: a home as it was at the backup. The home must not exist, or
 * be an empty folder: nothing is ever overwritten.
 */
export async function restore(
  source: string,
  layout: Layout,
  copyStoreBack: (from: string, home: string) => Promise<{ readonly seq: number }>,
): Promise<BackupReport & { readonly movedFrom: string | undefined }> {
  const manifest = await readManifest(source);
  const place = await freePlace(layout.home, 'The home');
  return whole(place, async (folder) => {
    const { seq } = await copyStoreBack(join(source, storeFolder), folder);
    if (seq !== manifest.seq)
      throw damaged(source, `its store ends at ${seq}, its manifest says ${manifest.seq}`);
    const files: Copied[] = [];
    // As they are listed, for what `config.yaml` names may lie elsewhere seen from here
    for (const name of listedNames(source, manifest.files))
      files.push(...(await copyTree(join(source, name), folder, name)));
    compare(source, manifest.files, files);
    const announcementFile = join(folder, 'gateway.json');
    const announcement = await readAnnouncement(announcementFile);
    if (announcement !== undefined) await announceStopped(announcementFile, announcement);
    const movedFrom = await useOwnStore(join(folder, 'config.yaml'));
    return {
      movedFrom,
      target: place,
      files: files.length,
      bytes: files.reduce((sum, file) => sum + file.bytes, 0),
      seq,
    };
  });
}

const storeFolder = 'store-backup';
const manifestName = 'backup.json';
const manifestBytesMax = 2 ** 28;

const manifestSchema = z.object({
  troupeBackup: z.literal(1),
  at: z.string(),
  instance: z.string(),
  seq: z.int().min(0),
  files: z.array(z.object({ path: z.string(), bytes: z.int().min(0), sha256: z.string(), mode: z.int() })),
});
type Manifest = z.infer<typeof manifestSchema>;

async function readManifest(source: string): Promise<Manifest> {
  const bytes = await readPlainFile(join(source, manifestName), manifestBytesMax);
  if (bytes === undefined)
    throw new HomeError(
      'BAD_HOME',
      `${source} is not a backup: it has no ${manifestName}.`,
      'Use a folder written by troupe backup.',
    );
  try {
    return manifestSchema.parse(JSON.parse(bytes.toString('utf8')));
  } catch (cause) {
    throw damaged(source, `its ${manifestName} cannot be read`, cause);
  }
}

/** First parts of what is listed. None leads out of the backup, or to what is copied back in another way. */
function listedNames(source: string, listed: readonly Copied[]): readonly string[] {
  const names = [...new Set(listed.map(({ path }) => path.split(/[\\/]/, 1)[0] ?? ''))];
  const wrong = names.find((name) => ['', '.', '..', storeFolder, manifestName].includes(name));
  if (wrong !== undefined) throw damaged(source, `its ${manifestName} lists what is not in it`);
  return names;
}

function compare(source: string, listed: readonly Copied[], found: readonly Copied[]): void {
  const hashes = new Map(found.map((file) => [file.path, file.sha256]));
  for (const { path, sha256 } of listed) {
    const hash = hashes.get(path);
    if (hash === undefined) throw damaged(source, `${path} is missing`);
    if (hash !== sha256) throw damaged(source, `${path} has changed since`);
  }
}

const damaged = (source: string, why: string, cause?: unknown): HomeError =>
  new HomeError(
    'BAD_HOME',
    `The backup ${source} is damaged: ${why}.`,
    'Use another backup; nothing was changed.',
    { cause },
  );
