import { expect } from 'chai';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startInstance } from '../../../lib/instance.js';
import { Troupe } from './troupe.js';

/** A home's own kinds are decided once more like ours: `troupe replay` said "this build has none" of them. */
describe('troupe replay, of a kind from the modules of a home', () => {
  let troupe: Troupe;
  before(async () => {
    troupe = await Troupe.create();
  });
  after(() => troupe.clear());

  it('replays with the modules of the home that is named, and says what is missing without them', async () => {
    const home = troupe.home();
    await mkdir(join(home, 'own'), { recursive: true, mode: 0o700 });
    const module = `
      import { defineKind } from 'troupe';
      import { assign, setup } from 'xstate';
      const machine = setup({}).createMachine({
        context: { total: 0 },
        on: { add: { actions: assign({ total: ({ context, event }) => context.total + event.n }) } },
      });
      export default { kinds: [defineKind({ kind: 'tally', version: 1, machine, view: ({ context }) => context.total })] };`;
    await writeFile(join(home, 'own/kinds.mjs'), module, { mode: 0o600 });
    await writeFile(join(home, 'config.yaml'), 'modules: [own/kinds.mjs]\n', { mode: 0o600 });
    const file = join(troupe.folder, 'tally.json');
    const instance = await startInstance({ home, port: 0 });
    try {
      await instance.app.supervisor.spawn('tally', { id: 't1' });
      await instance.app.supervisor.ask('tally', 't1', { type: 'add', n: 2 });
      const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
      const bundle = await fetch(`${instance.url}/api/inspect/bundle?kind=tally&id=t1`, {
        headers: { authorization: `Bearer ${token}` },
      });
      await writeFile(file, await bundle.text());
    } finally {
      await instance.close();
    }
    const known = await troupe.run('replay', file, '--home', home);
    expect(known.out, known.err).to.match(/tally\/t1 replayed identically, 2 steps/);
    expect(known.code).to.equal(0);
    const unknown = await troupe.run('replay', file);
    expect(unknown.out, unknown.err).to.match(/machine tally: this build has none/);
    expect(unknown.code).to.equal(1);
  });
});
