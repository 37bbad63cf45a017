import { once } from 'node:events';
import { expect } from 'chai';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultConfig } from '../../../lib/home/config.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { openLogFile } from '../../../lib/home/log-file.js';
import { logTail } from '../../../lib/home/log-tail.js';
import { openLog, scrub } from '../../../lib/home/log.js';

describe('the log', () => {
  const secret = 'Zk3-canary_canary-canary_canary-canary_canar'.slice(0, 43);
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'log-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  it('holds no secret, wherever it stood in what was logged, and stays one JSON object per line', async () => {
    const layout = layoutOf({ home });
    const { log, close } = openLog({ ...defaultConfig().logging, level: 'debug' }, layout);
    log.info(
      { token: secret, deep: { er: { than: { anybody: { thought: [secret] } } } } },
      `asked with Bearer ${secret}`,
    );
    log.error(
      { err: new Error(`refused ${secret}`, { cause: new Error(`Authorization: Bearer ${secret}`) }) },
      'it failed',
    );
    log.warn(
      {
        headers: { cookie: `svc_auth=${secret}; svc_device=d_1234567890123456` },
        url: `/ws?token=${secret}`,
      },
      `SVC_GATEWAY_TOKEN=${secret}`,
    );
    log.info({ code: 'ABCD-EFGH-JKLM', bindings: [`svcwe_${secret}`, `svcwk_${secret}`] }, 'a code');
    log.info(
      { name: 'two\nlines\r\n{"level":60,"msg":"forged"}' },
      'what a client called itself\n{"forged":true}',
    );
    await close();
    const text = await readFile(layout.log, 'utf8');
    for (const hidden of [secret, 'ABCD-EFGH-JKLM']) expect(text).not.to.include(hidden);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string });
    expect(lines).to.have.length(5);
    expect(lines.some(({ msg }) => msg === 'forged')).to.equal(false);
    expect((await stat(layout.log)).mode & 0o777).to.equal(0o600);
  });

  it('leaves ids, hashes and words alone', () => {
    const plain =
      '{"id":"3f1c9d1e-7a4c-4a57-9d53-0c8f1d2f7a10","sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","item":"TRP-1","msg":"the bearer of good news came"}';
    expect(scrub(plain)).to.equal(plain);
  });

  describe('that is full', () => {
    const linesOf = async (path: string): Promise<number[]> =>
      (await readFile(path, 'utf8'))
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { n: number }).n);

    it('is put aside, a few are kept, and no line is lost, torn or out of order', async () => {
      const layout = layoutOf({ home });
      const file = openLogFile(layout.log, { bytesMax: 65_536, kept: 100 });
      const lines = 20_000;
      for (let n = 0; n < lines; n += 1) {
        file.write(`${JSON.stringify({ n, text: 'x'.repeat(80) })}\n`);
        if (n % 900 === 0) await once(file, 'drain'); // in between, some writes are under way and some wait
      }
      await file.close();
      const names = (await readdir(layout.logs)).filter((name) => name.startsWith('gateway.log'));
      expect(names.length).to.be.greaterThan(5);
      names.sort((one, other) => Number(other.slice(12)) - Number(one.slice(12))); // oldest first
      const seen: number[] = [];
      for (const path of names.map((name) => join(layout.logs, name))) {
        seen.push(...(await linesOf(path)));
        const { mode, size } = await stat(path);
        expect(mode & 0o777, path).to.equal(0o600);
        // The last one takes what was waiting at the end
        if (!/log(?:\.1)?$/.test(path)) expect(size, path).to.be.lessThan(2 * 65_536);
      }
      expect(seen).to.deep.equal(Array.from({ length: lines }, (_, n) => n));
    });

    it('leaves no more than it was told to keep, also when it was full at the start', async () => {
      const layout = layoutOf({ home });
      for (let start = 0; start < 6; start += 1) {
        const { log, close } = openLog(
          { ...defaultConfig().logging, fileBytesMax: 65_536, filesKept: 2 },
          layout,
        );
        for (let n = 0; n < 700; n += 1)
          log.info(
            { start, n },
            'a line of a hundred characters or so, so that the file is full before the process ends',
          );
        await close();
      }
      const { log, close } = openLog(
        { ...defaultConfig().logging, fileBytesMax: 65_536, filesKept: 2 },
        layout,
      );
      log.info({ n: 7 }, 'the last one');
      await close();
      expect((await readdir(layout.logs)).sort()).to.deep.equal([
        'gateway.log',
        'gateway.log.1',
        'gateway.log.2',
      ]);
      expect((await linesOf(layout.log)).at(-1)).to.equal(7);
    });

    // On a full disk a gateway that could not start neither ended nor said why: its log was never closed
    it('is closed where nothing can be written to it', async () => {
      const layout = layoutOf({ home });
      await mkdir(layout.logs);
      await symlink('/dev/full', layout.log);
      const file = openLogFile(layout.log, { bytesMax: 1_000, kept: 1 });
      file.write('lost\n');
      await once(file, 'error');
      file.write('also lost\n');
      await file.close();
    });

    it('is no reason to fail where it cannot be made', async () => {
      const layout = layoutOf({ home });
      await writeFile(layout.logs, 'a file');
      const { log, close } = openLog(defaultConfig().logging, layout);
      log.info('lost');
      await new Promise(setImmediate);
      log.info('also lost');
      await close();
      log.info('lost after it was closed');
    });

    it('is read on in the one that was put aside, where the new one has too few lines', async () => {
      const layout = layoutOf({ home });
      const file = openLogFile(layout.log, { bytesMax: 1, kept: 2 });
      for (const line of ['one', 'two', 'three']) {
        file.write(`${line}\n`);
        await once(file, 'drain');
      }
      await file.close();
      await writeFile(layout.log, 'four\nfive\n');
      expect([
        await logTail(layout.log, 1),
        await logTail(layout.log, 3),
        await logTail(join(home, 'none'), 3),
      ]).to.deep.equal([['five'], ['three', 'four', 'five'], []]);
    });

    it('goes on in the same file where it cannot be put aside', async () => {
      const layout = layoutOf({ home });
      await mkdir(join(layout.logs, 'gateway.log.1', 'in-the-way'), { recursive: true });
      const { log, close } = openLog(
        { ...defaultConfig().logging, fileBytesMax: 65_536, filesKept: 1 },
        layout,
      );
      for (let n = 0; n < 2_000; n += 1) log.info({ n }, 'a line');
      await close();
      expect(await linesOf(layout.log)).to.have.length(2_000);
    });
  });
});
