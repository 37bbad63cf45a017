import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInstance, type Instance, type InstanceOptions } from '../../../lib/instance.js';
import { route } from '../../../lib/gateway/route.js';
import { z } from 'zod';
import { root } from '../../house/sources.js';
import { Troupe } from '../cli/troupe.js';

/** A kind, an engine and a connector of a user, written as they would be: by the name of the package. */
const ownModule = `
import { defineKind } from 'troupe';
import { defineEngine } from 'troupe/agents';
import { defineConnector } from 'troupe/connectors';
import { assign, setup } from 'xstate';

const machine = setup({}).createMachine({
  context: { total: 0 },
  on: { add: { actions: assign({ total: ({ context, event }) => context.total + event.n }) } },
});
export default {
  kinds: [defineKind({ kind: 'tally', version: 1, machine, view: ({ context }) => ({ total: context.total }) })],
  engines: [
    defineEngine({
      name: 'parrot',
      effortMechanism: 'none',
      discover: async () => ({ available: true, defaultModel: null, models: [] }),
      turn: async ({ prompt }) => ({ outcome: 'succeeded', text: prompt + '!' }),
    }),
  ],
  connectors: [
    defineConnector({
      type: 'pigeon',
      capabilities: { threading: false, messageEdits: false, reactions: false, attachments: false },
      open: async () => ({ send: async () => ({ outcome: 'sent' }), probe: async () => undefined, close: async () => undefined }),
    }),
  ],
};
`;

