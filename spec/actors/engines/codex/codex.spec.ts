import { expect } from 'chai';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codexEngine, type CodexOptions } from '../../../../actors/engines/codex/engine.js';
import { engineContract } from '../../../../lib/testing/engine-contract.js';
import { playTurn, type PlayedTurn, type TurnWish } from '../../../helpers/turn-bench.js';

const peer = fileURLToPath(new URL('../../../fixtures/agents/codex.js', import.meta.url));
const engine = (options: CodexOptions = {}) =>
  codexEngine({ bin: process.execPath, args: [peer], ...options });
const old = { args: [peer, '--old'] };

engineContract('the codex engine', {
  engine: () => engine(),
  prompt: '[[say hello]]',
  slowPrompt: '[[slow]]',
});

describe('the codex engine', () => {
  let cwd: string;
  beforeEach(async () => {
    cwd = await realpath(await mkdtemp(join(tmpdir(), 'codex-')));
  });
  afterEach(() => rm(cwd, { recursive: true, force: true }));
  const turn = (wish: TurnWish | string, options: CodexOptions = {}): Promise<PlayedTurn> =>
    playTurn(engine(options), cwd, {}, typeof wish === 'string' ? { prompt: wish } : wish);

  it('names its way to ask for effort as existing clients know it', () => {
    expect(engine().effortMechanism).to.equal('codex-config');
  });

  // Codex 0.169 trusted any folder that it might write in, and ran the servers that its .codex names
  for (const [way, options] of Object.entries({ 'app-server': {}, exec: old }))
    it(`says of every folder up to the root whether a person trusted its settings: ${way}`, async () => {
      await mkdir(join(cwd, '.git'));
      const inner = join(cwd, 'in "quotes"');
      await mkdir(inner);
      for (const project of ['untrusted', 'plain', 'trusted', undefined] as const) {
        const wish = { prompt: '[[say hello]]', ...(project && { project }) };
        const { argv, outcome } = await playTurn(engine(options), inner, {}, wish);
        expect(outcome).to.equal('succeeded');
        const level = project === 'trusted' ? 'trusted' : 'untrusted';
        const folders = [inner, cwd].map((folder) => `${JSON.stringify(folder)}={trust_level="${level}"}`);
        for (const words of argv) expect(words).to.include(`projects={${folders.join(',')}}`);
      }
    });

  // Codex 0.169 left AGENTS.md out of each request: it was told that no one trusted the folder's settings
  it('is told what AGENTS.md says once, from the root down, where codex does not read it itself', async () => {
    await mkdir(join(cwd, '.git'));
    const inner = join(cwd, 'inner');
    await mkdir(inner);
    await writeFile(join(cwd, 'AGENTS.md'), 'use tabs');
    await writeFile(join(inner, 'AGENTS.md'), 'use spaces');
    const said = async (wish: Partial<TurnWish>): Promise<PlayedTurn> =>
      playTurn(engine(), inner, {}, { prompt: '[[recall]]', ...wish });
    const words = 'AGENTS.md of this project says:\nuse tabs\n\nuse spaces\n\n[[recall]]';
    for (const project of ['untrusted', 'plain'] as const)
      expect((await said({ project })).text).to.include(words);
    expect((await said({ project: 'trusted' })).text).to.not.include('use tabs');
    const { nativeId } = await said({ prompt: '[[say one]]' });
    await writeFile(join(cwd, 'AGENTS.md'), 'use neither');
    expect((await said({ nativeId })).text)
      .to.include('use tabs')
      .and.not.include('use neither');

    await writeFile(join(inner, 'AGENTS.override.md'), 'use both');
    expect((await said({})).text).to.include('use neither\n\nuse both\n\n');
    await rm(join(inner, 'AGENTS.override.md'));
    await writeFile(join(cwd, 'secret'), 'hidden');
    await rm(join(inner, 'AGENTS.md'));
    await symlink(join(cwd, 'secret'), join(inner, 'AGENTS.md'));
    expect((await said({})).text)
      .to.include('use neither\n\n[[recall]]')
      .and.not.include('hidden');
  });

  it('streams the answer, names its conversation and counts what this turn spent of what the conversation spent', async () => {
    const { outcome, text, usage, nativeId, reports } = await turn('[[say hello]]');
    expect({ outcome, text, usage }).to.deep.equal({
      outcome: 'succeeded',
      text: 'hello',
      usage: {
        inputTokens: 200,
        outputTokens: 40,
        cachedTokens: 80,
        contextTokens: 120, // of the last call: both have read the same
        contextWindow: 272_000,
      },
    });
    expect(nativeId).to.match(/^[0-9a-f-]{36}$/);
    expect(reports).to.deep.include({ type: 'text', text: 'hello' });
  });

  it('resumes the conversation that it began, and does not count again what was spent before', async () => {
    const { nativeId } = await turn('[[say one]] apple');
    const { text, usage } = await turn({ prompt: '[[recall]]', nativeId });
    expect(text).to.include('apple');
    expect(usage).to.include({ inputTokens: 200, outputTokens: 40, cachedTokens: 80 });
  });

  it('begins again with the conversation in the prompt when the old one is refused', async () => {
    const outsider = '00000000-0000-4000-8000-000000000000';
    const { text, nativeId, reports } = await turn({
      prompt: '[[recall]]',
      nativeId: outsider,
      transcript: [{ role: 'user', content: 'I like plums' }],
    });
    expect(text).to.include('I like plums');
    expect(nativeId).to.not.equal(outsider);
    expect(reports.map(({ type }) => type)).to.include('notice');
  });

  it('keeps the half of an answer that was interrupted, and leaves the conversation resumable', async () => {
    const stopped = await turn({ prompt: '[[slow half of it]] pear', onText: ({ abort }) => abort() });
    expect(stopped).to.include({ outcome: 'interrupted', text: 'half of it', left: 0 });
    expect((await turn({ prompt: '[[recall]]', nativeId: stopped.nativeId })).text).to.include('pear');
  });

  it('says when a limit resets, and remembers it as what is known of the limits', async () => {
    const resetsAt = Math.round(Date.now() / 1000) + 3600;
    const limited = engine();
    expect(await limited.limits?.()).to.deep.equal({ status: 'static', source: 'configuration' });
    expect(await playTurn(limited, cwd, {}, { prompt: `[[limit ${resetsAt}]]` })).to.include({
      outcome: 'rate-limited',
      resetAt: resetsAt * 1000,
    });
    expect(await limited.limits?.()).to.deep.include({
      status: 'live',
      source: 'account/rateLimits/updated',
      accountPlan: 'pro',
      windows: [
        {
          name: 'primary',
          usedPercent: 100,
          windowDurationMins: 300,
          resetsAt,
          resetsAtIso: new Date(resetsAt * 1000).toISOString(),
        },
      ],
    });
    expect(await turn('[[fail 429]]'))
      .to.include({ outcome: 'rate-limited' })
      .and.not.have.property('resetAt');
    expect(await turn('[[fail 401]]')).to.include({ outcome: 'failed', error: 'status 401' });
  });

  it('asks for commands and changes of files, with what they would do, and hands on the answer', async () => {
    expect((await turn('[[use commandExecution]]', { args: [peer, '--deaf'] })).text).to.equal(
      'denied: decline',
    );
    expect((await turn('[[use commandExecution]]', { allow: ['commandExecution'] })).text).to.equal(
      'allowed',
    );
    for (const allow of [['Bash(ls)'], ['Bash']])
      expect((await turn('[[use commandExecution]]', { allow })).text, 'by a rule').to.equal('allowed');
    const asked: unknown[] = [];
    const permission = (request: unknown) => {
      asked.push(request);
      return Promise.resolve({ allow: true as const });
    };
    for (const tool of ['commandExecution', 'fileChange'])
      expect((await turn({ prompt: `[[use ${tool}]]`, permission })).text).to.equal('allowed');
    expect(asked).to.deep.equal([
      {
        tool: 'commandExecution',
        title: 'ls',
        input: { command: 'ls', cwd: '.' },
        uses: { tool: 'Bash', command: 'ls' },
      },
      {
        tool: 'fileChange',
        title: 'Change a.txt',
        input: { changes: [{ path: 'a.txt', diff: '+a' }] },
        uses: { tool: 'Edit', paths: ['a.txt'] },
      },
    ]);
  });

  it('tells the agent why it may not, as far as it listens', async () => {
    expect((await turn('[[use commandExecution]]')).text).to.match(
      /^denied: decline \(The tool commandExecution is not allowed in this session/,
    );
    const permission = () => Promise.resolve({ allow: false as const, message: 'Not on a Friday.' });
    expect((await turn({ prompt: '[[use fileChange]]', permission })).text).to.equal(
      'denied: decline (Not on a Friday.)',
    );
  });

  it('shows why the agent asks, and whom a command would reach', async () => {
    const asked: unknown[] = [];
    const permission = (request: unknown) => {
      asked.push(request);
      return Promise.resolve({ allow: true as const });
    };
    expect(
      (await turn({ prompt: '[[use commandExecution]]', permission }, { args: [peer, '--network'] })).text,
    ).to.equal('allowed');
    expect(asked).to.deep.equal([
      {
        tool: 'commandExecution',
        title: 'Reach news.example: ls',
        input: { command: 'ls', cwd: '.', network: 'news.example', reason: 'to read the news' },
        uses: { tool: 'WebFetch', host: 'news.example' },
      },
    ]);
  });

  it('answers every other question, for an unanswered one would stop the agent for good', async () => {
    expect((await turn('[[ask something/new]]')).text).to.equal('not served');
    expect((await turn('[[ask item/permissions/requestApproval]]')).text).to.equal(
      'denied: {"permissions":{},"scope":"turn"}',
    );
    expect((await turn('[[ask mcpServer/elicitation/request]]')).text).to.equal(
      'denied: {"action":"decline","content":null,"_meta":null}',
    );
  });

  it('gives tools by an address and the name of a variable, and a folder of its own for everything else', async () => {
    const home = join(cwd, 'codex-home');
    const { text, argv } = await turn(
      { prompt: '[[options]]', mcp: { url: 'http://127.0.0.1:1/mcp', token: 'very-secret-token' } },
      { home, baseUrl: 'http://127.0.0.1:2/v1', apiKeyEnv: 'NO_SUCH_KEY' },
    );
    const told = JSON.parse(text) as {
      home: string;
      token: string;
      settings: { config: { mcp_servers: unknown } };
    };
    expect(told).to.include({ home: join(home, 'of', 'bench'), token: 'very-secret-token' });
    expect(told.settings.config.mcp_servers).to.deep.equal({
      troupe: {
        url: 'http://127.0.0.1:1/mcp',
        bearer_token_env_var: 'TROUPE_TOOLS_TOKEN',
        default_tools_approval_mode: 'approve',
      },
    });
    expect(JSON.stringify(argv)).to.not.include('very-secret-token');
    expect(JSON.stringify(told.settings)).to.not.include('very-secret-token');
  });

  it('sends model and effort in its questions, never on the command line, and refuses what looks like an option', async () => {
    const { text, argv } = await turn({ prompt: '[[options]]', model: 'gpt-big', effort: 'high' });
    expect(JSON.parse(text))
      .to.deep.include({ effort: 'high' })
      .and.to.have.nested.property('settings.model', 'gpt-big');
    expect(JSON.stringify(argv)).to.not.include('gpt-big');
    for (const wish of [
      { model: '--dangerously-bypass-approvals-and-sandbox' },
      { effort: '-x' },
      { model: 'a b' },
    ]) {
      const refused = await turn({ prompt: '[[options]]', ...wish }).then(
        ({ error }) => error ?? 'played',
        String,
      );
      expect(refused).to.include('Invalid model or effort level');
    }
  });

  it('offers the models that the program offers, with their levels, but those of the settings where they are named', async () => {
    const facts = await engine().discover();
    expect(facts.models.slice(1)).to.deep.equal([
      { id: 'gpt-big', label: 'Big', supportsEffort: true, effortLevels: ['low', 'ultra'] },
    ]);
    const named = await engine({ models: ['mine'], model: 'mine' }).discover();
    expect(named).to.include({ defaultModel: 'mine' });
    expect(named.models.map(({ id }) => id)).to.deep.equal(['default', 'mine']);
    expect(await codexEngine({ bin: 'no-such-program' }).discover()).to.deep.include({
      available: false,
      remedy: 'npm install -g @openai/codex',
    });
  });

  for (const [way, reason] of [
    ['exit', 'without a result'],
    ['half', 'without a result'],
    ['garbage', 'without a result'],
    ['flood', 'a line that does not end'],
  ] as const) {
    it(`ends as an error with a reason when the agent goes wrong: ${way}`, async () => {
      const told = await turn(`[[${way}]]`).then(
        ({ outcome, error, left }) => `${outcome} ${left} ${error}`,
        (error: unknown) => `failed 0 ${String(error)}`,
      );
      expect(told)
        .to.match(/^failed 0 /)
        .and.include(reason);
    });
  }

  it('ends an agent that heeds neither its deadline nor a signal, and what it left running', async () => {
    expect(await turn({ prompt: '[[hang]]', deadlineMs: 500 })).to.include({ outcome: 'failed', left: 0 });
    expect(await turn('[[fork]]')).to.include({ outcome: 'succeeded', left: 0 });
  }).timeout(180_000);

  it('drives a codex without an app-server by exec: answers, resumes, begins again, and bounds what cannot ask', async () => {
    const first = await turn('[[say one]] fig', old);
    expect(first).to.deep.include({
      outcome: 'succeeded',
      text: 'one',
      usage: { inputTokens: 100, outputTokens: 20, cachedTokens: 40 },
    });
    const second = await turn({ prompt: '[[recall]]', nativeId: first.nativeId }, old);
    expect(second.text).to.include('fig');
    expect(second).to.not.have.property('usage');
    const outsider = '00000000-0000-4000-8000-000000000000';
    expect(
      (
        await turn(
          {
            prompt: '[[recall]]',
            nativeId: outsider,
            transcript: [{ role: 'user', content: 'I like plums' }],
          },
          old,
        )
      ).text,
    ).to.include('I like plums');
    expect(await turn('[[fail 429]]', old)).to.include({ outcome: 'rate-limited' });
    const { text } = await turn({ prompt: '[[options]]', effort: 'high' }, old);
    expect(text.split('\n'))
      .to.include('sandbox_mode="workspace-write"')
      .and.include('model_reasoning_effort="high"');
  });
});
