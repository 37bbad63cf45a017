import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acpFolders } from '../../../actors/engines/acp/folders.js';
import { acpPresetNames, acpPresets } from '../../../actors/engines/acp/presets.js';
import { claudeFolders } from '../../../actors/engines/claude/folders.js';
import { absent } from '../../fixtures/agents/absent-startup-files.js';
import { createSandbox, type Command, type Confined } from '../../../actors/sandbox/sandbox.js';
import { findSandboxTool } from '../../../actors/sandbox/tool.js';

const tool = await findSandboxTool();

/** What is between the look at a folder and its mount, and what of an engine's settings an agent may leave behind. */
describe('a confined command', () => {
  let user: string;
  let cwd: string;
  const before = process.env['HOME'];
  beforeEach(async () => {
    user = await realpath(await mkdtemp(join(tmpdir(), 'troupe-confine-')));
    cwd = join(user, 'project');
    await mkdir(cwd);
    process.env['HOME'] = user;
  });
  afterEach(async () => {
    process.env['HOME'] = before;
    await rm(user, { recursive: true, force: true });
  });
  const sandbox = () => createSandbox({ hidden: async () => [], ownFolders: [], isRequired: () => false });
  const shell = (script: string): Command => ({
    program: '/bin/sh',
    args: ['-c', script],
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: user },
  });
  const started = ({ program, args, cwd: at, env }: Confined) =>
    spawnSync(program, args, { cwd: at, env, encoding: 'utf8' });

  if (tool.name !== 'bubblewrap') {
    it('is the command itself where nothing confines', async () => {
      const { program, level, mounts } = await sandbox().confine(shell('true'), 'home');
      if (tool.name === null)
        expect({ program, level, mounts }).to.deep.include({ level: 'off', mounts: [] });
    });
    return;
  }

  // every folder of the user's was a mount of its own: 1,000 of them took seconds at each start
  it('leaves of very many folders those writable that builds need and that changed last, and is made again', async () => {
    for (let n = 0; n < 150; n += 1) {
      await mkdir(join(user, `old-${n}`));
      await utimes(join(user, `old-${n}`), 1, 1);
    }
    for (const name of ['new', '.cache', '.m2']) await mkdir(join(user, name));
    await utimes(join(user, '.m2'), 1, 1);
    const sandboxed = sandbox();
    const words =
      'for name in new .m2 old-149 later; do touch ../$name/here 2>/dev/null && echo $name; done; true';
    const { mounts } = await sandboxed.confine(shell(words), 'home');
    expect(mounts.filter(({ path }) => path.startsWith(`${user}/`)).length).to.be.below(50);
    expect(
      started(await sandboxed.confine(shell(words), 'home'))
        .stdout.trim()
        .split('\n'),
    ).to.deep.equal(['new', '.m2']);
    await mkdir(join(user, 'later'));
    expect(started(await sandboxed.confine(shell(words), 'home')).stdout).to.include('later');
  });

  for (const level of ['home', 'workspace'] as const)
    it(`does not start in a folder that was replaced since it was judged, at the level ${level}`, async () => {
      await mkdir(join(user, 'secret'));
      await writeFile(join(user, 'secret', 'key'), 'a secret');
      const confined = await sandbox().confine(shell('cat key; echo ran'), level);
      await rename(cwd, join(user, 'moved'));
      await symlink(join(user, 'secret'), cwd);
      const { stdout, status } = started(confined);
      expect(stdout).to.equal('');
      expect(status).to.not.equal(0);
    });

  const read = (...path: string[]) => readFile(join(user, ...path), 'utf8').catch(() => undefined);

  it("leaves nothing in Claude Code's settings that a later start would run, and keeps its login", async () => {
    const configuration = join(user, '.claude');
    await mkdir(configuration);
    await writeFile(join(user, '.claude.json'), '{"userID":"me"}');
    await writeFile(join(configuration, '.credentials.json'), 'old');
    const folders = await claudeFolders({ bin: 'claude' }, cwd);
    const script = [
      'cat ~/.claude.json && echo seen',
      'echo \'{"mcpServers":{}}\' > ~/.claude.json && echo state',
      'echo \'{"hooks":{}}\' > ~/.claude/settings.json && echo settings',
      'echo new > ~/.claude/.credentials.json && echo login',
      'for own in ~/.claude/projects/*; do echo turn > $own/turn.jsonl && echo conversation; done',
    ].join('; ');
    for (const [level, said] of [
      ['home', '{"userID":"me"}seen\nsettings\nlogin\nconversation\n'],
      ['workspace', '{"userID":"me"}seen\nstate\nsettings\nlogin\nconversation\n'],
    ] as const) {
      const { stdout, stderr } = started(await sandbox().confine({ ...shell(script), folders }, level));
      expect(stdout, stderr).to.equal(said);
      expect(await read('.claude.json')).to.equal('{"userID":"me"}');
      expect(await read('.claude', 'settings.json')).to.equal(undefined);
      expect(await read('.claude', '.credentials.json')).to.equal('new\n');
      const [written = ''] = folders.writes?.filter((path) => path.includes('projects')) ?? [];
      expect(await readFile(join(written, 'turn.jsonl'), 'utf8')).to.equal('turn\n');
    }
  });

  for (const name of acpPresetNames)
    it(`leaves nothing in the settings of ${name} that a later start would run, and keeps its conversations`, async () => {
      const { folders: places, keeps } = acpPresets[name];
      const [place = ''] = places;
      await mkdir(join(user, place, 'commands'), { recursive: true });
      await writeFile(join(user, place, 'config.json'), 'mine');
      for (const kept of keeps.filter((each) => !each.endsWith('/')))
        await writeFile(join(user, kept), 'old');
      const folders = await acpFolders(acpPresets[name]);
      const script = [
        `cat ~/${place}/config.json && echo seen`,
        `echo planted > ~/${place}/config.json`,
        `echo planted > ~/${place}/settings.json`,
        `echo planted > ~/${place}/commands/own`,
        `mkdir ~/${place}/hooks && echo planted > ~/${place}/hooks/own`,
        ...keeps.map((kept) => `echo kept > ~/${kept.endsWith('/') ? `${kept}own` : kept}`),
      ].join('; ');
      for (const level of ['home', 'workspace'] as const) {
        const { stdout } = started(await sandbox().confine({ ...shell(script), folders }, level));
        expect(stdout).to.equal('mineseen\n');
        expect(await read(place, 'config.json')).to.equal('mine');
        for (const planted of ['settings.json', 'commands/own', 'hooks/own'])
          expect(await read(place, planted), planted).to.equal(undefined);
        for (const kept of keeps)
          expect(await read(kept.endsWith('/') ? `${kept}own` : kept), kept).to.equal('kept\n');
      }
    });

  // It could not be taken over: its turn had none of the gateway's tools, and nothing said so
  it('shows opencode no lock that a run outside has left', async () => {
    const locks = join(user, '.local/state/opencode/locks');
    await mkdir(locks, { recursive: true });
    await writeFile(join(locks, 'a1.lock'), 'held');
    const folders = await acpFolders(acpPresets.opencode);
    const script = 'mkdir ~/.local/state/opencode/locks && echo mine';
    for (const level of ['home', 'workspace'] as const)
      expect(started(await sandbox().confine({ ...shell(script), folders }, level)).stdout).to.equal(
        'mine\n',
      );
    expect(await readFile(join(locks, 'a1.lock'), 'utf8')).to.equal('held');
  });

  it('has a folder for caches, which it could not make where the user has none yet', async () => {
    const { stderr } = started(await sandbox().confine(shell('mkdir -p ~/.cache/own'), 'home'));
    expect(stderr).to.equal('');
  });

  it('makes no startup file of the user that was not there, and works on in the folders that were', async () => {
    await mkdir(join(user, 'other', 'deep'), { recursive: true });
    for (const level of ['home', 'workspace'] as const)
      for (const around of [
        [],
        ['.config', '.local/share', '.claude', '.gemini', '.codex', '.qwen', '.copilot'],
      ]) {
        for (const folder of around) await mkdir(join(user, folder), { recursive: true });
        const script = absent.map((name) => `mkdir -p "$(dirname ~/${name})"; echo planted > ~/${name}`);
        const confined = await sandbox().confine(
          shell([...script, 'echo > ~/project/own', 'echo > ~/other/deep/own'].join('; ')),
          level,
        );
        started(confined);
        for (const name of absent) expect(await read(name), `${level}: ${name}`).to.equal(undefined);
        expect(await read('project', 'own')).to.equal('\n');
        expect(await read('other', 'deep', 'own')).to.equal('\n');
      }
  });
});
