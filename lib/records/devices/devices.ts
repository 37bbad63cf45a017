import { createHash, timingSafeEqual } from 'node:crypto';
import {
  deviceFileMark,
  DevicesDamaged,
  readDeviceFile,
  writeDeviceFile,
  type DeviceFile,
  type StoredDevice,
} from './device-file.js';
import { HomeError } from '../../home/home-error.js';
import { isoTime } from '../../../machines/sortable.js';
import type { KeptSubscription } from '../push/encrypt-push.js';
import type { NewDevice } from '../../../machines/pairing-code/machine.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import type { Environment } from '../../environment.js';

/**
 * The paired browsers. One writer, the file first: a device counts from the moment when it is on disk, and no
 * longer from the moment when it is gone from there, no matter who removed it – an edit by hand is noticed within a
 * second.
 */
export interface DeviceBook {
  /** Newest seen first; a refusal when the file cannot be used. */
  list(): Promise<readonly Device[] | Refusal>;
  /** The device to which id and secret belong. No one, while the file cannot be used. */
  verify(id: string, secret: string): Promise<Device | undefined>;
  /** Write a new device down; the same id again changes nothing. Rejects with DevicesDamaged. */
  keep(device: NewDevice): Promise<void>;
  /**
   * False when there is no such device. The file is written before this answers and before `onRevoked` is
   * told.
   */
  revoke(id: string): Promise<boolean | Refusal>;
  /** Name who uses a device; null: no one. False when there is no such device. */
  namePerson(id: string, person: string | null): Promise<boolean | Refusal>;
  /** Where a device is notified from now on; null: nowhere. False when there is no such device. */
  notifyAt(id: string, push: KeptSubscription | null): Promise<boolean | Refusal>;
  /** Where devices are notified, by their ids; of those that are let in. */
  notified(): Promise<ReadonlyMap<string, KeptSubscription>>;
  /** The name of who uses it, as far as it is known. */
  personOf(id: string): string | undefined;
  /** It was here: kept at most once per minute and device. */
  seen(id: string, ip: string | undefined): void;
  /** Told of every device that is no longer let in. Returns the way to unsubscribe. */
  onRevoked(listener: (id: string) => void): () => void;
  close(): Promise<void>;
}

/** A device as people may see it. */
export type Device = Omit<StoredDevice, 'tokenHash' | 'push'>;

