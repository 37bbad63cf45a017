import { expect } from 'chai';
import { once } from 'node:events';
import promises, { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { findAgentMark } from '../../../actors/engines/process/agent-mark.js';
import { findSystemProgram } from '../../../actors/sandbox/system-program.js';
import { agentProcesses, inodeIn, redirectedIn } from '../../../lib/gateway/agent-process.js';
import { goneClient } from '../../../lib/gateway/authentication.js';
import { Troupe } from '../cli/troupe.js';
import { makeClient, type Client } from './fixture.js';

/**
 * Without a sandbox an agent reads the operator's token. That it uses it is known by the process at the other end
 * of the connection, which may have dropped its environment and its parents, and may have outlived its turn.
 */
const mark =
  process.platform === 'linux' ? await findAgentMark(await findSystemProgram('prlimit')) : undefined;

const perl = await findSystemProgram('perl');

describe("an agent with the operator's token", function () {
  if (mark === undefined) {
    console.log('      processes of agents cannot be marked here (no prlimit): not tried');
    return;
  }
  let troupe: Troupe;
  let operator: Client;
  beforeEach(async () => {
    troupe = await Troupe.create();
    await mkdir(troupe.home(), { mode: 0o700 });
    await writeFile(
      join(troupe.home(), 'config.yaml'),
      'engines: {shell: {command: [/bin/sh]}, default: shell}\nagents: {sandbox: off}\n',
    );
    await troupe.start();
    const { port, token } = await troupe.announcement();
    operator = makeClient(port, { authorization: `Bearer ${token}` });
  });
  afterEach(() => troupe.clear());

  /** Starts a program that shows the token once `file` is there, and writes down what it was answered. */
  const thief = (start: (program: string) => string, file: string): string => {
    const program = `
      const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
      const until = Date.now() + 60000;
      writeFileSync('begun', '');
      const look = async () => {
        if (Date.now() > until) process.exit(1);
        if (!existsSync('${file}')) return setTimeout(look, 20);
        const { url, token } = JSON.parse(readFileSync('${join(troupe.home(), 'gateway.json')}', 'utf8'));
        const answer = await fetch(url + '/api/sessions', { headers: { authorization: 'Bearer ' + token } });
        writeFileSync('answer.new', answer.status + ' ' + (await answer.text()));
        renameSync('answer.new', 'answer');
      };
      look();`;
    return `cat > thief.cjs <<'END'\n${program}\nEND\n${start(`'${process.execPath}' thief.cjs > /dev/null 2>&1`)}`;
  };

  /** In perl, which does what JavaScript cannot: `$port` and `$token` of the gateway. */
  const readHome = (): string => `
      open(my $f, "<", "${join(troupe.home(), 'gateway.json')}");
      my $told = join("", <$f>);
      my ($port) = $told =~ /"port":\\s*(\\d+)/;
      my ($token) = $told =~ /"token":\\s*"([^"]+)"/;`;

  /** Its shell waits for it: what has not left its group yet ends with the turn. */
  const orphaned = (program: string): string =>
    `( env -i setsid ${program} & )\nwhile [ ! -e begun ]; do sleep 0.05; done`;

  async function begin(script: string): Promise<{ readonly id: string; readonly cwd: string }> {
    const { body, status, text } = await operator.post('/api/sessions', { prompt: script });
    expect(status, text).to.equal(201);
    return body;
  }

  async function ended(id: string): Promise<void> {
    for (;;) {
      const { body } = await operator.get(`/api/sessions/${id}`);
      if (body.status !== 'running') return;
    }
  }

  async function answered(cwd: string): Promise<string> {
    for (;;) {
      const text = await readFile(join(cwd, 'answer'), 'utf8').catch(() => undefined);
      if (text !== undefined) return text;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Waits until the audit log, which is written a moment later, tells of a refusal. */
  async function audited(by: string): Promise<void> {
    const folder = join(troupe.home(), 'logs', 'audit');
    for (;;) {
      const files = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')); // not what is renamed
      const text = (await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))).join('');
      const lines = text.split('\n').filter((line) => line.includes('"code":"FORBIDDEN"'));
      if (lines.some((line) => line.includes(`"by":"${by}"`))) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  for (const [name, way] of [
    ['as a child of its own', (program: string) => program],
    ['without its environment', (program: string) => `env -i ${program}`],
  ] as const)
    it(`is refused ${name}`, async () => {
      const { id, cwd } = await begin(thief(way, 'thief.cjs'));
      expect(await answered(cwd)).to.match(/^403 /);
      await ended(id);
    });

  it('is refused when it forgot its environment and its parents, and outlived its turn', async () => {
    const { id, cwd } = await begin(thief(orphaned, 'go'));
    await ended(id);
    expect((await operator.get('/api/sessions')).status).to.equal(200);
    await writeFile(join(cwd, 'go'), '');
    expect(await answered(cwd)).to.match(/^403 /);
    await audited(`session:${id}`);
    expect((await operator.get('/api/sessions')).status).to.equal(200);
  });

  it('is refused also when the gateway was started again in between', async () => {
    const { id, cwd } = await begin(thief(orphaned, 'go'));
    await ended(id);
    await troupe.run('stop', '--home', troupe.home());
    await troupe.start();
    await writeFile(join(cwd, 'go'), '');
    expect(await answered(cwd)).to.match(/^403 /);
    await audited('session:unknown');
  });

  if (perl === undefined) return console.log('      there is no perl here: what needs it is not tried');

  // The system lists no files of a process whose first thread has ended, nor those that a thread has for itself
  for (const [name, { before, last }] of Object.entries({
    'from a process whose first thread has ended': {
      before: 'until ($state->() eq "Z") {}',
      last: '$exit->()',
    },
    'from a thread with files of its own': { before: '$unshare->()', last: '$thread->join' },
  }))
    it(`is refused ${name}`, async () => {
      const [exit, unshare] = process.arch === 'x64' ? [60, 272] : [93, 97];
      const program = `
        use threads;
        use IO::Socket::INET;
        my $exit = sub { syscall(${exit}, 0) };
        my $unshare = sub { syscall(${unshare}, 0x400) == 0 or die };
        my $state = sub { open(my $f, "<", "/proc/$$/stat"); <$f> =~ /[)] (.)/; $1 };
        my $thread = threads->create(sub {
          ${before};
          ${readHome()}
          my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port) or die;
          print $socket "GET /api/sessions HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\nAuthorization: Bearer $token\\r\\n",
            "Connection: close\\r\\n\\r\\n";
          open(my $answer, ">", "answer.new");
          print $answer join("", <$socket>);
          close($answer);
          rename("answer.new", "answer");
        });
        ${last};`;
      const { id, cwd } = await begin(`cat > thief.pl <<'END'\n${program}\nEND\n${perl} thief.pl\n`);
      expect(await answered(cwd)).to.match(/^HTTP\/1.1 403 /);
      await ended(id);
    });

  // Its socket belonged to no one when that was checked. More was on its way than was read, so its end was not seen
  it('is refused when it does not wait for the answer', async () => {
    const made = await operator.post('/api/cron', { name: 'nightly', schedule: '0 3 * * *', prompt: 'x' });
    expect(made.status, made.text).to.equal(201);
    const job = made.body.id;
    const program = `
      use IO::Socket::INET;
      ${readHome()}
      for (1 .. 20) {
        my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port) or die;
        my $head = "HTTP/1.1\\r\\nHost: localhost:$port\\r\\nAuthorization: Bearer $token\\r\\n";
        $socket->blocking(0);
        syswrite($socket, "DELETE /api/cron/${job} $head\\r\\nPOST /api/cron \${head}Content-Length: 99999999\\r\\n\\r\\n");
        1 while syswrite($socket, "x" x 65536);
        close($socket);
      }`;
    const { id } = await begin(`cat > thief.pl <<'END'\n${program}\nEND\n${perl} thief.pl\n`);
    await ended(id);
    expect((await operator.get(`/api/cron/${job}`)).status).to.equal(200);
    await audited('gone');
  });
});

describe('who is at the other end of a connection', function () {
  if (process.platform !== 'linux') return console.log('      the system does not tell here: not tried');

  // each connection read the whole process table, hundreds of files: a busy client's 64 took seconds beside an agent;
  // and the table of connections: of ten thousand that came back fifty a second were let in
  it('is found out for many connections at once by few looks at processes and connections', async () => {
    const { readdir: real, readFile: realRead } = promises;
    let looks = 0;
    let tables = 0;
    promises.readFile = ((...args: Parameters<typeof realRead>) => {
      if (args[0] === '/proc/self/net/tcp') tables += 1;
      return realRead(...args);
    }) as typeof realRead;
    promises.readdir = ((...args: Parameters<typeof real>) => {
      if (args[0] === '/proc') looks += 1;
      return real(...args);
    }) as typeof real;
    syncBuiltinESMExports();
    const accepted: Socket[] = [];
    const server = createServer((socket) => void accepted.push(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const clients = Array.from({ length: 64 }, () => connect(port, '127.0.0.1'));
    try {
      const holder = agentProcesses({ size: 1, minted: 1, resolve: () => undefined });
      while (accepted.length < clients.length) await once(server, 'connection');
      expect(await Promise.all(accepted.map(async (socket) => holder(socket)))).to.deep.equal(
        clients.map(() => undefined),
      );
      expect(looks).to.be.within(1, 8);
      expect(tables).to.be.within(1, 8);
      const before = looks;
      const [one] = accepted;
      if (one !== undefined) await holder(one);
      expect(looks, 'what comes later is looked at anew').to.equal(before + 1);
    } finally {
      promises.readdir = real;
      promises.readFile = realRead;
      syncBuiltinESMExports();
      for (const socket of [...clients, ...accepted]) socket.destroy();
      server.close();
    }
  });

  // Who holds a connection that is closed on the far side is told by no one: it counted as the operator's. Behind an
  // address that is local to an interface stands its name
  const interfaces = Object.entries(networkInterfaces());
  const local = interfaces.flatMap(([name, all = []]) =>
    all.flatMap(({ address }) => (address.startsWith('fe80:') ? [`${address}%${name}`] : [])),
  );
  for (const host of ['127.0.0.1', ...local.slice(0, 1)])
    it(`is said to be gone where it is: ${host === '127.0.0.1' ? 'loopback' : 'an interface'}`, async () => {
      const server = createServer({ allowHalfOpen: true }).listen(0, host.includes(':') ? '::' : host);
      await once(server, 'listening');
      const client = connect((server.address() as AddressInfo).port, host);
      const [socket] = (await once(server, 'connection')) as [Socket];
      try {
        const holder = agentProcesses({ size: 1, minted: 1, resolve: () => undefined });
        expect(await holder(socket)).to.equal(undefined);
        client.destroy();
        await once(socket.resume(), 'end');
        expect(await holder(socket)).to.equal(goneClient);
      } finally {
        socket.destroy();
        server.close();
      }
    });

  // An agent can have a connection of the same ports, from another address: the first row of the two was believed
  it('is the row that leads from its end to ours', () => {
    const row = (near: string, far: string, inode: number): string =>
      `   7: ${near} ${far} 01 00000000:00001D04 00:00000000 00000000  1000        0 ${inode} 1 0000000078121d1c\n`;
    const older = '0000000000000000FFFF0000';
    const table = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n',
      row('0100007F:1CFC', '0100007F:C350', 1), // our own end
      row('0100007F:C350', '0100007F:1F90', 2), // the same port, to another server
      row('0200007F:C350', '0100007F:1CFC', 3), // the same ports, from another address
      row('0100007F:C350', '0200007F:1CFC', 4), // and to another address
      row('0100007F:C350', '0100007F:1CFC', 5),
      row(`${older}0300007F:C350`, `${older}0100007F:1CFC`, 6), // as Java speaks
      row('00000000000000000000000001000000:C350', '00000000000000000000000001000000:1CFC', 7),
      row('B80D0120000000000000000012340000:C350', 'B80D0120000000000000000001000000:1CFC', 8),
    ].join('');
    const ports = { remotePort: 0xc350, localPort: 0x1cfc };
    const ends = { ...ports, remoteAddress: '127.0.0.1', localAddress: '127.0.0.1' };
    expect(inodeIn(table, ends)).to.equal('5');
    expect(inodeIn(table.trimEnd(), ends)).to.equal('5');
    expect(inodeIn(table, { ...ends, remoteAddress: '::ffff:127.0.0.1' })).to.equal('5');
    expect(inodeIn(table, { ...ends, localAddress: '127.0.0.2' })).to.equal('4');
    expect(inodeIn(table, { ...ends, remoteAddress: '127.0.0.3' })).to.equal('6');
    expect(inodeIn(table, { ...ports, remoteAddress: '::1', localAddress: '::1' })).to.equal('7');
    expect(
      inodeIn(table, { ...ports, remoteAddress: '2001:db8::3412', localAddress: '2001:db8::1' }),
    ).to.equal('8');
    expect(inodeIn(table, { ...ends, remotePort: 0x1d04 })).to.equal(undefined);
    // Where the system leads one port to another, the client went to the other
    const led = { ...ends, localPort: 0x50 };
    expect([inodeIn(table, led), redirectedIn(table, led)]).to.deep.equal([undefined, '2']);
  });
});
