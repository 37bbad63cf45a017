import { expect } from 'chai';
import { chmod, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashOfSecret, openDevices, type DeviceBook } from '../../../../lib/records/devices/devices.js';
import { testEnvironment, type TestEnvironment } from '../../../../lib/testing/test-environment.js';
import { isRefusal } from '../../../../machines/refusals.js';

describe('the book of paired browsers', () => {
  let folder: string;
  let path: string;
  let environment: TestEnvironment;
  let book: DeviceBook;
  const secret = 's'.repeat(43);
  const device = (id: string) => ({
    id,
    name: 'Linux browser',
    kind: 'remote' as const,
    createdAt: environment.clock.now(),
    tokenHash: hashOfSecret(secret),
    lastIp: null,
    userAgent: null,
  });
  const idsOf = async (): Promise<unknown> => {
    const listed = await book.list();
    return isRefusal(listed) ? listed.code : listed.map(({ id }) => id).sort();
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'devices-'));
    path = join(folder, 'auth-devices.json');
    environment = testEnvironment();
    book = await openDevices({ path, environment });
  });
  afterEach(async () => {
    await book.close();
    await rm(folder, { recursive: true, force: true });
  });

  // The one who paired a browser in the two minutes of a wrong clock threw all others out of the file.
  it('loses no device when another is paired while the wall is years ahead', async () => {
    await book.keep(device('d_1'));
    await environment.setWall(10 * 365 * 24 * 3_600_000);
    await book.keep(device('d_2'));
    await environment.setWall(-10 * 365 * 24 * 3_600_000);
    expect(await idsOf()).to.include('d_1');
    expect(await book.verify('d_1', secret)).to.include({ id: 'd_1' });
  });

  it('keeps a device on disk, private and without its secret, once', async () => {
    await book.keep(device('d_1'));
    await book.keep(device('d_1'));
    const text = await readFile(path, 'utf8');
    expect(JSON.parse(text).devices).to.have.length(1);
    expect(text).to.include(hashOfSecret(secret)).and.not.include(secret);
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    expect(await book.verify('d_1', secret))
      .to.include({ id: 'd_1', name: 'Linux browser' })
      .and.not.have.property('tokenHash');
  });

  // ASVS 7.3.2: the browser keeps its cookies for a year; a copy of them must not outlive that
  it('lets a device in for a year and no longer, and has room for another then', async () => {
    await book.keep(device('d_1'));
    await environment.sleep(364 * 86_400_000);
    expect(await book.verify('d_1', secret)).to.include({ id: 'd_1' });
    await environment.sleep(2 * 86_400_000);
    expect([await book.verify('d_1', secret), await idsOf()]).to.deep.equal([undefined, []]);
    await book.keep(device('d_2'));
    expect(await idsOf()).to.deep.equal(['d_2']);
    for (let n = 3; n < 202; n += 1) await book.keep(device(`d_${n}`));
    const { devices } = JSON.parse(await readFile(path, 'utf8')) as { devices: { id: string }[] };
    expect(devices.map(({ id }) => id))
      .to.include('d_201')
      .and.not.include('d_1');
  });

  it('knows no one by another secret, another id, or a part of either', async () => {
    await book.keep(device('d_1'));
    for (const [id, given] of [
      ['d_1', 's'.repeat(42)],
      ['d_1', ''],
      ['d_1', hashOfSecret(secret)],
      ['d_2', secret],
      ['', secret],
      ['__proto__', secret],
    ] as const) {
      expect(await book.verify(id, given), `${id} ${given}`).to.equal(undefined);
    }
  });

  it('lets no one in after a revocation, tells of it once it is on disk, and knows who was not there', async () => {
    await book.keep(device('d_1'));
    const told: unknown[] = [];
    book.onRevoked((id) => told.push(id));
    expect(await book.revoke('d_1')).to.equal(true);
    expect(JSON.parse(await readFile(path, 'utf8')).devices).to.deep.equal([]);
    expect(told).to.deep.equal(['d_1']);
    expect(await book.verify('d_1', secret)).to.equal(undefined);
    expect(await book.revoke('d_1')).to.equal(false);
  });

  it('survives a restart', async () => {
    await book.keep(device('d_1'));
    await book.close();
    book = await openDevices({ path, environment });
    expect(await book.verify('d_1', secret)).to.include({ id: 'd_1' });
  });

  it('notices within a second that someone removed a device by hand', async () => {
    await book.keep(device('d_1'));
    const told: unknown[] = [];
    book.onRevoked((id) => told.push(id));
    await writeFile(path, '{"devices":[]}', { mode: 0o600 });
    await environment.advance(1_000);
    expect(await book.verify('d_1', secret)).to.equal(undefined);
    expect(told).to.deep.equal(['d_1']);
  });

  it('writes on top of what someone else wrote, never over it', async () => {
    await book.keep(device('d_1'));
    const written = JSON.parse(await readFile(path, 'utf8')) as { devices: object[] };
    await writeFile(
      path,
      JSON.stringify({ devices: [...written.devices, { ...written.devices[0], id: 'd_by-hand' }] }),
      { mode: 0o600 },
    );
    await book.keep(device('d_2'));
    expect(await idsOf()).to.deep.equal(['d_1', 'd_2', 'd_by-hand']);
  });

  it('notes when a browser was last seen, at most once per minute', async () => {
    await book.keep(device('d_1'));
    book.seen('d_1', '10.0.0.1');
    await environment.advance(61_000);
    book.seen('d_1', '10.0.0.2');
    await book.close();
    const [kept] = JSON.parse(await readFile(path, 'utf8')).devices as {
      lastSeenAt: string;
      createdAt: string;
      lastIp: string;
    }[];
    expect(Date.parse(kept?.lastSeenAt ?? '') - Date.parse(kept?.createdAt ?? '')).to.equal(61_000);
    expect(kept?.lastIp).to.equal('10.0.0.2');
  });

  const damages: Record<string, (text: string) => Promise<unknown>> = {
    'half of the file': (text) => writeFile(path, text.slice(0, text.length / 2), { mode: 0o600 }),
    'an empty file': () => writeFile(path, ''),
    'a device without a hash': (text) =>
      writeFile(path, text.replace(/"tokenHash": "\w+"/, '"tokenHash": ""')),
    'a device twice': (text) =>
      writeFile(
        path,
        JSON.stringify({ devices: [...JSON.parse(text).devices, ...JSON.parse(text).devices] }),
      ),
    'a list instead of an object': () => writeFile(path, '[]'),
    'permission for others to write': () => chmod(path, 0o622),
    'a link to another file': async (text) => {
      await writeFile(join(folder, 'other'), text, { mode: 0o600 });
      await rm(path);
      await symlink(join(folder, 'other'), path);
    },
    'a file too large to be one': () => writeFile(path, ' '.repeat(2 ** 20 + 1)),
  };
  for (const [name, damage] of Object.entries(damages)) {
    it(`lets no one in with ${name}, says so, writes nothing over it, and goes on when it is repaired`, async () => {
      await book.keep(device('d_1'));
      const whole = await readFile(path, 'utf8');
      await damage(whole);
      await environment.advance(1_000);
      expect(await book.verify('d_1', secret)).to.equal(undefined);
      expect(await idsOf()).to.equal('DEVICES_DAMAGED');
      const damaged = await readFile(path, 'utf8');
      expect(
        await book.keep(device('d_2')).then(
          () => 'kept',
          (error: Error) => error.name,
        ),
      ).to.equal('DevicesDamaged');
      expect(await book.revoke('d_1')).to.include({ code: 'DEVICES_DAMAGED' });
      expect(await readFile(path, 'utf8')).to.equal(damaged);
      await rm(path);
      await writeFile(path, whole, { mode: 0o600 });
      await environment.advance(1_000);
      expect(await book.verify('d_1', secret)).to.include({ id: 'd_1' });
    });
  }

  it('stays whole when many write at once', async () => {
    await Promise.all(Array.from({ length: 30 }, (_, n) => book.keep(device(`d_${n}`))));
    await Promise.all(Array.from({ length: 15 }, (_, n) => book.revoke(`d_${n}`)));
    expect(await idsOf()).to.have.length(15);
    expect(JSON.parse(await readFile(path, 'utf8')).devices).to.have.length(15);
  });
});