describe('modules of a home', () => {
  let home: string;
  let instance: Instance | undefined;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'troupe-modules-'));
  });
  afterEach(async () => {
    await instance?.close();
    instance = undefined;
    await rm(home, { recursive: true });
  });
  const write = (name: string, text: string): Promise<void> =>
    writeFile(join(home, name), text, { mode: 0o600 });
  const start = async (options: InstanceOptions = {}): Promise<Instance> =>
    (instance = await startInstance({ home, port: 0, ...options }));
  const get = async (path: string): Promise<any> => {
    // what a foreign client sees is unknown to us
    const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
    const response = await fetch(`${instance?.url}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return response.headers.get('content-type')?.includes('json') === true
      ? response.json()
      : response.text();
  };
  const refused = (): Promise<Error> =>
    start().then(
      () => expect.fail('it started'),
      (error: Error) => error,
    );

  it('bring kinds, engines and connectors, which the gateway treats as its own', async () => {
    await write('own.mjs', ownModule);
    await write(
      'config.yaml',
      'modules: [own.mjs]\nengines: {default: parrot}\nconnectors: {instances: [{name: coo, type: pigeon}]}\n',
    );
    const { app, defaultEngine } = await start();
    expect(defaultEngine).to.equal('parrot');
    await app.supervisor.spawn('tally', { id: 't' });
    await app.supervisor.ask('tally', 't', { type: 'add', n: 2 });
    expect((await app.supervisor.get('tally', 't'))?.view).to.deep.equal({ total: 2 });
    expect(JSON.stringify(await get('/api/inspect/fleet'))).to.include('tally');
    expect(JSON.stringify(await get('/api/inspect/actors/tally/t/why'))).to.include('add');
    expect(JSON.stringify(await get('/api/engines'))).to.include('parrot');
    const [connector] = await get('/api/connectors');
    expect(connector).to.include({ name: 'coo', status: 'running' });

    const sha256 = createHash('sha256').update(ownModule).digest('hex');
    expect(await readFile(join(home, 'logs/gateway.log'), 'utf8')).to.include(sha256);
    const program = await Troupe.create();
    const { out } = await program.run('doctor', '--home', home);
    await program.clear();
    expect(out).to.include('own.mjs').and.to.include(sha256);

    await instance?.close();
    await start();
    expect((await instance?.app.supervisor.get('tally', 't'))?.view, 'after a restart').to.deep.equal({
      total: 2,
    });
  });

  // The module of a home was in no backup of it: what was restored did not start
  it('are in a backup with what lies beside them, and their actors come back', async () => {
    await mkdir(join(home, 'own'), { mode: 0o700 });
    await write('own/limit.mjs', 'export const limit = 9;');
    await write(
      'own/kinds.mjs',
      `import { limit } from './limit.mjs';\n${ownModule.replaceAll('total: 0', 'total: limit')}`,
    );
    // One by its whole path: restored, it is no path below the backup, which for that was called damaged
    await write(
      'config.yaml',
      `modules: [own/kinds.mjs, ${JSON.stringify(join(home, 'more', 'none.mjs'))}]\n`,
    );
    await mkdir(join(home, 'more'), { mode: 0o700 });
    await write('more/none.mjs', 'export default {};');
    const { app } = await start();
    await app.supervisor.spawn('tally', { id: 't' });
    await app.supervisor.ask('tally', 't', { type: 'add', n: 2 });
    expect(await get('/metrics')).to.include('troupe_actors{kind="tally"} 1\n');
    expect(JSON.stringify(await get('/api/inspect/bundle?kind=tally&id=t'))).to.include(
      '{"type":"add","n":2}',
    );
    const away = await mkdtemp(join(tmpdir(), 'troupe-away-'));
    const program = await Troupe.create();
    try {
      const [copy, restored] = [join(away, 'copy'), join(away, 'home')];
      expect((await program.run('backup', copy, '--home', home)).code).to.equal(0);
      expect((await program.run('restore', copy, '--home', restored)).code).to.equal(0);
      await instance?.close();
      await start({ home: restored });
      expect((await instance?.app.supervisor.get('tally', 't'))?.view).to.deep.equal({ total: 11 });
    } finally {
      await program.clear();
      await instance?.close();
      instance = undefined;
      await rm(away, { recursive: true });
    }
  });

  // A home in a project that has the package found its files one by one: a second copy beside the bundle that ran
  it('get of this package what runs, also where it lies beside them', async () => {
    await mkdir(join(home, 'node_modules'));
    await symlink(root, join(home, 'node_modules/troupe'));
    const names = "['troupe', 'troupe/gateway', 'troupe/package.json']";
    await write('own.mjs', `throw new Error(${names}.map((name) => import.meta.resolve(name)).join(' '));`);
    await write('config.yaml', 'modules: [own.mjs]\n');
    const program = await Troupe.create();
    const { err } = await program.run('start', '--home', home);
    await program.clear();
    for (const file of ['face.js', 'face-gateway.js', 'package.json'])
      expect(err).to.include(`/dist/command/${file}`);
  });

  // The one who may write such a file is the gateway.
  it('are refused where others could change them, through a link, too', async () => {
    const away = await mkdtemp(join(tmpdir(), 'troupe-away-'));
    try {
      await writeFile(join(away, 'own.mjs'), ownModule, { mode: 0o600 });
      await symlink(join(away, 'own.mjs'), join(home, 'own.mjs'));
      await write('config.yaml', 'modules: [own.mjs]\n');
      await chmod(away, 0o777);
      expect((await refused()).message).to.match(
        /modules: "own\.mjs" can be changed by others \(.*away.*chmod go-w/,
      );
      await chmod(away, 0o700);
      await chmod(join(away, 'own.mjs'), 0o662);
      expect((await refused()).message).to.match(/can be changed by others \(.*own\.mjs\)/);
      await chmod(join(away, 'own.mjs'), 0o600);
      await start();
    } finally {
      await rm(away, { recursive: true });
    }
  });

  it('are refused with a sentence when they cannot be used', async () => {
    await write('config.yaml', 'modules: [own.mjs]\n');
    expect((await refused()).message).to.match(/"own\.mjs" cannot be read.*Correct the path, or remove it\./);
    await write('own.mjs', 'export const kinds = [];');
    expect((await refused()).message).to.match(/has no default export/);
  });

  it('are refused for a member that nothing reads, and for what is no list', async () => {
    await write('config.yaml', 'modules: [one.mjs]\n');
    await write('one.mjs', 'export default { kind: [] };');
    expect((await refused()).message).to.match(/unknown member "kind"/);
    await write('config.yaml', 'modules: [two.mjs]\n');
    await write('two.mjs', 'export default { kinds: {} };');
    expect((await refused()).message).to.match(/"kinds", which is no list/);
    await write('config.yaml', 'modules: [three.mjs]\n');
    await write('three.mjs', 'throw new Error("not today");');
    expect((await refused()).message).to.match(/could not be loaded: not today/);
  });

  it('have their like in startInstance, with routes', async () => {
    const hello = route(
      'GET',
      '/api/hello',
      'status.read',
      { about: 'Says hello.', answer: z.object({ hello: z.string() }) },
      ({ app }) => ({ body: { hello: app.settings.home } }),
    );
    await start({ routes: [hello] });
    expect(await get('/api/hello')).to.deep.equal({ hello: home });
    expect(Object.keys((await get('/api/openapi.json')).paths)).to.include('/api/hello');
    await instance?.close();
    const again = start({ routes: [{ ...hello, path: '/api/status' }] });
    expect(await again.catch((error: Error) => error.message)).to.equal(
      'There is a route GET /api/status already.',
    );
  });
});
