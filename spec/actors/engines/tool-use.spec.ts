import { expect } from 'chai';
import { mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { permit } from '../../../actors/engines/agent/permission.js';
import { acpUse, claudeUse, codexCommand, resolvedUse } from '../../../actors/engines/agent/tool-use.js';
import type { TurnIO } from '../../../actors/engines/engine.js';
import type { ToolUse } from '../../../machines/session/tool-rule.js';
import { freshFolder } from './child-fixture.js';

/** What agents ask for, in the words of permission rules. */
describe('what a tool would do', () => {
  let cwd: string;
  beforeEach(async () => {
    cwd = await realpath(await freshFolder());
    await mkdir(join(cwd, 'src'));
    await writeFile(join(cwd, 'src', 'a.ts'), '');
  });
  afterEach(() => rm(cwd, { recursive: true, force: true }));

  it('is read from the tools of Claude Code', () => {
    expect(claudeUse('Bash', { command: 'ls' })).to.deep.equal({ tool: 'Bash', command: 'ls' });
    for (const tool of ['Edit', 'Write', 'MultiEdit'])
      expect(claudeUse(tool, { file_path: 'a' }), tool).to.deep.equal({ tool: 'Edit', paths: ['a'] });
    expect(claudeUse('NotebookEdit', { notebook_path: 'n' })).to.deep.equal({ tool: 'Edit', paths: ['n'] });
    expect(claudeUse('Read', {})).to.deep.equal({ tool: 'Read', paths: [] });
    expect(claudeUse('WebFetch', { url: 'https://A.example:8443/x@b.example' })).to.deep.equal({
      tool: 'WebFetch',
      host: 'a.example',
    });
    expect(claudeUse('TodoWrite', {})).to.equal(undefined);
    // What would run a command under another name is no command that a rule knows
    expect(claudeUse('Monitor', { command: 'git status' })).to.deep.equal({ tool: 'Bash', command: '' });
    expect(claudeUse('mcp__sh__run', { command: 'git status' })).to.equal(undefined);
  });

  it('is read from the kinds of the Agent Client Protocol', () => {
    expect(acpUse('execute', { rawInput: { command: ['ls', '-l'] } })).to.deep.equal({
      tool: 'Bash',
      command: '',
    });
    for (const beside of [{ args: ['-c', 'id'] }, { env: { GIT_PAGER: 'id' } }])
      expect(acpUse('execute', { rawInput: { command: 'git', ...beside } })).to.deep.equal({
        tool: 'Bash',
        command: '',
      });
    expect(
      acpUse('edit', { locations: [{ path: 'a' }], content: [{ type: 'diff', path: 'b' }] }),
    ).to.deep.equal({ tool: 'Edit', paths: ['a', 'b'] });
    expect(acpUse('edit', {}), 'of files that it does not name').to.deep.equal({ tool: 'Edit', paths: [] });
    expect(acpUse('move', { locations: [{ path: 'a' }] })).to.deep.equal({ tool: 'Edit', paths: [] });
    expect(acpUse('think', {})).to.equal(undefined);
  });

  it('is read from the shell that Codex puts around a command, where it is one word', () => {
    expect(codexCommand("/bin/bash -lc 'git status'")).to.equal('git status');
    expect(codexCommand('bash -lc "git status"')).to.equal('git status');
    expect(codexCommand('zsh -lc ls')).to.equal('ls');
    for (const other of [`bash -lc 'a' 'b'`, `bash -lc "a $(id)"`, `bash -lc 'a'"; id"`, 'bash x.sh'])
      expect(codexCommand(other), other).to.equal(other);
  });

  it('names the files that are really meant', async () => {
    await symlink('/etc', join(cwd, 'src', 'out'));
    await symlink(join(cwd, 'nowhere'), join(cwd, 'src', 'dangling'));
    const real = async (path: string) =>
      (await resolvedUse({ tool: 'Edit', paths: [path] }, cwd)) as ToolUse & { paths: string[] };
    expect((await real('src/a.ts')).paths).to.deep.equal([join(cwd, 'src/a.ts')]);
    expect((await real('src/new/b.ts')).paths).to.deep.equal([join(cwd, 'src/new/b.ts')]);
    expect((await real('src/out/passwd')).paths).to.deep.equal(['/etc/passwd']);
    expect((await real('src/../../x')).paths[0]).to.not.include(cwd);
    for (const unknown of ['~/.ssh/id', 'src/dangling', 'a\0b'])
      expect((await real(unknown)).paths, unknown).to.deep.equal([]);
    const wrong = { tool: 'Edit', paths: [7] } as never;
    expect(await resolvedUse(wrong, cwd), "engines are other people's code").to.deep.equal({
      tool: 'Edit',
      paths: [],
    });
  });

  // A link in a repository would carry a rule for src to any file of the machine
  it('is allowed by the rules of an engine for what is meant, not for how it is called', async () => {
    await symlink('/etc', join(cwd, 'src', 'out'));
    const io = { permission: () => Promise.resolve({ allow: false, message: 'asked' }) } as unknown as TurnIO;
    const ask = (path: string) =>
      permit(
        { tool: 'Write', title: 'Write', input: null, uses: { tool: 'Edit', paths: [path] } },
        { allow: ['Edit(src/**)'], cwd },
        io,
      );
    expect(await ask('src/a.ts')).to.deep.equal({ allow: true });
    for (const path of ['src/out/passwd', '../x', '/etc/passwd'])
      expect(await ask(path), path).to.deep.equal({ allow: false, message: 'asked' });
  });
});
