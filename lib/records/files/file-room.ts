import { readdir, realpath, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { Layout } from '../../home/layout.js';
import type { Environment } from '../../environment.js';
import { fetchBytes, TooLong, type FetchOptions } from '../fetch/fetch-bytes.js';
import {
  isInside,
  openJailed,
  openPlain,
  segmentsOf,
  type OpenError,
  type JailedFile,
} from '../jailed-file.js';
import { mimetypeOf, safeName } from './names.js';
import { staleMs, Staging, tooLarge, type Staged } from './staging.js';

/**
 * The bytes of managed files: how they come in (an upload, base64, an address, a path), where they lie and
 * how they are opened. What is known of them is a durable actor of kind `file`; bytes come first and go last,
 * so that what belongs to no one after an hour is what a crash left behind.
 */
export interface FileRoom {
  readonly staging: Staging;
  readonly limits: FileLimits;
  /** Bring the bytes of a source into the home. */
  stage(source: FileSource): Promise<StagedFile | Refusal>;
  /** Move staged bytes to the place of a file that is about to be created; answers what the file must know. */
  settle(
    staged: StagedFile,
    file: { readonly id: string; readonly filename?: string | undefined; readonly sessionId: string | null },
  ): Promise<FileFacts>;
  /** A managed file by its path below the home, `files/…` or `uploads/…`. */
  open(path: string): Promise<JailedFile | OpenError>;
  remove(path: string): Promise<void>;
  /** Remove what lies there for more than an hour and belongs to no file. */
  sweep(isKept: (id: string) => Promise<boolean>): Promise<void>;
}

export interface FileLimits {
  /** Of one file. Default 50 MiB. */
  readonly fileBytesMax: number;
  /** Of all together. Default 10 GiB. */
  readonly totalBytesMax: number;
  /** Default 100,000. */
  readonly filesMax: number;
}

export type FileSource =
  | { readonly type: 'upload'; readonly path: string; readonly filename: string }
  | { readonly type: 'content'; readonly base64: string }
  /** `hosts`: as in `FetchOptions`. */
  | { readonly type: 'url'; readonly url: string; readonly hosts?: readonly string[] | undefined }
  /**
   * A relative path begins at `base`; wherever it begins, it must lie in one of `folders`. `readAs`: what the agent
   * reads whose folder `base` is, for the gateway must read nothing there that the agent could not; rejects with
   * `Unreadable`.
   */
  | {
      readonly type: 'path';
      readonly path: string;
      readonly base: string;
      readonly folders: readonly string[];
      readonly anywhere: boolean;
      readonly readAs?: ((path: string) => AsyncIterable<Uint8Array>) | undefined;
    };

/** An agent could not have read this file. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

export interface StagedFile extends Staged {
  /** What the source calls itself. */ readonly name: string | undefined;
}
export interface FileFacts {
  readonly filename: string;
  readonly mimetype: string;
  readonly size: number;
  readonly sha256: string;
  readonly path: string;
}

/** `await openFileRoom({layout, environment})`. The folders are made when they are first needed. */
export async function openFileRoom(options: {
  readonly layout: Layout;
  readonly environment: Environment;
  readonly limits?: Partial<FileLimits>;
  readonly fetch?: Partial<FetchOptions>;
}): Promise<FileRoom> {
  const { layout, environment } = options;
  const limits: FileLimits = {
    fileBytesMax: 50 * 2 ** 20,
    totalBytesMax: 10 * 2 ** 30,
    filesMax: 100_000,
    ...options.limits,
  };
  const staging = new Staging(join(layout.temporary, 'uploads'), limits.fileBytesMax, () =>
    environment.ids.next(),
  );
  await staging.open();
  const upMs = (): number => environment.clock.sinceBoot?.().ms ?? environment.clock.monotonic();
  const began = { wall: environment.clock.now(), upMs: upMs() };
  let fetching = 0;

  async function fromUrl({
    url,
    hosts,
  }: Extract<FileSource, { type: 'url' }>): Promise<StagedFile | Refusal> {
    if (fetching >= fetchesMax) return refuse('BUSY');
    fetching += 1;
    try {
      const fetched = await fetchBytes(url, {
        ...options.fetch,
        bytesMax: limits.fileBytesMax,
        ...(hosts && { hosts }),
      });
      if (isRefusal(fetched)) return fetched;
      const staged = await staging.take(fetched.body);
      return isRefusal(staged) ? staged : { ...staged, name: lastSegment(fetched.url.pathname) };
    } catch (error) {
      return error instanceof TooLong
        ? tooLarge(limits.fileBytesMax)
        : refuse('FETCH_FAILED', {}, 'The download was interrupted or timed out.');
    } finally {
      fetching -= 1;
    }
  }

  async function fromPath(source: Extract<FileSource, { type: 'path' }>): Promise<StagedFile | Refusal> {
    const opened = await openSource(source);
    if (typeof opened === 'string') return openRefusal(opened, 'path');
    try {
      if (await isSecret(opened.path)) return openRefusal('outside', 'path');
      if (opened.size > limits.fileBytesMax) return tooLarge(limits.fileBytesMax);
      const bytes =
        (opened.folder === source.base ? source.readAs?.(opened.path) : undefined) ??
        (opened.handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>);
      const staged = await staging.take(bytes);
      return isRefusal(staged) ? staged : { ...staged, name: lastSegment(opened.path) };
    } catch (error) {
      if (error instanceof Unreadable) return openRefusal('outside', 'path');
      throw error;
    } finally {
      await opened.handle.close();
    }
  }

  /**
   * A paired browser has an operator's authority, until it is removed: a copy of the token, or of a key, would
   * outlast that. So of the home nothing is copied but what people and agents keep there, wherever else copying was
   * opened.
   */
  async function isSecret(path: string): Promise<boolean> {
    const home = await realpath(layout.home);
    const kept = [
      layout.work,
      layout.files,
      layout.uploads,
      layout.org,
      layout.skills,
      layout.knowledge,
      layout.docs,
      layout.workflowEvidence,
    ];
    return (
      path.startsWith('/proc/') ||
      (isInside(home, path) &&
        !kept.some((place) => isInside(join(home, relative(layout.home, place)), path)))
    );
  }

  return {
    staging,
    limits,
    async stage(source) {
      switch (source.type) {
        case 'upload':
          return { ...(await staging.adopt(source.path)), name: source.filename };
        case 'url':
          return fromUrl(source);
        case 'path':
          return fromPath(source);
        case 'content': {
          const bytes = strictBase64(source.base64);
          if (bytes === undefined)
            return refuse('BAD_REQUEST', { path: 'content' }, 'content: must be base64 (RFC 4648, padded)');
          const staged = await staging.take(once(bytes));
          return isRefusal(staged) ? staged : { ...staged, name: undefined };
        }
      }
    },
    async settle(staged, { id, filename, sessionId }) {
      const name = safeName(filename ?? staged.name ?? 'file');
      const day = new Date(environment.clock.now()).toISOString().slice(0, 10);
      const path = sessionId === null ? `files/${id}/${name}` : `uploads/${day}/${sessionId}/${id}-${name}`;
      await staging.settle(staged, join(layout.home, path));
      return { filename: name, mimetype: mimetypeOf(name), size: staged.size, sha256: staged.sha256, path };
    },
    async open(path) {
      return managed.test(path) ? openJailed(layout.home, path) : 'malformed';
    },
    async remove(path) {
      const place = join(layout.home, path);
      await rm(place, { force: true });
      await rmdir(dirname(place)).catch(() => undefined); // others may still lie there
    },
    async sweep(isKept) {
      // A file that is being written is not old because the wall has leapt
      const now = Math.min(environment.clock.now(), began.wall + upMs() - began.upMs);
      await staging.sweep(now);
      await sweepFiles(layout.files, isKept, now);
      await sweepUploads(layout.uploads, isKept, now);
    },
  };
}

