import { expect } from 'chai';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { liveKeys } from '../../../lib/home/live-keys.js';
import { configKeys } from '../../../lib/home/config-keys.js';
import { defaultConfig } from '../../../lib/home/config.js';
import { flat, watchConfig, type ConfigChange, type LiveConfig } from '../../../lib/home/live-config.js';

describe('config.yaml while the gateway runs', () => {
  let folder: string;
  let path: string;
  let live: LiveConfig;
  let changes: ConfigChange[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'live-config-'));
    path = join(folder, 'config.yaml');
    live = watchConfig({ path, initial: defaultConfig(), log: pino({ level: 'silent' }) });
    changes = [];
    live.onChange((change) => changes.push(change));
    await live.poll();
  });
  afterEach(async () => {
    live.close();
    await rm(folder, { recursive: true });
  });
  const write = async (text: string): Promise<void> => {
    await writeFile(path, text);
    await live.poll();
  };

  it('takes over what can change, and names what waits for a restart', async () => {
    await write('gateway:\n  port: 1234\n  allowedHosts: [console.example]\nsessions:\n  roots: [/srv]\n');
    expect(changes).to.deep.equal([
      {
        type: 'taken',
        applied: ['gateway.allowedHosts', 'sessions.roots'],
        needsRestart: ['gateway.port'],
        needsReload: [],
      },
    ]);
    expect(live.current.gateway).to.deep.include({ allowedHosts: ['console.example'], port: 7420 });
    expect(live.current.sessions.roots).to.deep.equal(['/srv']);
  });

  // It named each letter: store.0, store.1, …
  it('names a setting that is no section, and a list, as what they are', async () => {
    await write('store: postgres://troupe@127.0.0.1/troupe\nmodules: [kinds.mjs]\n');
    expect(changes).to.deep.equal([
      { type: 'taken', applied: [], needsRestart: ['store', 'modules'], needsReload: [] },
    ]);
  });

  it('keeps the settings when the file cannot be used, says why, and goes on when it is repaired', async () => {
    await write('sessions:\n  roots: [/srv]\n');
    await write('sessions:\n  roots: [srv]\n');
    expect(changes[1]).to.include({ type: 'refused' });
    expect((changes[1] as { reason: string }).reason).to.match(/:2, sessions\.roots\.0/);
    expect(live.current.sessions.roots).to.deep.equal(['/srv']);
    await write('sessions:\n  roots: [/opt]\n');
    expect(live.current.sessions.roots).to.deep.equal(['/opt']);
  });

  it('goes back to the defaults when the file is removed, and says nothing when nothing changed', async () => {
    await write('budgets:\n  enforce: true\n');
    await write('budgets: {enforce: true}\n');
    await rm(path);
    await live.poll();
    expect(changes.map((change) => (change.type === 'taken' ? change.applied : change.type))).to.deep.equal([
      ['budgets.enforce'],
      ['budgets.enforce'],
    ]);
    expect(live.current.budgets.enforce).to.equal(false);
  });

  it("notices a file that an editor puts in the old one's place, unasked", async () => {
    const told = new Promise<ConfigChange>((resolve) => live.onChange(resolve));
    await writeFile(join(folder, 'config.yaml~'), 'logging:\n  level: debug\n');
    await rename(join(folder, 'config.yaml~'), path);
    expect(await told).to.deep.equal({
      type: 'taken',
      applied: ['logging.level'],
      needsRestart: [],
      needsReload: [],
    });
  });

  it('knows only keys that exist as live', () => {
    const keys = [...flat(defaultConfig()).keys()];
    expect(liveKeys.filter((key) => !keys.includes(key))).to.deep.equal([]);
  });

  it('documents every key with a sentence', () => {
    const keys = configKeys();
    expect(keys.map(({ key }) => key)).to.include.members([
      'gateway.port',
      'gateway.tls',
      'sessions.turnDeadlineMinutes',
      'engines.maxProcesses',
      'logging.level',
    ]);
    expect(
      keys.filter(({ about }) => about.length < 5).map(({ key }) => key),
      'keys without a sentence',
    ).to.deep.equal([]);
    for (const [key, value] of flat(defaultConfig())) {
      const known = keys.find((one) => one.key === key);
      if (known) expect(known.standard, key).to.deep.equal(value);
    }
  });
});
