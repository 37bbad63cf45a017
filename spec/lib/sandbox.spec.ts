import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SandboxLevel } from '../../actors/sandbox/levels.js';
import { findSandboxTool } from '../../actors/sandbox/tool.js';
import { absent } from '../fixtures/agents/absent-startup-files.js';
import type { Targets } from '../fixtures/agents/adversary.js';
import { Troupe, type Running } from './cli/troupe.js';
import { makeClient, type Client } from './gateway/fixture.js';

const adversary = fileURLToPath(new URL('../fixtures/agents/adversary.js', import.meta.url));
const tool = await findSandboxTool();

/** A gateway whose one engine means harm, and a user with something to lose. */
class Scene {
  private constructor(
    readonly troupe: Troupe,
    readonly client: Client,
    readonly running: Running,
  ) {}

  static async open(settings: string, program = `${process.execPath}, ${adversary}`): Promise<Scene> {
    const troupe = await Troupe.create();
    await mkdir(troupe.home(), { mode: 0o700 });
    const engines = `engines: {adversary: {command: [${program}]}, default: adversary}`;
    await writeFile(
      join(troupe.home(), 'config.yaml'),
      `${engines}\nmodules: [../modules/mine.js]\nagents: ${settings}\n`,
    );
    for (const [name, text] of [
      ['.ssh/id', 'a key'],
      ['.aws/credentials', 'a credential'],
      ['.bashrc', '# mine\n'],
      ['outside/mine', 'mine'],
      ['bin/none', ''],
      ['modules/mine.js', 'export default {};\n'],
      ['.docker/run/none', ''],
      ['.claude/projects/none', ''],
      ['.gemini/tmp/none', ''],
      ['.local/share/none/none', ''],
    ] as const) {
      await mkdir(join(troupe.folder, name, '..'), { recursive: true });
      await writeFile(join(troupe.folder, name), text);
    }
    const path = `${join(troupe.folder, 'bin')}:${process.env['PATH']}`;
    const running = troupe.begin({ PATH: path }, 'start', '--home', troupe.home(), '--port', '0');
    await running.seen(/Troupe runs at/);
    const { port, token } = await troupe.announcement();
    return new Scene(troupe, makeClient(port, { authorization: `Bearer ${token}` }), running);
  }

  async session(prompt: string, more: object = {}) {
    const { body, status, text } = await this.client.post('/api/sessions', { prompt, ...more });
    expect(status, text).to.equal(201);
    for (;;) {
      const { body: now } = await this.client.get(`/api/sessions/${body.id}`);
      if (!['running', 'waiting'].includes(now.status)) return now;
    }
  }

  /** What the adversary reports of its turn. */
  async attack(more: Partial<Targets> = {}) {
    const other = await this.session('{}');
    await writeFile(join(other.cwd, 'private'), 'x');
    const tcp = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(tcp, 'listening');
    const udp = createSocket('udp4');
    udp.on('message', (_text, from) => udp.send('x', from.port, from.address)).bind(0, '127.0.0.1');
    await once(udp, 'listening');
    const control = join(this.troupe.folder, '.docker/run/docker.sock');
    const docker = createServer((socket) => socket.destroy()).listen(control);
    await once(docker, 'listening');
    const targets: Targets = {
      programs: join(this.troupe.folder, 'bin'),
      module: join(this.troupe.folder, 'modules', 'mine.js'),
      control,
      memory: 0,
      home: this.troupe.home(),
      gatewayPid: this.running.child.pid ?? 0,
      otherFolder: other.cwd,
      otherSocket: join(this.troupe.home(), 'run', 'x'),
      userHome: this.troupe.folder,
      outside: join(this.troupe.folder, 'outside'),
      tcpPort: (tcp.address() as { port: number }).port,
      udpPort: udp.address().port,
      mark: `mark-${process.pid}-${Math.random().toString(36).slice(2)}`,
      bomb: 0,
      ...more,
    };
    const session = await this.session(JSON.stringify(targets));
    tcp.close();
    udp.close();
    docker.close();
    const { body } = await this.client.get(`/api/sessions/${session.id}/messages`);
    const answer = body.messages.findLast((message: { role: string }) => message.role === 'assistant');
    return {
      session,
      targets,
      outcome: JSON.parse(answer.content) as Readonly<Record<string, unknown>>,
    };
  }
}

