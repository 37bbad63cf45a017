import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { parseConfig } from '../lib/home/read-config.js';
import { root } from './house/sources.js';

/**
 * Examples are the first code that people copy: each is run as they would run it, and leaves nothing behind.
 */
describe('the examples', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'troupe-examples-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  async function run(name: string, ...words: string[]): Promise<string> {
    const temporary = join(folder, 'tmp');
    await rm(temporary, { recursive: true, force: true });
    await mkdir(temporary);
    const child = spawn(process.execPath, [join(root, 'dist/examples', `${name}.js`), ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], TMPDIR: temporary, HOME: folder },
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (piece) => {
      out += String(piece);
    });
    child.stderr.on('data', (piece) => {
      err += String(piece);
    });
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code, `${out}${err}`).to.equal(0);
    expect(err, 'nothing to complain about').to.equal('');
    expect(await readdir(temporary), 'nothing left behind').to.deep.equal([]);
    return out;
  }

  it('embed: keeps a parcel across runs, and refuses with a sentence', async () => {
    const place = join(folder, 'parcels');
    const first = await run('embed', place);
    expect(first).to.match(
      /hand-over refused: A parcel that was never seen cannot be handed over\.\nparcel\.scan \{"state":"travelling","stops":\["Leipzig"\]\}/,
    );
    const second = await run('embed', place);
    expect(second)
      .to.match(/hand-over \{"state":"delivered","stops":\["Leipzig"\]\}/)
      .and.match(/3 \{"type":"parcel\.hand-over"\} → "delivered"/);
    expect((await run('embed')).split('\n')[1]).to.equal(first.split('\n')[1]);
  });

  it('gateway: streams an answer over troupe/client and reads the conversation', async () => {
    const out = await run('gateway');
    expect(out)
      .to.match(/^Added TRP-1: buy milk\.\n[^]*\nended idle\nuser: add "buy milk"/)
      .and.match(/assistant: Added TRP-1: buy milk\.\nAdded TRP-2: water the plants\./);
  });

  it('child-agents: two agents as children of a machine, one of them restarted once', async () => {
    const out = await run('child-agents');
    expect(out).to.include('ended as {"critic":"done","writer":"done"} after 1 restart\n');
    expect(out).to.match(/no muse[^]*writer assistant: a poem about the sea, once more\n/);
    expect(out).to.include('critic assistant: I expect much of it\n');
  });

  it("own-engine: streams what its program says and keeps the program's name of the conversation", async () => {
    expect(await run('own-engine')).to.equal(
      'three two one \nconversation c-1 used {"inputTokens":13,"outputTokens":13,"cachedTokens":0}\none two three\nthree two one\n',
    );
  });

  it('xstate-6: charges once, step by step, and thanks after the commit', async () => {
    expect((await run('xstate-6')).trim().split('\n').sort()).to.deep.equal([
      'lamp: charged 3',
      'thank you for the lamp',
    ]);
  });

  it('inspect: tells what happened to one light, and goes on where it stopped', async () => {
    const out = (await run('inspect')).split('\n');
    expect(out.slice(0, 4).map((line) => line.replace(/^\d+ /, ''))).to.deep.equal([
      'kernel.created: created → red (operator)',
      'go: red → green (operator)',
      'stop: green → yellow (operator)',
      'xstate.after.amber.light.yellow: yellow → red (timer)',
    ]);
    expect(out.slice(4)).to.deep.equal(['may happen next: go', 'lights by state: {"green":1,"red":1}', '']);
  });

  it('own-connector: sends one message and knows its outcome', async () => {
    expect(await run('own-connector')).to.equal(
      'outcome: sent\non the board: [fridge] We are out of milk. (d1)\n',
    );
  });

  it('counter: counts its runs on disk', async () => {
    const place = join(folder, 'counter');
    expect(await run('counter', place)).to.equal('ran 1 times\n');
    expect(await run('counter', place)).to.equal('ran 2 times\n');
  });

  it('transfer: moves money once, or not at all', async () => {
    expect(await run('transfer')).to.equal(
      'transfer 1\ntransfer 1\nrefused: There are only 300 cents.\nann 300\nbob 700\n',
    );
  });

  it('order: ships, gives the money back where that fails, and cancels who does not pay', async () => {
    const out = await run('order');
    expect(out.match(/ship \w+|refund \w+/g)).to.have.members(['ship book', 'ship vase', 'refund vase']);
    expect(out).to.match(/book shipped\n[^]*vase refunded\nlamp cancelled\n$/);
  });

  it('own-gateway: an engine and a connector of its own, asked over HTTP', async () => {
    expect(await run('own-gateway')).to.equal('idle MILK IS OUT\nsent [fridge] MILK IS OUT\n');
  });

  it('next-server: one supervisor behind route handlers, whose refusals are answers, kept across runs', async () => {
    const place = join(folder, 'votes');
    expect(await run('next-server', place))
      .to.match(/^200 \{"state":"open","votes":1\}\n200 \{"state":"open","votes":2\}\n200 \{"state":"closed"/)
      .and.match(/\n409 \{"error":"The poll lunch does not accept[^\n]*"code":"CONFLICT"\}\n/);
    expect(await run('next-server', place), 'closed it is').to.match(
      /^409 [^]*\{"state":"closed","votes":2\}\n$/,
    );
  });

  it('keep within 80 lines', async () => {
    for (const name of (await readdir(join(root, 'examples'))).filter((name) => name.endsWith('.ts'))) {
      const lines = (await readFile(join(root, 'examples', name), 'utf8')).trimEnd().split('\n').length;
      expect(lines, name).to.be.at.most(79);
    }
  });

  it('leave no example unproved', () => {
    const proved = [
      'browser-page', // spec/browser/example-page.spec.ts
      'inspector-express', // spec/lib/gateway/mount-inspector.spec.ts, as the next two
      'inspector-http',
      'inspector-koa',
      'child-agents',
      'counter',
      'embed',
      'gateway',
      'inspect',
      'next-server',
      'order',
      'own-connector',
      'own-engine',
      'own-gateway',
      'transfer',
      'xstate-6',
      ...(existsSync(join(root, 'spec/examples'))
        ? readdirSync(join(root, 'spec/examples')).map((name) => name.replace('.spec.ts', ''))
        : []),
    ];
    expect(
      readdirSync(join(root, 'examples'))
        .filter((name) => name.endsWith('.ts'))
        .map((name) => name.replace('.ts', ''))
        .filter((name) => !proved.includes(name)),
    ).to.deep.equal([]);
  });

  it('deploy a gateway that its own settings let listen, on this machine alone', async () => {
    const deploy = (name: string): Promise<string> => readFile(join(root, 'examples/deploy', name), 'utf8');
    const { gateway, agents } = parseConfig(await deploy('config.yaml'), 'config.yaml');
    expect(gateway).to.include({ host: '0.0.0.0', plainHttp: true, authRequired: true });
    expect(agents.sandbox).to.equal('off');
    const { services } = parse(await deploy('compose.yaml')) as {
      services: { gateway: { ports: string[]; volumes: string[]; build: { dockerfile: string } } };
    };
    expect(services.gateway.ports).to.deep.equal([`127.0.0.1:${gateway.port}:${gateway.port}`]);
    expect(services.gateway.volumes).to.include('./config.yaml:/home/node/.svc/config.yaml:ro');
    const nodes = parse(await deploy('compose-nodes.yaml'), { merge: true }) as {
      services: Record<
        'one' | 'two',
        { environment: { SVC_NODE: string }; ports: string[]; volumes: string[] }
      >;
    };
    for (const name of ['one', 'two'] as const) {
      const { environment, ports, volumes } = nodes.services[name];
      expect(environment.SVC_NODE).to.equal(name);
      expect(ports[0]).to.match(/^127\.0\.0\.1:/);
      expect(volumes).to.include('./config-nodes.yaml:/home/node/.svc/config.yaml:ro');
    }
    expect(parseConfig(await deploy('config-nodes.yaml'), 'config-nodes.yaml').store).to.match(/^postgres:/);
    // npm ci needs the file of every workspace
    const { workspaces } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      workspaces: string[];
    };
    const dockerfile = await readFile(join(root, services.gateway.build.dockerfile), 'utf8');
    for (const name of workspaces) expect(dockerfile).to.include(`COPY ${name}/package.json ${name}/`);
  });
});
