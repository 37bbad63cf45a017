import { expect } from 'chai';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { leftBehind } from '../helpers/left-behind.js';
import { Troupe, type Running } from './cli/troupe.js';
import { makeClient, type Client } from './gateway/fixture.js';

/**
 * Real gateways and a real program as agent: one that says nothing for a while, and one that its gateway cuts off.
 */
describe('a turn', function () {
  this.timeout(180_000);
  let troupe: Troupe;
  let gateway: Running;
  let client: Client;
  /** Outside of the user's home, where a confined agent may write. */
  let outside: string;

  beforeEach(async () => {
    troupe = await Troupe.create();
    outside = await mkdtemp(join(tmpdir(), 'troupe-turns-'));
    await mkdir(troupe.home(), { mode: 0o700 });
  });
  afterEach(async () => {
    await troupe.run('stop', '--now', '--home', troupe.home());
    await troupe.clear();
    await rm(outside, { recursive: true, force: true });
  });

  const configured = (...lines: string[]): Promise<void> => configuredWith('', ...lines);
  async function configuredWith(engine: string, ...lines: string[]): Promise<void> {
    const program = join(troupe.folder, 'talk.sh');
    await writeFile(
      program,
      [
        `cat >> ${outside}/prompts; echo begun >> ${outside}/begun`,
        'echo one',
        `until [ -e ${outside}/go ]; do sleep 0.1; done`,
        `until [ -e ${outside}/end ]; do echo two; sleep 0.1; done`, // so that it falls silent no more
      ].join('\n'),
    );
    const engines = `engines: {talk: {command: [/bin/sh, ${program}]}${engine}}`;
    await writeFile(join(troupe.home(), 'config.yaml'), [...lines, engines, ''].join('\n'));
    await start();
  }
  async function start(): Promise<void> {
    gateway = await troupe.start();
    const { port, token } = await troupe.announcement();
    client = makeClient(port, { authorization: `Bearer ${token}` });
  }
  async function until<Value>(ask: () => Promise<Value | undefined | false>): Promise<Value> {
    for (let looks = 0; looks < 5_000; looks += 1) {
      const value = await ask();
      if (value !== undefined && value !== false) return value;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error('It did not come about.');
  }
  const begun = async (): Promise<number> =>
    (await readFile(join(outside, 'begun'), 'utf8').catch(() => '')).split('\n').filter(Boolean).length;
  async function opened(): Promise<string> {
    const made = await client.post('/api/sessions', { prompt: 'Talk', engine: 'talk' });
    expect(made.status, made.text).to.equal(201);
    return made.body.id as string;
  }
  async function working(): Promise<string> {
    const id = await opened();
    await until(async () => (await begun()) === 1);
    return id;
  }
  const session = async (id: string) => (await client.get(`/api/sessions/${id}`)).body;
  const status = async (id: string): Promise<string> => (await session(id)).status;
  const waiting = async (): Promise<readonly { what: string }[]> =>
    (await client.get('/api/attention')).body.waiting;
  const touch = (name: string): Promise<void> => writeFile(join(outside, name), '');
  const resumed = async (id: string): Promise<number> =>
    (await session(id)).messages.filter(({ meta }: Message) => meta?.kind === 'resume').length;

  describe('that says nothing', () => {
    it('is shown by all commands until something comes', async () => {
      await configured('sessions: {silenceMinutes: 0.05}', 'agents: {worker: false}');
      const id = await working();
      await until(async () => (await waiting()).some(({ what }) => what === 'silent'));
      const { out } = await troupe.run('waiting', '--home', troupe.home());
      expect(out).to.match(/silent +you/);
      expect((await troupe.run('list', '--home', troupe.home())).out).to.include('waits for you');
      expect((await troupe.run('show', id, '--home', troupe.home())).out).to.include('no output for');
      const refused = await troupe.run('approve', id, '--home', troupe.home());
      expect(refused.err).to.include('troupe stop');
      await touch('go');
      await until(async () => (await waiting()).length === 0);
      await touch('end');
      await until(async () => (await status(id)) === 'idle');
    });

    it('is as silent after a restart as before, where it outlives its gateway', async () => {
      await configured('sessions: {silenceMinutes: 0.05}', 'agents: {worker: true}');
      const id = await working();
      await until(async () => (await waiting()).length > 0);
      await gateway.kill('SIGKILL');
      const restartedAt = Date.now();
      await start();
      const { waiting: after } = (await client.get('/api/attention')).body;
      expect(after.map(({ what }: { what: string }) => what)).to.deep.equal(['silent']);
      expect(Date.parse(after[0].since), 'since when it is silent').to.be.below(restartedAt);
      await Promise.all([touch('go'), touch('end')]);
      await until(async () => (await status(id)) === 'idle');
      expect(await begun()).to.equal(1);
    });

    it('is ended where that is configured, and leaves nothing running', async () => {
      await configured('sessions: {silenceMinutes: 0.05, silenceAction: end}', 'agents: {worker: false}');
      const id = await opened(); // a slow machine may end it before its program begins
      await until(async () => (await status(id)) === 'error');
      expect((await session(id)).lastError).to.equal('The turn said nothing for 3 seconds and was ended.');
      await until(async () => (await leftBehind(id)).length === 0);
      expect(await waiting()).to.deep.equal([]);
    });
  });

  // The inspector's page said "ended in 0 s" of a turn that no one ended: of a real one what it says comes true
  it('that lasts too long is ended when the inspector says, also by a gateway that found it at work', async () => {
    await configured('sessions: {turnDeadlineMinutes: 0.1}', 'agents: {worker: true}');
    const id = await working();
    const path = `/api/inspect/actors/session/${id}`;
    const { since } = (await client.get(`${path}/work`)).body.worker;
    const { turn, turnDeadlineMs } = (await client.get(path)).body.context;
    expect([turn.began, turnDeadlineMs]).to.deep.equal([true, 6_000]);
    await gateway.kill('SIGKILL');
    await start();
    await until(async () => (await status(id)) === 'error');
    expect((await session(id)).lastError).to.match(/6 s and was ended\.$/);
    const history = (await client.get(`${path}/history?limit=1`)).body.entries;
    expect(history[0].at, 'not before its time').to.be.at.least(since + turnDeadlineMs);
    await until(async () => (await leftBehind(id)).length === 0);
  });

  describe('that the end of its gateway cuts off', () => {
    it('waits until a person resumes it, and is told that it was interrupted', async () => {
      await configured('agents: {worker: false}');
      const id = await working();
      await gateway.kill('SIGTERM');
      await start();
      await until(async () => (await status(id)) === 'interrupted');
      expect((await troupe.run('waiting', '--home', troupe.home())).out).to.match(/resume +you/);
      const done = await troupe.run('resume', id.slice(0, 8), '--home', troupe.home());
      expect(done.out).to.match(/^Resumed \w{8}: /);
      await until(async () => (await begun()) === 2);
      expect(await readFile(join(outside, 'prompts'), 'utf8')).to.include('was interrupted before it ended');
      const again = await troupe.run('resume', id, '--home', troupe.home());
      expect([again.code, again.err.includes('cannot be resumed while it is running')]).to.deep.equal([
        6,
        true,
      ]);
      await Promise.all([touch('go'), touch('end')]);
      await until(async () => (await status(id)) === 'idle');
      const none = await troupe.run('resume', '--all', '--home', troupe.home());
      expect(none.err).to.include('Nothing waits to be resumed.');
    });

    // An agent that goes on in a conversation of its own heard of the interruption, and not of what it was to do.
    it('is asked once more what an agent with a memory of its own may never have seen', async () => {
      const peer = fileURLToPath(new URL('../fixtures/agents/claude.js', import.meta.url));
      const program = join(troupe.folder, 'claude');
      const hang = `if [ -e ${outside}/deaf ]; then echo begun >> ${outside}/begun; exec sleep 600; fi`;
      const lines = ['#!/bin/sh', hang, `exec '${process.execPath}' '${peer}' "$@"`, ''];
      await writeFile(program, lines.join('\n'), { mode: 0o755 });
      await configuredWith(`, claude: {bin: ${program}}`, 'agents: {worker: false, sandbox: off}');
      const made = await client.post('/api/sessions', { prompt: '[[say hello]]', engine: 'claude' });
      const id = made.body.id as string;
      await until(async () => (await status(id)) === 'idle');
      await touch('deaf');
      const sent = await client.post(`/api/sessions/${id}/message`, { message: 'water the cactus' });
      expect(sent.status, sent.text).to.equal(200);
      await until(async () => (await begun()) === 1);
      await gateway.kill('SIGKILL');
      await rm(join(outside, 'deaf'));
      await start();
      await until(async () => (await status(id)) === 'interrupted');
      await client.post(`/api/sessions/${id}/resume`, {});
      await until(async () => (await status(id)) === 'idle');
      const { messages } = await session(id);
      expect(messages.at(-1).content).to.include('water the cactus').and.to.include('was interrupted');
      expect(messages.at(-1).content, 'in a conversation that it knows').to.not.include('hello');
    });

    it('is neither lost nor resumed twice where the gateway dies as it is resumed', async () => {
      await configured('agents: {worker: false}');
      const id = await working();
      for (const delayMs of [0, 2, 10]) {
        await gateway.kill('SIGKILL');
        await start();
        await until(async () => (await status(id)) === 'interrupted');
        const [before, begunBefore] = [await resumed(id), await begun()];
        const asked = client.post(`/api/sessions/${id}/resume`, {}).then(
          ({ status: code }) => code,
          () => 0, // it died before its answer
        );
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        await gateway.kill('SIGKILL');
        const answered = await asked;
        await start();
        // What was not begun before the kill is begun now, and goes on
        await until(async () => (await status(id)) === 'interrupted' || (await begun()) > begunBefore);
        const more = (await resumed(id)) - before;
        expect(more, `answered ${answered} after ${delayMs} ms`).to.be.within(answered === 200 ? 1 : 0, 1);
        expect((await session(id)).attemptToken).to.equal(`${id}:${1 + before + more}`);
      }
      expect(await begun()).to.be.at.most(1 + (await resumed(id)));
    });

    it('goes on by itself where that is configured, once for each cut', async () => {
      await configured('agents: {worker: false, resume: true}');
      const id = await working();
      for (const [signal, turns] of [
        ['SIGTERM', 2],
        ['SIGKILL', 3],
      ] as const) {
        await gateway.kill(signal);
        await start();
        await until(async () => (await begun()) === turns);
        expect([await status(id), await resumed(id)]).to.deep.equal(['running', turns - 1]);
      }
      await Promise.all([touch('go'), touch('end')]);
      await until(async () => (await status(id)) === 'idle');
      expect(await begun()).to.equal(3);
    });
  });
});

interface Message {
  readonly meta?: { readonly kind?: string };
}