const fetchesMax = 4;
const managed = /^(?:files|uploads)\//;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/** The refusal for a place that may not be opened. */
export function openRefusal(why: OpenError, path: string): Refusal {
  if (why === 'absent') return refuse('NOT_FOUND', { path }, 'Not found');
  return why === 'malformed'
    ? refuse('BAD_REQUEST', { path }, `${path}: must be a relative path of plain names`)
    : refuse('FORBIDDEN', { path }, 'The path is outside the readable folders.');
}

async function openSource({
  path: given,
  base,
  folders,
  anywhere,
}: Extract<FileSource, { type: 'path' }>): Promise<
  (JailedFile & { readonly folder: string | undefined }) | OpenError
> {
  const from = (opened: JailedFile | OpenError, folder?: string) =>
    typeof opened === 'string' ? opened : { ...opened, folder };
  if (!isAbsolute(given) && segmentsOf(given) === undefined) return 'malformed';
  const path = isAbsolute(given) ? given : join(base, given);
  for (const folder of folders) {
    for (const root of [folder, await realpath(folder).catch(() => folder)])
      if (isInside(root, path)) return from(await openJailed(root, relative(root, path)), folder);
  }
  return anywhere && !path.includes('\0') ? from(await openPlain(path)) : 'outside';
}

function strictBase64(text: string): Buffer | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  // No bits left over in the last letters
  return bytes.subarray(-(bytes.length % 3 || 3)).toString('base64') === text.slice(-4) ? bytes : undefined;
}

async function* once(bytes: Buffer): AsyncIterable<Buffer> {
  yield bytes;
}

function lastSegment(path: string): string | undefined {
  const last = path.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last) || undefined;
  } catch {
    return last; // a percent sign that encodes nothing
  }
}

/** `files/<id>/…`. What is called otherwise was put there by people, and stays. */
async function sweepFiles(
  folder: string,
  isKept: (id: string) => Promise<boolean>,
  now: number,
): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (
      uuid.test(name) &&
      name.length === 36 &&
      (await isStale(join(folder, name), now)) &&
      !(await isKept(name))
    )
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** `uploads/<date>/<session>/<id>-<name>` */
async function sweepUploads(
  folder: string,
  isKept: (id: string) => Promise<boolean>,
  now: number,
): Promise<void> {
  for (const day of await foldersIn(folder)) {
    for (const session of await foldersIn(join(folder, day))) {
      for (const name of await namesIn(join(folder, day, session))) {
        const path = join(folder, day, session, name);
        const id = uuid.exec(name)?.[0];
        if (id !== undefined && (await isStale(path, now)) && !(await isKept(id)))
          await rm(path, { force: true });
      }
      await rmdir(join(folder, day, session)).catch(() => undefined); // only when nothing is left in it
    }
    await rmdir(join(folder, day)).catch(() => undefined);
  }
}

/** Not through links: what lies behind them is not ours to sweep. */
const foldersIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder, { withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);

async function isStale(path: string, now: number): Promise<boolean> {
  const facts = await stat(path).catch(() => undefined);
  return facts !== undefined && now - facts.mtimeMs > staleMs;
}
