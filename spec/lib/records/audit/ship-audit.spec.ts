import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openAudit, type Audit } from '../../../../lib/records/audit/audit.js';
import { shipAudit, shippedRecord } from '../../../../lib/records/audit/ship-audit.js';
import { auditTargets, type AuditSettings } from '../../../../lib/records/audit/targets.js';
import { systemEnvironment } from '../../../../lib/environment.js';

describe('shipAudit', () => {
  let home: string;
  let folder: string;
  const environment = systemEnvironment();
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'ship-audit-'));
    folder = join(home, 'audit');
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  /** Ships while `during` runs, and until nothing is left. */
  async function shipping(
    settings: Partial<AuditSettings>,
    during: (audit: Audit) => Promise<void>,
  ): Promise<string[]> {
    const faults: string[] = [];
    const audit = await openAudit({ folder, environment });
    const shipped = shipAudit({
      folder,
      targets: auditTargets({ file: null, syslog: null, command: null, ...settings }),
      clock: environment.clock,
      onWritten: (listener) => audit.onWritten(listener),
      failed: (error) => faults.push((error as Error).message),
    });
    await during(audit);
    await audit.close();
    await shipped.close();
    return faults;
  }
  const decide = (audit: Audit, target: string): void =>
    audit.decided({
      by: 'operator',
      address: undefined,
      authority: 'a',
      method: 'POST',
      target,
      verdict: 'allowed',
    });
  const numbers = async (path: string): Promise<number[]> =>
    (await readFile(path, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { n: number }).n);
  const oneTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

  it('appends each line to a file once, also over kill -9 at any moment', async function () {
    this.timeout(60_000);
    const file = join(home, 'copy.jsonl');
    const program = fileURLToPath(new URL('ship-killed.js', import.meta.url));
    for (let life = 0; life < 5; life += 1) {
      const child = spawn(process.execPath, [program, folder, file], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const closed = once(child, 'close');
      for await (const _chunk of child.stdout) if (Math.random() < 0.3) child.kill('SIGKILL');
      const [code] = (await closed) as [number | null];
      expect(code, 'it was killed and did not fail').to.equal(null);
    }
    // What a crash in the middle of a write leaves
    await writeFile(file, '{"n":99999,"half a', { flag: 'a' });
    const faults = await shipping({ file }, () => Promise.resolve());
    expect(faults).to.deep.equal([]);
    const shipped = await numbers(file);
    expect(shipped.length).to.be.greaterThan(100);
    expect(shipped).to.deep.equal(oneTo(shipped.length));
    expect(((await stat(file)).mode & 0o777).toString(8)).to.equal('600');
  });

  it('goes on in a file that was rotated away, and writes nowhere else through a link', async () => {
    const file = join(home, 'copy.jsonl');
    await shipping({ file }, async (audit) => {
      decide(audit, 'first');
      await audit.flush();
    });
    const before = (await numbers(file)).length;
    await rm(file);
    await shipping({ file }, () => Promise.resolve());
    expect((await numbers(file))[0]).to.equal(before + 1);
    const precious = join(home, 'precious');
    await writeFile(precious, 'mine');
    await rm(file);
    await symlink(precious, file);
    const faults = await shipping({ file }, () => Promise.resolve());
    expect(faults.join()).to.include('ELOOP');
    expect(await readFile(precious, 'utf8')).to.equal('mine');
  });

  // An intruder who takes the log away must not hide what comes next until the log has grown as long again
  it('passes on a log that begins anew, whatever was passed on before', async () => {
    const file = join(home, 'copy.jsonl');
    for (let life = 0; life < 2; life += 1) {
      const before = life === 0 ? 0 : (await numbers(file)).length;
      const faults = await shipping({ file }, async (audit) => {
        decide(audit, `life ${life}`);
        await audit.flush();
      });
      expect(faults).to.deep.equal([]);
      const shipped = await numbers(file);
      expect(shipped.slice(before)).to.deep.equal(oneTo(shipped.length - before));
      expect(await readFile(file, 'utf8')).to.include(`life ${life}`);
      await rm(folder, { recursive: true });
    }
  });

  it('takes nothing away from a file that is not an audit log', async () => {
    for (const text of ['my only note', 'a line\nand more', `${'x'.repeat(70_000)}`]) {
      const file = join(home, 'note');
      await writeFile(file, text);
      const faults = await shipping({ file }, () => Promise.resolve());
      expect(faults.join()).to.include('ends with something else');
      expect(await readFile(file, 'utf8')).to.equal(text);
    }
  });

  it('hands lines to a program, which gets no shell, no argument of ours and none of our variables', async () => {
    process.env['SHIP_AUDIT_SPEC'] = 'secret';
    const out = join(home, 'taken');
    const script = `require('fs').appendFileSync(${JSON.stringify(out)},require('fs').readFileSync(0));
      if (process.env.SHIP_AUDIT_SPEC) process.exit(1)`;
    const faults = await shipping({ command: [process.execPath, '-e', script] }, async (audit) => {
      decide(audit, '$(touch /tmp/never); "quoted"\nand more');
      await audit.flush();
    });
    delete process.env['SHIP_AUDIT_SPEC'];
    expect(faults).to.deep.equal([]);
    const taken = await numbers(out);
    expect(taken).to.deep.equal(oneTo(taken.length));
    expect(await readFile(out, 'utf8')).to.include('$(touch /tmp/never)');
  });

  it('keeps what a program does not take, and its place', async () => {
    const faults = await shipping({ command: [process.execPath, '-e', 'process.exit(3)'] }, async (audit) => {
      decide(audit, 'x');
      await audit.flush();
    });
    expect(faults.join()).to.include('3');
    expect(await shippedRecord(folder).read()).to.deep.equal({});
    const file = join(home, 'later.jsonl');
    await shipping({ file }, () => Promise.resolve());
    expect((await numbers(file))[0]).to.equal(1);
  });

  it('passes on again what a syslog server had not read when it went away', async () => {
    const server = createServer({ pauseOnConnect: true }, (socket) => {
      socket.on('error', () => undefined);
      setImmediate(() => socket.resetAndDestroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const syslog = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const faults = await shipping({ syslog }, () => Promise.resolve());
    expect(faults).to.not.deep.equal([]);
    expect(await shippedRecord(folder).read()).to.deep.equal({});
    await new Promise((resolve) => server.close(resolve));
  });

  it('speaks syslog over TCP and UDP', async () => {
    let text = '';
    const server = createServer((socket) => socket.on('data', (chunk: Buffer) => (text += chunk.toString())));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const udp = createSocket('udp4');
    udp.bind(0, '127.0.0.1');
    await once(udp, 'listening');
    const first = once(udp, 'message');
    const { port } = server.address() as AddressInfo;
    await shipping({ syslog: `tcp://127.0.0.1:${port}` }, () => Promise.resolve());
    await shipping({ syslog: `udp://127.0.0.1:${udp.address().port}` }, () => Promise.resolve());
    const [message] = (await first) as [Buffer];
    expect(message.toString()).to.match(/^<109>1 \d{4}-\S+Z \S+ troupe \d+ audit - \{"n":1,/);
    await new Promise((resolve) => server.close(resolve));
    udp.close();
    const [, length = '', rest = ''] = /^(\d+) (<109>1 .*)$/s.exec(text) ?? [];
    expect(rest.slice(0, Number(length))).to.match(/"hash":"[0-9a-f]{64}"\}$/);
  });
});