/** What each level adds to the ones before. */
const held: Readonly<Record<Exclude<SandboxLevel, 'off'>, readonly string[]>> = {
  home: [
    'the token file',
    'the store',
    'the key of its worker',
    'the settings',
    'environment of the gateway',
    'memory of the gateway',
    'root of the gateway',
    'signal to the gateway',
    'folder of another session',
    'socket of another session',
    'a link to the token',
    'the mounts undone',
    'a setting of the kernel',
    'keys of the user',
    'a startup file',
    'a program that the gateway looks for',
    'a module that the gateway loads',
    'a socket that starts programs',
  ].filter((name) => name !== 'keys of the user'),
  workspace: [
    'a parent that changes into a link',
    'a file outside',
    'keys of the user',
    'credentials of the user',
  ],
  strict: ['egress', 'egress by datagrams', 'names'],
};

describe('an agent that means harm', () => {
  let scene: Scene | undefined;
  afterEach(async () => {
    await scene?.troupe.clear();
    scene = undefined;
  });

  if (tool.name === null) {
    console.log(`      no sandbox here (${tool.reason}): only the refusals are tested`);

    it('runs bare, which its record, the audit log and doctor say', async () => {
      scene = await Scene.open('{sandbox: workspace}');
      const session = await scene.session('{}');
      expect(session.sandbox).to.deep.equal({ level: 'off', asked: 'workspace', reason: tool.reason });
      expect((await scene.troupe.run('doctor', '--home', scene.troupe.home())).out).to.include(tool.reason);
    });

    it('does not run where a sandbox is required', async () => {
      scene = await Scene.open('{sandbox: home, sandboxRequired: true}');
      const session = await scene.session('{}');
      expect(session).to.deep.include({ status: 'error' });
      expect(session.lastError).to.include(tool.reason);
    });
    return;
  }

  const levels = ['home', 'workspace', 'strict'] as const;
  for (const [n, level] of levels.entries()) {
    it(`gets nowhere at the level ${level}`, async () => {
      scene = await Scene.open(`{sandbox: ${level}}`);
      const { outcome, session, targets } = await scene.attack();
      const expected = levels.slice(0, n + 1).flatMap((each) => held[each]);
      for (const name of [...expected, 'open files of the store'])
        expect(outcome, `${name}: ${JSON.stringify(outcome)}`).to.have.property(name, 'denied');
      expect(session.sandbox).to.deep.equal({ level, asked: level, reason: null });
      // what it started by the way is gone with its turn
      expect(outcome['orphans']).to.equal('started');
      expect(processesWith(targets.mark)).to.deep.equal([]);
      expect(await exists(join(targets.outside, `${targets.mark}-raced`))).to.equal(level === 'home');
      expect(await readFile(join(targets.userHome, '.bashrc'), 'utf8')).to.equal('# mine\n');
      const planted = await Promise.all(absent.map((name) => exists(join(targets.userHome, name))));
      expect(absent.filter((_, at) => planted[at])).to.deep.equal([]);
    });
  }

  if (tool.name === 'bubblewrap' && tool.prlimit !== undefined && tool.countsProcesses)
    it('runs out of processes before the machine does', async () => {
      scene = await Scene.open('{sandbox: home}');
      const { outcome } = await scene.attack({ bomb: 600 });
      expect(outcome['processes']).to.be.within(100, 512);
    });
  else if (tool.name === 'bubblewrap' && tool.scope === undefined)
    it('is ended when it starts too many processes, where the system sets no bound to the superuser', async () => {
      scene = await Scene.open('{sandbox: home}', '/bin/sh');
      const mark = `sleep 60${process.pid}`;
      const { status, lastError } = await scene.session(
        `n=0; while [ $n -lt 3000 ]; do ${mark} & n=$((n+1)); done; wait`,
      );
      expect(lastError).to.include('started too many processes');
      expect(status).to.equal('error');
      expect(processesWith(mark)).to.deep.equal([]);
    });

  if (tool.name !== 'bubblewrap' || (tool.prlimit ?? tool.scope) === undefined)
    console.log('      memory is not bounded here (no prlimit): none is taken');
  else
    it('runs out of memory before the machine does', async () => {
      scene = await Scene.open('{sandbox: home, memoryMegabytesMax: 1024}');
      const { outcome } = await scene.attack({ memory: 1536 * 2 ** 20 });
      expect(outcome['memory']).to.equal('denied');
    });

  it('still reaches its gateway and named hosts at the level strict, and only as itself', async () => {
    const far = createServer((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nnamed'),
    ).listen(0, '127.0.0.1');
    await once(far, 'listening');
    const { port } = far.address() as { port: number };
    scene = await Scene.open(`{sandbox: strict, sandboxHosts: ['127.0.0.1:${port}']}`, '/bin/sh');
    const { token } = await scene.troupe.announcement();
    const said = async (script: string): Promise<string> => {
      const { id } = await scene!.session(script);
      const { messages } = (await scene!.client.get(`/api/sessions/${id}/messages`)).body;
      return String(messages.at(-1).content);
    };
    const own = await said(
      'curl -s -H "authorization: Bearer $SVC_GATEWAY_TOKEN" $SVC_GATEWAY_URL/api/status',
    );
    expect(own).to.include('"sessions"');
    const others = await said(
      `curl -s -o /dev/null -w '%{http_code}' -H "authorization: Bearer ${token}" $SVC_GATEWAY_URL/api/status`,
    );
    expect(others).to.include('403');
    // on a socket a page may offer its token as a protocol, which is read as well
    const socket = (bearer: string): string =>
      `curl -s -o /dev/null -m 5 -w '%{http_code}' -H 'Connection: Upgrade' -H 'Upgrade: websocket' ` +
      `-H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==' ` +
      `-H 'Sec-WebSocket-Protocol: troupe, bearer.${bearer}' $SVC_GATEWAY_URL/ws`;
    expect(await said(socket(token))).to.not.include('101');
    const through = `curl -s --noproxy '' -p -x $HTTP_PROXY http://127.0.0.1:`;
    expect(await said(`${through}${port}/`)).to.include('named');
    expect(await said(`${through}9/ || echo refused`)).to.include('refused');
    far.close();
  });

  it('gets everything without a sandbox, so that the attempts above prove something', async () => {
    scene = await Scene.open('{sandbox: off}');
    const { outcome, session, targets } = await scene.attack();
    const free = [
      'the token file',
      'the store',
      'the key of its worker',
      'folder of another session',
      'a link to the token',
      'signal to the gateway',
      'a file outside',
      'keys of the user',
      'egress',
      'egress by datagrams',
      'a startup file',
      'a program that the gateway looks for',
      'a module that the gateway loads',
      'a socket that starts programs',
    ];
    for (const name of free) expect(outcome[name], name).to.not.equal('denied');
    expect(outcome['open files of the store'], 'also here').to.equal('denied');
    expect(outcome['startup files that are not there yet']).to.deep.equal(absent);
    expect(session.sandbox).to.deep.equal({ level: 'off', asked: 'off', reason: null });
    for (const pid of processesWith(targets.mark)) process.kill(pid, 'SIGKILL');
  });
});

/** Processes of this machine that have a word on their command line. */
const processesWith = (word: string): readonly number[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(word))
    .map((line) => Number.parseInt(line, 10));

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