export async function openDevices(options: {
  readonly path: string;
  readonly environment: Environment;
}): Promise<DeviceBook> {
  const { path, environment } = options;
  const { log } = environment;
  const listeners = new Set<(id: string) => void>();
  const unsaved = new Map<string, { at: number; ip: string | undefined }>();
  let known: DeviceFile = { devices: [], hash: null };
  let damage: string | undefined;
  let mark: string | undefined;
  let checkedAt = -Infinity;
  let running: Promise<unknown> = Promise.resolve();

  /** One operation after another: the file has one writer. */
  function inOrder<Result>(operation: () => Promise<Result>): Promise<Result> {
    const mine = running.then(operation);
    running = mine.catch(() => undefined);
    return mine;
  }

  /** The browser throws its cookies away after a year; anyone who has copied them does not. */
  const isYoung = ({ createdAt }: StoredDevice): boolean =>
    environment.clock.now() - Date.parse(createdAt) < lifetimeMs;

  function learn(next: DeviceFile): void {
    const gone = known.devices.filter(({ id }) => !next.devices.some((device) => device.id === id));
    known = next;
    for (const { id } of gone) for (const listener of [...listeners]) listener(id);
  }

  async function poll(): Promise<void> {
    checkedAt = environment.clock.monotonic();
    const now = await deviceFileMark(path);
    if (now === mark) return;
    try {
      learn(await readDeviceFile(path));
      damage = undefined;
    } catch (error) {
      if (damage === undefined)
        log.error({ err: error }, 'file of paired browsers is unusable; paired browsers have no access');
      damage = error instanceof Error ? error.message : String(error);
      learn({ devices: [], hash: null });
    }
    mark = now;
  }

  const fresh = async (): Promise<void> => {
    if (environment.clock.monotonic() - checkedAt >= pollEveryMs) await inOrder(poll);
  };

  /** Change what the file says; once more on top of what someone else wrote in the meantime. */
  async function change(next: (devices: readonly StoredDevice[]) => readonly StoredDevice[]): Promise<void> {
    for (let tries = 0; ; tries++) {
      mark = undefined;
      await poll();
      if (damage !== undefined) throw new DevicesDamaged(damage);
      const wanted = next(known.devices);
      if (wanted === known.devices) return;
      try {
        const written = await writeDeviceFile(path, wanted, known.hash);
        mark = await deviceFileMark(path);
        return learn(written);
      } catch (error) {
        if (tries > 0 || !(error instanceof HomeError) || error.code !== 'CHANGED_MEANWHILE') throw error;
      }
    }
  }

  /** False when there is no such device; a refusal while the file cannot be used. */
  async function changeOne(
    id: string,
    next: (devices: readonly StoredDevice[]) => readonly StoredDevice[],
  ): Promise<boolean | Refusal> {
    try {
      return await inOrder(async () => {
        let found = false;
        await change((devices) => {
          found = devices.some((device) => device.id === id);
          return found ? next(devices) : devices;
        });
        return found;
      });
    } catch (error) {
      if (error instanceof DevicesDamaged) return refuse('DEVICES_DAMAGED', {}, error.message);
      throw error;
    }
  }

  const saving = setInterval(
    () =>
      void save().catch((error: unknown) =>
        log.warn({ err: error }, 'could not store when browsers were last seen'),
      ),
    saveEveryMs,
  ).unref();

  async function save(): Promise<void> {
    if (unsaved.size === 0 || damage !== undefined) return;
    const news = new Map(unsaved);
    unsaved.clear();
    await inOrder(() =>
      change((devices) =>
        devices.map((device) => {
          const { at, ip } = news.get(device.id) ?? {};
          return at === undefined
            ? device
            : { ...device, lastSeenAt: isoTime(at), ...(ip !== undefined && { lastIp: ip }) };
        }),
      ),
    );
  }

  await inOrder(poll);
  return {
    async list() {
      await fresh();
      if (damage !== undefined) return refuse('DEVICES_DAMAGED', {}, damage);
      return known.devices
        .filter(isYoung)
        .map((device) => seenNow(device, unsaved.get(device.id)?.at))
        .sort((one, other) => (one.lastSeenAt < other.lastSeenAt ? 1 : -1));
    },
    async verify(id, secret) {
      await fresh();
      const hash = hashOfSecret(secret);
      const found = known.devices.find((device) => device.id === id);
      // compared also where there is no such device: how long the answer takes says nothing
      const same = timingSafeEqual(
        Buffer.from(hash, 'hex'),
        Buffer.from(found?.tokenHash ?? '0'.repeat(64), 'hex'),
      );
      return found && same && isYoung(found) ? publicOf(found) : undefined;
    },
    keep: (device) =>
      inOrder(() =>
        change((devices) => {
          if (devices.some(({ id }) => id === device.id)) return devices;
          // Only where room is needed: by a clock that is wrong for a moment all of them are too old
          const known = devices.length < devicesMax ? devices : devices.filter(isYoung);
          if (known.length >= devicesMax)
            throw new Error(`There are ${devicesMax} paired browsers already. Remove some.`);
          return [...known, stored(device)];
        }),
      ),
    revoke: (id) => changeOne(id, (devices) => devices.filter((device) => device.id !== id)),
    namePerson: (id, person) =>
      changeOne(id, (devices) =>
        devices.map(({ person: before, ...device }) =>
          device.id === id
            ? { ...device, ...(person !== null && { person }) }
            : { ...device, ...(before !== undefined && { person: before }) },
        ),
      ),
    notifyAt: (id, push) =>
      changeOne(id, (devices) =>
        devices.map(({ push: before, ...device }) =>
          device.id === id
            ? { ...device, ...(push !== null && { push }) }
            : { ...device, ...(before !== undefined && { push: before }) },
        ),
      ),
    async notified() {
      await fresh();
      return new Map(
        known.devices
          .filter(isYoung)
          .flatMap(({ id, push }) => (push === undefined ? [] : [[id, push] as const])),
      );
    },
    personOf: (id) => known.devices.find((device) => device.id === id)?.person,
    seen(id, ip) {
      const device = known.devices.find((one) => one.id === id);
      const last = unsaved.get(id)?.at ?? (device ? Date.parse(device.lastSeenAt) : undefined);
      const now = environment.clock.now();
      if (last !== undefined && Math.abs(now - last) >= seenEveryMs) unsaved.set(id, { at: now, ip });
    },
    onRevoked(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      clearInterval(saving);
      await save().catch(() => undefined);
      await running;
    },
  };
}

/** SHA-256, hex: secrets have 256 bits, so no one guesses them from it. */
export const hashOfSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex');

const pollEveryMs = 1_000;
const seenEveryMs = 60_000;
const saveEveryMs = 60_000;
const devicesMax = 200;
/** As long as the cookies say that they last. */
const lifetimeMs = 31_536_000_000;

const publicOf = ({ tokenHash: _hidden, push: _address, ...device }: StoredDevice): Device => device;
const seenNow = (device: StoredDevice, at: number | undefined): Device => ({
  ...publicOf(device),
  ...(at !== undefined && { lastSeenAt: isoTime(at) }),
});

function stored({ id, name, kind, createdAt, tokenHash, lastIp, userAgent }: NewDevice): StoredDevice {
  const at = isoTime(createdAt);
  return {
    id,
    name,
    kind,
    createdAt: at,
    lastSeenAt: at,
    ...(lastIp !== null && { lastIp }),
    ...(userAgent !== null && { userAgent }),
    tokenHash,
  };
}

/**
 * What to call a browser until someone calls it better: guessed from its user agent, which anybody may set
 * to anything.
 */
export function deviceName(userAgent: string | undefined): string {
  const agent = userAgent ?? '';
  const known = machines.find(([pattern]) => pattern.test(agent));
  return known ? `${known[1]} browser` : 'Remote browser';
}

const machines: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, 'iPhone or iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Macintosh|Mac OS/, 'Mac'],
  [/CrOS/, 'Chromebook'],
  [/Linux|X11/, 'Linux'],
];

/** A user agent fit to be kept and shown: printable ASCII, bounded. */
export const plainAgent = (userAgent: string | undefined): string | null => {
  const plain = (userAgent ?? '').replace(/[^\x20-\x7e]/g, '').slice(0, 300);
  return plain === '' ? null : plain;
};
