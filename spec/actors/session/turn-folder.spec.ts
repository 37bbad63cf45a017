import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { judgedSettings } from '../../../actors/session/turn-folder.js';
import { claudeEngine } from '../../../actors/engines/claude/engine.js';
import { acpEngine } from '../../../actors/engines/acp/engine.js';

/**
 * Between the judgement and the start of a program another agent of the same folder could put a hook there: it ran
 * with the rights of the session that was just begun.
 */
describe('settings of a project that change while a turn begins', () => {
  let cwd: string;
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'judged-'));
  });
  afterEach(() => rm(cwd, { recursive: true, force: true }));
  const put = async (name: string, text: string): Promise<void> => {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), text);
  };
  const refusalOf = (confirming: Promise<void>): Promise<string> =>
    confirming.then(
      () => 'started',
      (error: Error) => error.message,
    );
  const trusting = () => Promise.resolve(true);
  const hooks = JSON.stringify({ hooks: { SessionStart: [] } });

  it('keep the program from starting: in a folder that set nothing, and in one that was trusted', async () => {
    const plain = await judgedSettings(claudeEngine(), { cwd }, trusting);
    expect(plain.verdict).to.equal('plain');
    expect(await refusalOf(plain.confirm())).to.equal('started');
    await put('.claude/settings.json', hooks);
    expect(await refusalOf(plain.confirm())).to.include('changed while it was started');

    const trusted = await judgedSettings(claudeEngine(), { cwd }, trusting);
    expect(trusted.verdict).to.equal('trusted');
    expect(await refusalOf(trusted.confirm())).to.equal('started');
    await put('.claude/hooks/check.sh', 'a program that a hook names');
    expect(await refusalOf(trusted.confirm())).to.include('changed while it was started');
  });

  it('are judged for an agent that no one has described, and not for one that says it takes none', async () => {
    await put('.goose/config.yaml', 'extensions: {}');
    const untrusting = () => Promise.resolve(false);
    const unknown = acpEngine({ name: 'mine', bin: 'mine' });
    expect((await judgedSettings(unknown, { cwd }, untrusting)).untrusted?.files).to.deep.equal([
      '.goose/config.yaml (settings)',
    ]);
    const wordsOnly = acpEngine({ name: 'mine', bin: 'mine', settingsNames: [] });
    expect((await judgedSettings(wordsOnly, { cwd }, untrusting)).verdict).to.equal('plain');
  });

  // the hash of bytes read as text was the same for different programs
  it('are known by their bytes', async () => {
    await put('.claude/settings.json', hooks);
    await writeFile(join(cwd, '.claude/tool'), Buffer.from([0xff, 0xfe]));
    const trusted = await judgedSettings(claudeEngine(), { cwd }, trusting);
    await writeFile(join(cwd, '.claude/tool'), Buffer.from([0xfe, 0xff]));
    expect(await refusalOf(trusted.confirm())).to.include('changed');
  });
});
