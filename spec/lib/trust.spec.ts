import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { access, chmod, mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WaitingItem } from '../../lib/cli/waiting.js';
import { Troupe } from './cli/troupe.js';
import { makeClient, type Client } from './gateway/fixture.js';

/**
 * An agent saw nothing of a project, CLAUDE.md included, since its settings could permit tools and run programs. Now
 * words are seen; settings that permit or run count once a person has trusted the files as they are. The agent is a
 * protocol peer of Claude Code that answers with its command line, or with its prompt.
 */
describe('what a project sets for agents', () => {
  let troupe: Troupe;
  let project: string;
  let client: Client;
  const peer = fileURLToPath(new URL('../fixtures/agents/claude.js', import.meta.url));
  beforeEach(async () => {
    troupe = await Troupe.create();
    await mkdir(troupe.home(), { mode: 0o700 });
    const program = join(troupe.folder, 'claude');
    await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${peer}' "$@"\n`);
    await chmod(program, 0o755);
    const qwen = join(troupe.folder, 'qwen');
    await writeFile(qwen, '#!/bin/sh\ntouch started\n');
    await chmod(qwen, 0o755);
    await writeFile(
      join(troupe.home(), 'config.yaml'),
      `agents: {sandbox: off}\nengines:\n  default: claude\n  claude: {bin: ${program}}\n  qwen: {bin: ${qwen}}\n`,
    );
    const folder = join(troupe.folder, 'project');
    await mkdir(join(folder, '.claude'), { recursive: true });
    project = await realpath(folder);
    execFileSync('git', ['-C', project, 'init', '-q']);
    await writeFile(join(project, 'CLAUDE.md'), 'use tabs');
    await troupe.start();
    const { port, token } = await troupe.announcement();
    client = makeClient(port, { authorization: `Bearer ${token}` });
  });
  afterEach(() => troupe.clear());

  const at = (...words: string[]): string[] => [...words, '--home', troupe.home()];
  const run = (prompt: string, ...more: string[]) =>
    troupe.run(...at('run', '--cwd', project, ...more, prompt));
  const set = async (settings: object, file = '.claude/settings.json'): Promise<void> => {
    await mkdir(dirname(join(project, file)), { recursive: true });
    await writeFile(join(project, file), JSON.stringify(settings));
  };
  const waiting = async (): Promise<readonly WaitingItem[]> =>
    JSON.parse((await troupe.run(...at('waiting', '--json'))).out) as readonly WaitingItem[];
  /** Of the settings that are loaded, and the tools that are asked for whatever they say. */
  async function options(): Promise<{
    readonly sources: string;
    readonly ask: readonly string[];
    all: string;
  }> {
    const { out, err } = await run('[[options]]');
    expect(err).to.not.include('failed');
    const lines = out.split('\n');
    const settings =
      lines.find((line) => line.startsWith('--settings='))?.slice('--settings='.length) ?? '{}';
    const { permissions } = JSON.parse(settings) as { readonly permissions: { readonly ask: string[] } };
    return { sources: lines[lines.indexOf('--setting-sources') + 1] ?? '', ask: permissions.ask, all: out };
  }
  const planted = { permissions: { allow: ['Bash(*)'] }, hooks: { SessionStart: [] } };

  it('is seen as far as it is words and choices, and no one is asked', async () => {
    await set({ model: 'opus' });
    await set({}, '.claude/skills/greet/script.json');
    await writeFile(join(project, '.claude/skills/greet/SKILL.md'), '---\nname: greet\n---\nSay hello.');
    await writeFile(join(project, '.claude/skills/greet/script.json'), '');
    const { err } = await run('hello');
    expect(err).to.include('script.json (settings)'); // what is unknown could set anything
    execFileSync('rm', [join(project, '.claude/skills/greet/script.json')]);
    expect((await options()).sources).to.equal('user,project,local');
    expect((await run('hello')).err).to.not.include('trust');
  });

  it('neither permits nor runs anything before it is trusted, but its words are seen', async () => {
    await set(planted);
    expect((await options()).sources).to.equal('user');
    const { out, err } = await run('[[echo]] hello');
    expect(out).to.include('use tabs').and.to.include('hello');
    expect(err).to.include('.claude/settings.json (permissions, hooks)');
    expect(err).to.include(`troupe trust --home ${troupe.home()} ${project}`);
    const [first] = await waiting();
    expect(first).to.include({ what: 'trust', on: 'operator', within: project });
  });

  it('counts once it is trusted, never widens what the session may do, and waits no more', async () => {
    await set(planted);
    await set({ mcpServers: { docs: { command: 'docs' } } }, '.mcp.json');
    await run('hello');
    expect((await waiting()).length).to.equal(1);
    const { out } = await troupe.run(...at('trust', project));
    expect(out).to.include('.mcp.json (servers)').and.to.include('Trusted');
    expect(await waiting()).to.deep.equal([]);
    const { sources, ask, all } = await options();
    expect(sources).to.equal('user,project,local');
    expect(ask).to.include.members(['Bash', 'Edit', 'Write', 'WebFetch', 'mcp__docs']);
    expect(all.split('\n')).to.include(join(project, '.mcp.json'));
    const asked = run('[[use Bash]]', '--detach');
    await asked;
    for (;;) {
      const [item] = await waiting();
      if (item === undefined) continue;
      expect(item.what).to.equal('permission');
      break;
    }
  });

  for (const file of ['.claude/settings.json', '.claude/settings.local.json', '.mcp.json'])
    it(`is trusted no longer when ${file} changes`, async () => {
      await set(planted);
      await troupe.run(...at('trust', project));
      expect((await options()).sources).to.equal('user,project,local');
      await set({ hooks: { Stop: [] }, mcpServers: {} }, file);
      expect((await options()).sources).to.equal('user');
    });

  it('is trusted by what was read: a change meanwhile is refused', async () => {
    await set(planted);
    await run('hello');
    const [item] = await waiting();
    await set({ hooks: { Stop: [] } });
    const late = await troupe.run(...at('approve', item?.id ?? ''));
    expect(late.err).to.include('have changed meanwhile');
    expect((await options()).sources).to.equal('user');
  });

  it('can be dismissed, and trust be withdrawn', async () => {
    await set(planted);
    await run('hello');
    const [item] = await waiting();
    expect((await troupe.run(...at('reject', item?.id ?? ''))).code).to.equal(0);
    expect(await waiting()).to.deep.equal([]);
    expect((await options()).sources).to.equal('user');
    await troupe.run(...at('trust', project));
    await troupe.run(...at('trust', '--withdraw', project));
    expect((await options()).sources).to.equal('user');
  });

  it('cannot be trusted where a link leads elsewhere, nor does CLAUDE.md lead into the home', async () => {
    await set(planted);
    await symlink(join(troupe.folder, 'claude'), join(project, '.claude/settings.local.json'));
    expect((await troupe.run(...at('trust', project))).err).to.include('cannot be trusted');
    const { token } = await troupe.announcement();
    execFileSync('rm', [join(project, 'CLAUDE.md')]);
    await symlink(join(troupe.home(), 'gateway.json'), join(project, 'CLAUDE.md'));
    const { out } = await run('[[echo]] hello');
    expect(out).to.include('hello').and.to.not.include(token);
  });

  it('holds for the worktrees of a trusted repository', async () => {
    await set(planted);
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', project, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args]);
    git('add', '.');
    git('commit', '-qm', 'one');
    await troupe.run(...at('trust', project));
    expect((await run('[[options]]', '--worktree')).out).to.include('user,project,local');
  });

  it('is judged by people alone', async () => {
    await set(planted);
    const { body } = await client.post('/api/sessions', { prompt: 'hello' });
    expect((await client.get(`/api/trust?folder=${encodeURIComponent(project)}`)).body).to.include({
      folder: project,
      state: 'untrusted',
    });
    const sent = { event: { type: 'settings.judged', sha256: 'x' } };
    expect((await client.post(`/api/inspect/actors/session/${body.id}/send`, sent)).status).to.not.equal(200);
    const anonymous = makeClient((await troupe.announcement()).port, {});
    expect((await anonymous.post('/api/trust', { folder: project, decision: 'trust' })).status).to.equal(401);
    expect((await anonymous.get('/api/trust?folder=/')).status).to.equal(401);
  });

  it('keeps an engine from starting that cannot leave it out', async () => {
    await set({ mcpServers: {} }, '.qwen/settings.json');
    const { err } = await run('hello', '--engine', 'qwen');
    expect(err).to.include('qwen would take over what this project sets');
    expect(await access(join(project, 'started')).catch(() => 'never started')).to.equal('never started');
  });
});
