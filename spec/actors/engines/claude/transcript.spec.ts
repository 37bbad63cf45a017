import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import {
  appendFile,
  link,
  mkdir,
  mkdtemp,
  readdir,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { claudeEngine } from '../../../../actors/engines/claude/engine.js';
import { readClaudeTranscript } from '../../../../actors/engines/claude/transcript.js';

/** Lines as Claude Code writes them, with what is ours to read and what is not. */
describe('the record of a claude conversation', () => {
  const id = '5f0c0000-0000-4000-8000-000000000001';
  let home: string;
  let cwd: string;
  let file: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'claude-home-'));
    cwd = join(home, 'my garden.d');
    await mkdir(cwd);
    const folder = join(home, 'projects', (await realpath(cwd)).replace(/[^A-Za-z0-9]/g, '-'));
    await mkdir(folder, { recursive: true });
    file = join(folder, `${id}.jsonl`);
  });
  afterEach(() => rm(home, { recursive: true, force: true }));
  const line = (uuid: string, type: string, content: unknown, more: object = {}) =>
    `${JSON.stringify({ type, uuid, timestamp: '2026-11-21T08:00:00.000Z', message: { role: type, content }, ...more })}\n`;

  it('is the words of both, and nothing of what tools, helpers and the program did', async () => {
    await writeFile(
      file,
      [
        line('u1', 'user', 'water the plants'),
        line('a1', 'assistant', [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'I do.' },
          { type: 'tool_use', name: 'Bash', input: {} },
        ]),
        line('r1', 'user', [{ type: 'tool_result', content: 'ok' }]),
        line('s1', 'assistant', 'among helpers', { isSidechain: true }),
        line('m1', 'user', 'caveat', { isMeta: true }),
        line('k1', 'user', 'a summary of what was', { isCompactSummary: true }),
        line('c1', 'user', '<command-name>/clear</command-name>'),
        line('x1', 'system', 'note'),
        line('d1', 'user', 'undated', { timestamp: 'soon' }),
        line('../u', 'user', 'odd name'),
        'null\n',
        'no json\n',
        line('a2', 'assistant', [{ type: 'text', text: 'Done.' }]),
        line('t1', 'user', 'torn').slice(0, 40),
      ].join(''),
    );
    const at = Date.parse('2026-11-21T08:00:00.000Z');
    expect(await readClaudeTranscript(id, cwd, { folder: home })).to.deep.equal([
      { id: 'u1', role: 'user', content: 'water the plants', timestamp: at },
      { id: 'a1', role: 'assistant', content: 'I do.', timestamp: at },
      { id: 'a2', role: 'assistant', content: 'Done.', timestamp: at },
    ]);
  });

  it('is read from its end where it is long, and is empty where it is not there or the name is none', async () => {
    await writeFile(file, line('u1', 'user', 'first'));
    await appendFile(file, line('big', 'assistant', 'x'.repeat(5_000_000)));
    await appendFile(file, line('u2', 'user', 'last'));
    const engine = claudeEngine({ env: { CLAUDE_CONFIG_DIR: home } });
    expect((await engine.readTranscript?.(id, cwd))?.map((entry) => entry.id)).to.deep.equal(['u2']);
    expect(await engine.readTranscript?.('../../../../etc/passwd', cwd)).to.deep.equal([]);
    expect(await engine.readTranscript?.(id.replace('1', '2'), cwd)).to.deep.equal([]);
  });

  // Its agent writes there, and may be confined: by a link it was shown the conversations of other folders, and a few
  // pipes that no one wrote into stopped all that the gateway does with files
  it('is no link, no second name, no pipe and in no folder behind a link', async () => {
    const read = () => readClaudeTranscript(id, cwd, { folder: home });
    const other = join(home, 'other.jsonl');
    await writeFile(other, line('u1', 'user', 'of another'));
    await symlink(other, file);
    expect(await read(), 'a link').to.deep.equal([]);
    await rm(file);
    await link(other, file);
    expect(await read(), 'a second name').to.deep.equal([]);
    await rm(file);
    execFileSync('mkfifo', [file]);
    expect(await read(), 'a pipe').to.deep.equal([]);
    await rm(dirname(file), { recursive: true });
    await mkdir(join(home, 'elsewhere'));
    await writeFile(join(home, 'elsewhere', `${id}.jsonl`), line('u1', 'user', 'of another'));
    await symlink(join(home, 'elsewhere'), dirname(file));
    expect(await read(), 'a folder behind a link').to.deep.equal([]);
    await claudeEngine({ env: { CLAUDE_CONFIG_DIR: home } }).eraseTranscript?.(id, cwd);
    expect(await readdir(join(home, 'elsewhere'))).to.deep.equal([`${id}.jsonl`]);
  });
});
