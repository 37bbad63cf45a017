import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isOtherUser, ownersOf } from '../../lib/gateway/origin.js';
import { makeClient, poll } from '../lib/gateway/fixture.js';
import { Troupe } from '../lib/cli/troupe.js';

/**
 * Another user of the same machine: sees the processes, may look into every folder that is open to all, and
 * listens on ports that became free. ASVS 13.3.1, 14.2.4.
 */
describe('red team: another user of this machine', function () {
  this.timeout(180_000);
  let troupe: Troupe;
  beforeEach(async () => {
    troupe = await Troupe.create();
  });
  afterEach(() => troupe.clear());

  // the one who may read the lock file can hold a shared lock on it: then no one gets the home any more
  it('can read nothing that the gateway made, nor hold its lock, in a home that is open to all', async () => {
    const home = troupe.home();
    await mkdir(home);
    await chmod(home, 0o755);
    await troupe.start(home);
    const { port, token } = await troupe.announcement(home);
    const operator = makeClient(port, { authorization: `Bearer ${token}` });
    const { body: session } = await operator.post('/api/sessions', { prompt: 'add "milk"' });
    await poll(
      () => operator.get(`/api/sessions/${session.id}`),
      ({ body }) => body.status === 'idle',
    );
    expect((await operator.post('/api/files', { content: 'aGVsbG8=', filename: 'a.txt' })).status).to.equal(
      201,
    );
    expect(
      (
        await operator.post(`/api/sessions/${session.id}/attachments`, {
          content: 'aGVsbG8=',
          filename: 'a.txt',
        })
      ).status,
    ).to.equal(201);
    const open: string[] = [];
    let seen = 0;
    const walk = async (folder: string): Promise<void> => {
      for (const name of await readdir(folder)) {
        const path = join(folder, name);
        const { mode } = await stat(path);
        seen += 1;
        if ((mode & 0o077) !== 0) open.push(path.slice(home.length + 1));
        // Behind a private folder no one comes
        if ((mode & 0o040000) !== 0 && (mode & 0o077) !== 0) await walk(path);
      }
    };
    await walk(home);
    expect(seen).to.be.greaterThan(8);
    expect(open).to.deep.equal([]);
  });

  // It begins turns, and answers what they ask for: who speaks to it decides what is run
  it('has no way to the worker that runs agents, its socket or its key', async () => {
    if (process.getuid?.() !== 0) return; // only root can be someone else
    const home = troupe.home();
    await mkdir(home);
    for (const folder of [troupe.folder, home]) await chmod(folder, 0o755);
    await writeFile(
      join(home, 'config.yaml'),
      'agents: {sandbox: off}\nengines: {default: shell, shell: {command: [/bin/sh, -s]}}\n',
    );
    await troupe.start(home);
    const { port, token } = await troupe.announcement(home);
    const operator = makeClient(port, { authorization: `Bearer ${token}` });
    const { body: session } = await operator.post('/api/sessions', { prompt: 'echo done' });
    await poll(
      () => operator.get(`/api/sessions/${session.id}`),
      ({ body }) => body.status === 'idle',
    );
    const run = join(home, 'run');
    const names = await readdir(run);
    const socket = names.find((name) => /^worker-\w+$/.test(name)) ?? 'none';
    expect(names).to.include.members([socket, `${socket}.key`]);
    const dial = `require('net').connect('${run}/${socket}').on('error', ({ code }) => console.log(code)).on('connect', function () { console.log('connected'); this.destroy(); });`;
    const reach = `const fs = require('fs'); const tried = (what) => { try { what(); return 'done'; } catch ({ code }) { return code; } };
      console.log(tried(() => fs.readdirSync('${run}')), tried(() => fs.readFileSync('${run}/${socket}.key')),
        tried(() => fs.writeFileSync('${run}/worker-00000000', '')), tried(() => fs.renameSync('${run}', '${home}/gone')));`;
    const as = async (uid: number, script: string): Promise<string> =>
      (await promisify(execFile)(process.execPath, ['-e', script], { uid, gid: uid, cwd: '/' })).stdout;
    expect(await as(65_534, reach)).to.equal('EACCES EACCES EACCES EACCES\n');
    expect(await as(65_534, dial)).to.equal('EACCES\n');
    expect(await as(0, dial), 'so that the attempt proves something').to.equal('connected\n');
  });

  // `troupe open` gives the browser a link on its command line; the one who read it there first was let in
  it('cannot redeem a grant that it read in the arguments of a browser', async () => {
    const table = `sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid\n${['0: 0100007F:A505 0100007F:1CFC 01 0:0 0:0 0 1000 0 1', '1: 0100007F:1CFC 0100007F:A505 01 0:0 0:0 0 0 0 2', '2: 0100007F:A505 0100007F:1CFD 01 0:0 0:0 0 33 0 3'].join('\n')}\n`;
    expect(ownersOf(table, 0xa505, 0x1cfc)).to.deep.equal([1_000]);
    if (process.platform !== 'linux') return; // elsewhere the system does not tell
    const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
    const farEnd = { remotePort: socket.localPort, localPort: socket.remotePort };
    const self = process.getuid?.() ?? 0;
    expect([await isOtherUser(farEnd), await isOtherUser(farEnd, self + 1)]).to.deep.equal([
      false,
      self !== 0,
    ]);
    socket.destroy();
    server.close();
    if (self !== 0) return; // only root can be someone else
    await troupe.start();
    const { port } = await troupe.announcement();
    const { out } = await troupe.run('open', '--print', '--home', troupe.home());
    const grant = /svc-bootstrap=([\w-]{43})/.exec(out)?.[1] ?? '';
    const redeem = `fetch('http://127.0.0.1:${port}/api/auth/bootstrap', { method: 'POST', headers: { 'x-svc-bootstrap-grant': '${grant}', 'content-type': 'application/json' }, body: '{}' }).then((answer) => console.log(answer.status))`;
    const as = async (uid: number): Promise<string> =>
      (await promisify(execFile)(process.execPath, ['-e', redeem], { uid, cwd: '/' })).stdout.trim();
    await chmod(troupe.folder, 0o755);
    // the administrator's gateway takes no one else; its own user comes in after that
    expect([await as(65_534), await as(0)]).to.deep.equal(['403', '200']);
  });

  it('sees no secret in arguments of processes', async () => {
    const home = troupe.home();
    await mkdir(home, { mode: 0o700 });
    await writeFile(
      join(home, 'config.yaml'),
      `engines:\n  default: probe\n  probe:\n    command: [${JSON.stringify(process.execPath)}, -e, "console.log(require('fs').readFileSync('/proc/self/cmdline', 'latin1'))"]\n`,
    );
    await troupe.start(home);
    const { port, token, secret, pid } = await troupe.announcement(home);
    const client = makeClient(port, { authorization: `Bearer ${token}` });
    const { body: session } = await client.post('/api/sessions', {
      prompt: 'a prompt that is a secret of its own',
    });
    const { body } = await poll(
      () => client.get(`/api/sessions/${session.id}`),
      (answer) => answer.body.status !== 'running',
    );
    const said = JSON.stringify(body.messages.filter(({ role }: { role: string }) => role === 'assistant'));
    expect(said, 'the agent has shown its arguments').to.include('readFileSync');
    const own = await readFile(`/proc/${pid}/cmdline`, 'latin1');
    for (const hidden of [token, secret, 'a prompt that is a secret'])
      expect([said.includes(hidden), own.includes(hidden)], hidden.slice(0, 8)).to.deep.equal([false, false]);
  });

  it("that listens on the gateway's port is told nothing, after a stop and after a kill", async () => {
    const home = troupe.home();
    const gateway = await troupe.start(home);
    const announced = await troupe.announcement(home);
    await gateway.kill('SIGKILL');
    const heard: IncomingMessage[] = [];
    const squatter = createServer((request, response) => {
      heard.push(request);
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          challengeId: 'c'.repeat(43),
          nonce: 'n'.repeat(43),
          status: 'ok',
          code: 'AAAA-BBBB-CCCC',
        }),
      );
    });
    squatter.listen(announced.port, '127.0.0.1');
    await once(squatter, 'listening');
    try {
      expect((squatter.address() as AddressInfo).port).to.equal(announced.port);
      for (const [pid, pidStart] of [
        [announced.pid, announced.pidStart],
        [null, null],
        [process.pid, '1'],
      ] as const) {
        // killed; stopped; its pid given to another
        await writeFile(join(home, 'gateway.json'), JSON.stringify({ ...announced, pid, pidStart }), {
          mode: 0o600,
        });
        for (const command of [['pair'], ['open', '--print'], ['run', 'hello'], ['stop']])
          await troupe.run(...command, '--home', home);
      }
      expect(heard.map(({ url }) => url)).to.deep.equal([]);
      expect((await readdir(home)).filter((name) => name.startsWith('pair-challenge'))).to.deep.equal([]);
    } finally {
      squatter.close();
    }
  });
});
