import { stat } from 'node:fs/promises';
import * as z from 'zod';
import type { KeptSubscription } from '../push/encrypt-push.js';
import { contentHash, readPlainFile, writeAtomically } from '../../home/atomic-file.js';

/**
 * auth-devices.json: the browsers that were let in, each with the hash of its secret. The file is the truth
 * and fails closed: what is damaged, belongs to someone else or could be written by others names no device
 * at all.
 */
export interface StoredDevice {
  readonly id: string;
  readonly name: string;
  /** Who uses it, as people have named them. */
  readonly person?: string | undefined;
  readonly kind: 'local' | 'remote' | 'token';
  /** ISO times. */
  readonly createdAt: string;
  readonly lastSeenAt: string;
  readonly lastIp?: string | undefined;
  readonly userAgent?: string | undefined;
  /** SHA-256 of the secret, hex. */
  readonly tokenHash: string;
  /** Where it is notified, if it asked for that. */
  readonly push?: KeptSubscription | undefined;
}

export interface DeviceFile {
  readonly devices: readonly StoredDevice[];
  /** Of the bytes, to notice someone else's change before writing; null when absent. */
  readonly hash: string | null;
}

/** What is wrong with the file, for a person. */
export class DevicesDamaged extends Error {
  override readonly name = 'DevicesDamaged';
  readonly code = 'DEVICES_DAMAGED';
}

/** `await readDeviceFile(layout.authDevices)`: none when absent. Rejects with DevicesDamaged. */
export async function readDeviceFile(path: string): Promise<DeviceFile> {
  const bytes = await readPlainFile(path, deviceFileBytesMax).catch((error: Error) => {
    throw new DevicesDamaged(error.message, { cause: error });
  });
  if (bytes === undefined) return { devices: [], hash: null };
  const { uid, mode } = await stat(path);
  if (process.getuid !== undefined && uid !== process.getuid())
    throw new DevicesDamaged(`${path} belongs to another user (uid ${uid}).`);
  if ((mode & 0o077) !== 0)
    throw new DevicesDamaged(
      `${path} is open to other users of this machine (mode ${(mode & 0o777).toString(8)}): they may ` +
        'have written it. Check it, then chmod 600 it.',
    );
  const parsed = schema.safeParse(json(bytes, path));
  if (!parsed.success)
    throw new DevicesDamaged(
      `${path} is damaged: "${parsed.error.issues[0]?.path.join('.') ?? ''}" is missing or malformed.`,
    );
  const { devices } = parsed.data;
  if (new Set(devices.map(({ id }) => id)).size !== devices.length)
    throw new DevicesDamaged(`${path} is damaged: it names a device twice.`);
  return { devices, hash: contentHash(bytes) };
}

/**
 * Written through before it answers. Rejects with CHANGED_MEANWHILE when someone else wrote since `hash`.
 */
export async function writeDeviceFile(
  path: string,
  devices: readonly StoredDevice[],
  hash: string | null,
): Promise<DeviceFile> {
  const content = `${JSON.stringify({ devices }, null, 2)}\n`;
  await writeAtomically(path, content, { mode: 0o600, unlessChangedFrom: hash });
  return { devices, hash: contentHash(content) };
}

/** Something that differs whenever the file may have changed; `absent` when there is none. */
export async function deviceFileMark(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${ino}.${size}.${mtimeNs}.${ctimeNs}`;
  } catch {
    return 'absent'; // or unreadable, which the reading will say
  }
}

const deviceFileBytesMax = 2 ** 20;

const schema = z.object({
  devices: z
    .array(
      z.object({
        id: z.string().regex(/^[\w-]{1,64}$/),
        name: z.string().max(200),
        person: z.string().max(80).optional(),
        kind: z.enum(['local', 'remote', 'token']),
        createdAt: z.iso.datetime(),
        lastSeenAt: z.iso.datetime(),
        lastIp: z.string().max(64).optional(),
        userAgent: z.string().max(400).optional(),
        tokenHash: z.string().regex(/^[0-9a-f]{64}$/),
        push: z
          .object({
            endpoint: z.string().max(1_024),
            keys: z.object({ p256dh: z.string().max(100), auth: z.string().max(30) }),
            sender: z.string().max(100),
          })
          .optional(),
      }),
    )
    .max(1_000),
});

function json(bytes: Buffer, path: string): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new DevicesDamaged(`${path} is damaged: it is not JSON.`); // the parser's own message would quote the content
  }
}
