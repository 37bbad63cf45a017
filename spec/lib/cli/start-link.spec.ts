import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeClient } from '../gateway/fixture.js';
import { Troupe } from './troupe.js';
import { command } from '../../helpers/command.js';

/** A gateway that is started in a terminal, a real one: it says how this machine's browser gets in. */
describe('troupe start in a terminal', () => {
  let troupe: Troupe;
  let terminal: ChildProcess | undefined;
  before(async () => {
    troupe = await Troupe.create();
    await mkdir(join(troupe.folder, 'bin'));
    const opener = join(troupe.folder, 'bin', 'xdg-open');
    await writeFile(opener, `#!/bin/sh\necho "$1" > '${troupe.folder}/opened'\n`);
    await chmod(opener, 0o755);
  });
  after(async () => {
    await troupe.run('stop', '--home', troupe.home());
    terminal?.kill('SIGKILL');
    await troupe.clear();
  });

  /** The output of a start in a pseudo-terminal, once it matches. */
  async function startUntil(pattern: RegExp): Promise<RegExpExecArray> {
    const words = [process.execPath, command, 'start', '--home', troupe.home(), '--port', '0'];
    terminal = spawn('script', ['-qec', words.join(' '), '/dev/null'], {
      cwd: troupe.folder,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: `${troupe.folder}/bin:${process.env['PATH']}`, HOME: troupe.folder, DISPLAY: ':99' },
    });
    let out = '';
    terminal.stdout?.on('data', (piece) => (out += String(piece)));
    for (;;) {
      const found = pattern.exec(out);
      if (found) return found;
      const [gone] = await Promise.race([
        once(terminal.stdout ?? terminal, 'data').then(() => [false]),
        once(terminal, 'exit').then(() => [true]),
      ]);
      if (gone === true && pattern.exec(out) === null) throw new Error(`it ended: ${out}`);
    }
  }
  const enter = async (grant: string) =>
    makeClient((await troupe.announcement()).port, { 'x-svc-bootstrap-grant': grant }).post(
      '/api/auth/bootstrap',
    );

  it('prints an address that lets one browser in, and opens another where there is a desktop', async function () {
    this.timeout(60_000);
    const [, address = '', grant = ''] = await startUntil(/(http:\S+#svc-bootstrap=([\w-]{43}))/);
    expect(address).to.match(/^http:\/\/127\.0\.0\.1:\d+\/pair#/);
    const opened = await untilThere(join(troupe.folder, 'opened'));
    expect(opened).to.not.equal(address);
    expect((await enter(grant)).body.device).to.include({ kind: 'local' });
    expect((await enter(grant)).status, 'once').to.equal(401);
    const log = await readFile(join(troupe.home(), 'logs', 'gateway.log'), 'utf8');
    for (const secret of [grant, opened.split('=')[1] ?? '']) expect(log).to.not.include(secret);
  });

  async function untilThere(path: string): Promise<string> {
    for (;;) {
      const text = await readFile(path, 'utf8').catch(() => '');
      if (text.endsWith('\n')) return text.trim();
      await new Promise(setImmediate);
    }
  }

  // What is not a terminal may be a log: of a service manager, of a container, of a file
  it('prints none where its output is kept', async () => {
    const running = await troupe.start(troupe.home('other'));
    await running.seen(/stop {4}Ctrl-C/);
    await running.kill('SIGTERM');
    expect(running.out + running.err).to.not.match(/svc-bootstrap/);
  });
});
