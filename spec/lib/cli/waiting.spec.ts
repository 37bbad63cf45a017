import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WaitingItem } from '../../../lib/cli/waiting.js';
import { poll } from '../gateway/fixture.js';
import { Running, Troupe } from './troupe.js';
import { command } from '../../helpers/command.js';

/**
 * A tool call used to wait ten minutes for a decision that nothing showed and only an HTTP client could give.
 * Now it is asked in the terminal where the agent was started, listed for every other one, and answered by a
 * command. The agent is a protocol peer of Claude Code with a script in place of a model.
 */
describe('what waits for a decision', () => {
  let troupe: Troupe;
  const peer = fileURLToPath(new URL('../../fixtures/agents/claude.js', import.meta.url));
  before(async () => {
    troupe = await Troupe.create();
    await mkdir(troupe.home());
    const agent = join(troupe.folder, 'claude');
    await writeFile(agent, `#!/bin/sh\nexec '${process.execPath}' '${peer}' "$@"\n`);
    await chmod(agent, 0o755);
    await writeFile(
      join(troupe.home(), 'config.yaml'),
      `engines:\n  default: claude\n  claude:\n    bin: ${agent}\n`,
    );
    await troupe.start();
  });
  after(() => troupe.clear());
  const at = (...words: string[]): string[] => [...words, '--home', troupe.home()];
  const listed = async (): Promise<readonly WaitingItem[]> =>
    JSON.parse((await troupe.run(...at('waiting', '--json'))).out) as WaitingItem[];
  async function get(path: string): Promise<unknown> {
    const { url, token } = await troupe.announcement();
    const answer = await fetch(new URL(path, url), { headers: { authorization: `Bearer ${token}` } });
    return answer.json();
  }
  const api = (path: string, body: object) => send('POST', path, body);
  const put = (path: string, body: object) => send('PUT', path, body);
  async function send(method: string, path: string, body: object): Promise<Record<string, unknown>> {
    const { url, token } = await troupe.announcement();
    const answer = await fetch(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Record<string, unknown>;
  }

  it('is nothing at first, and says so', async () => {
    expect((await troupe.run(...at('waiting'))).out).to.equal('Nothing waits for a decision.\n');
    const unknown = await troupe.run(...at('approve', 'x1'));
    expect(unknown).to.include({ code: 2 });
    expect(unknown.err).to.match(/^Nothing that waits is called "x1".*troupe waiting/);
  });

  it('is a tool that an agent asks for: without a terminal it says which command answers', async () => {
    const running = troupe.begin(...at('run', '[[use Bash]]'));
    await running.seen(/answer: troupe allow --home \S+ (\S+:p1)/);
    const [, id = ''] = /troupe allow --home \S+ (\S+:p1)/.exec(running.err) ?? [];
    const [item] = await listed();
    expect(item).to.deep.include({ kind: 'session', what: 'permission', on: 'operator' });
    for (const word of [['list'], ['show', item?.id.slice(0, 6) ?? ''], ['status']])
      expect((await troupe.run(...at(...word))).out, word.join(' ')).to.match(/waits for you/);
    expect((await troupe.run(...at('waiting'))).out).to.match(/permission +you +\d+ s +\d+ (?:min|s) +Bash/);
    expect((await troupe.run(...at('allow', id))).out).to.match(/^Allowed: Bash/);
    const { code, out } = await running.ended;
    expect({ code, out }).to.deep.equal({ code: 0, out: 'allowed\n' });
    expect(await listed()).to.deep.equal([]);
  });

  it('is denied by a part of its id, with a reason that the agent hears', async () => {
    const running = troupe.begin(...at('run', '[[use Bash]]'));
    await running.seen(/answer: /);
    const [{ id } = expect.fail('nothing is listed')] = await listed();
    expect((await troupe.run(...at('deny', id.slice(0, 6), '--note', 'use git instead'))).code).to.equal(0);
    expect((await running.ended).out).to.match(/denied: .*use git instead/);
  });

  it('is asked at once in a terminal, and "always" is not asked for again', async function () {
    if (process.platform !== 'linux') return console.log('      (no pseudo-terminal by script(1) here)');
    const child = spawn(
      'script',
      [
        '-qfec',
        `'${process.execPath}' '${command}' run '[[use Bash]]' --home '${troupe.home()}'`,
        '/dev/null',
      ],
      {
        cwd: troupe.folder,
        env: { PATH: process.env['PATH'], HOME: troupe.folder, TERM: 'dumb' },
        stdio: 'pipe',
      },
    );
    const terminal = new Running(child);
    await terminal.seen(/\[a\]lways Bash\(ls\) in this session/);
    expect(terminal.out).to.include('The agent asks to use Bash').and.include('  command: ls\r\n');
    child.stdin.write('perhaps\n'); // no answer: it asks again
    await terminal.seen(/\[a\]lways[^]*\[a\]lways/);
    child.stdin.write('a\n');
    const { code, out: seen } = await terminal.ended;
    expect(seen).to.include('allowed');
    expect(code).to.equal(0);
    const [, session = ''] = /session ([0-9a-f-]{36})/.exec(seen) ?? [];
    const again = await troupe.run(...at('run', '--in', session, '[[use Bash]]'));
    expect(again).to.include({ code: 0, out: 'allowed\n' });
    expect(again.err).to.not.include('asks to use');
  });

  it('is asked for again once its rule is taken away, of a session that is named in short', async () => {
    const { sessions } = (await get('/api/sessions')) as { sessions: { id: string; title: string }[] };
    const session = sessions[0]?.id ?? expect.fail('there is no session');
    await put(`/api/sessions/${session}/permissions`, { mode: 'ask', allow: ['Bash(ls)'] });
    const own = ['permissions', session.slice(0, 8)];
    expect((await troupe.run(...at(...own))).out).to.equal(
      'It asks, but not for what these rules fit:\n  Bash(ls)\n',
    );
    await troupe.run(...at(...own, '--remove', 'Bash(ls)', '--add', 'Edit(src/**)'));
    const asks = troupe.begin(...at('run', '--in', session.slice(0, 8), '[[use Bash]]'));
    await asks.seen(/answer: /);
    const working = troupe.begin(...at('run', '--in', session.slice(0, 8), '[[say done]]'));
    expect((await working.ended).err).to.match(
      /working on "\[\[use Bash\]\]"\. Your message interrupts it\./,
    );
    await asks.ended;
  });

  it('is nothing where the mode that was chosen at the start allows it, and no mode of an old session', async () => {
    const { code, out } = await troupe.run(...at('run', '--permissions', 'full', '[[use Bash]]'));
    expect({ code, out }).to.deep.equal({ code: 0, out: 'allowed\n' });
    const { sessions } = (await get('/api/sessions')) as { sessions: { id: string }[] };
    const old = await troupe.run(...at('run', '--in', sessions[0]?.id ?? '', '--permissions', 'full', 'x'));
    expect(old).to.include({ code: 2 });
    expect(old.err).to.match(/for a new session.*troupe permissions/);
  });

  it('is an approval, longest waiting first, and is decided by the id of the work item', async () => {
    const { workItem: one } = (await api('/api/work-items', { title: 'Paint the fence' })) as Item;
    const { workItem: two } = (await api('/api/work-items', { title: 'Sell the house' })) as Item;
    for (const { id } of [one, two])
      await api(`/api/work-items/${id}/approval/request`, { request: 'May I?' });
    expect((await listed()).map(({ id, what }) => [id, what])).to.deep.equal([
      [one.id, 'approval'],
      [two.id, 'approval'],
    ]);
    expect((await troupe.run(...at('approve', one.id))).out).to.match(/^Approved: Paint the fence/);
    expect((await troupe.run(...at('reject', two.id, '--note', 'never'))).out).to.match(/^Rejected: Sell/);
    expect(await listed()).to.deep.equal([]);
  });
  it('is a gate of a run, and is decided by the id of the run', async () => {
    const nodes = [
      { id: 'ask', type: 'gate', gate: { kind: 'approval', approvalRef: 'go', description: 'Ship it?' } },
      { id: 'ship', type: 'step', actor: { kind: 'noop' } },
    ];
    const definition = (await api('/api/workflow-definitions', {
      title: 'Ship',
      nodes,
      edges: [{ id: 'e1', from: 'ask', to: 'ship' }],
    })) as { readonly id: string };
    const { runId } = (await api(`/api/workflow-definitions/${definition.id}/run`, {})) as { runId: string };
    const items = await poll(listed, ({ length }) => length > 0);
    expect(items.map(({ id, what }) => [id, what])).to.deep.equal([[runId, 'gate']]);
    expect((await troupe.run(...at('approve', runId))).out).to.match(/^Approved: Ship/);
    expect(await listed()).to.deep.equal([]);
  });
  type Item = { readonly workItem: { readonly id: string } };
});
