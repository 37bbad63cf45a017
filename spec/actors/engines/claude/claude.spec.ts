import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { claudeEngine, type ClaudeOptions } from '../../../../actors/engines/claude/engine.js';
import { engineContract } from '../../../../lib/testing/engine-contract.js';
import { playTurn, type PlayedTurn, type TurnWish } from '../../../helpers/turn-bench.js';

const peer = fileURLToPath(new URL('../../../fixtures/agents/claude.js', import.meta.url));
const engine = (options: ClaudeOptions = {}) =>
  claudeEngine({ bin: process.execPath, args: [peer], ...options });

engineContract('the claude engine', {
  engine: () => engine(),
  prompt: '[[say hello]]',
  slowPrompt: '[[slow]]',
});

describe('the claude engine', () => {
  let cwd: string;
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'claude-'));
  });
  afterEach(() => rm(cwd, { recursive: true, force: true }));
  const turn = (wish: TurnWish | string, options: ClaudeOptions = {}): Promise<PlayedTurn> =>
    playTurn(engine(options), cwd, {}, typeof wish === 'string' ? { prompt: wish } : wish);

  it('names its way to ask for effort as existing clients know it', () => {
    expect(engine().effortMechanism).to.equal('claude-flag');
  });

  it('streams the answer, names its session and counts what the model read, cached or not', async () => {
    const { outcome, text, usage, nativeId, reports } = await turn('[[say hello]]');
    expect({ outcome, text, usage }).to.deep.equal({
      outcome: 'succeeded',
      text: 'hello',
      usage: {
        inputTokens: 22,
        outputTokens: 3,
        cachedTokens: 7,
        costUsd: 0.01,
        contextTokens: 1_007, // of its last request alone
        contextWindow: 1_000_000,
      },
    });
    expect(nativeId).to.match(/^[0-9a-f-]{36}$/);
    expect(reports).to.deep.include({ type: 'text', text: 'hello' });
  });

  it('resumes the session that it began', async () => {
    const { nativeId } = await turn('[[say one]] apple');
    expect((await turn({ prompt: '[[recall]]', nativeId })).text).to.include('apple');
  });

  it('begins again with the conversation in the prompt when the session is not known any more', async () => {
    const { text, nativeId, reports } = await turn({
      prompt: '[[recall]]',
      nativeId: '00000000-0000-4000-8000-000000000000',
      transcript: [{ role: 'user', content: 'I like plums' }],
    });
    expect(text).to.include('I like plums');
    expect(nativeId).to.not.equal('00000000-0000-4000-8000-000000000000');
    expect(reports.map(({ type }) => type)).to.include('notice');
  });

  it('keeps the half of an answer that was interrupted, and leaves the session resumable', async () => {
    const stopped = await turn({ prompt: '[[slow half of it]] pear', onText: ({ abort }) => abort() });
    expect(stopped).to.include({ outcome: 'interrupted', text: 'half of it', left: 0 });
    expect((await turn({ prompt: '[[recall]]', nativeId: stopped.nativeId })).text).to.include('pear');
  });

  it('takes a success with is_error for the error that it is', async () => {
    expect(await turn('[[fail 401]]')).to.include({ outcome: 'failed', error: 'API Error: 401' });
    expect(await turn('[[fail 500]]')).to.include({ outcome: 'failed', error: 'API Error: 500' });
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
      windows: [
        {
          name: 'five_hour',
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
  });

  it('denies a tool that no one allows, with a sentence for the agent', async () => {
    expect((await turn('[[use Bash]]')).text).to.match(/^denied: The tool Bash is not allowed/);
  });

  it('allows what its allow-list names, and what the one who listens allows', async () => {
    expect((await turn('[[use Bash]]', { allow: ['Bash'] })).text).to.equal('allowed');
    const asked: unknown[] = [];
    const permission = (request: unknown) => {
      asked.push(request);
      return Promise.resolve({ allow: true as const });
    };
    expect((await turn({ prompt: '[[use Bash]]', permission })).text).to.equal('allowed');
    expect(asked).to.deep.equal([
      { tool: 'Bash', title: 'Bash', input: { command: 'ls' }, uses: { tool: 'Bash', command: 'ls' } },
    ]);
    const broken = () => Promise.reject(new Error('nobody there'));
    expect((await turn({ prompt: '[[use Bash]]', permission: broken })).text).to.match(/^denied/);
  });

  it('gives tools by an address and the name of a variable, never with the token on the command line', async () => {
    const { text, argv } = await turn({
      prompt: '[[options]]',
      mcp: { url: 'http://127.0.0.1:1/mcp', token: 'very-secret-token' },
    });
    expect(text).to.include('http://127.0.0.1:1/mcp').and.include('${TROUPE_TOOLS_TOKEN}');
    expect(JSON.stringify(argv)).to.not.include('very-secret-token');
  });

  it('leaves it those of its own tools that the settings name', async () => {
    const options = async (given: object): Promise<string[]> =>
      (await turn('[[options]]', given)).text.split('\n').filter((one) => one.startsWith('--tools'));
    expect(await options({ ownTools: ['Read', 'Grep'] })).to.deep.equal(['--tools=Read,Grep']);
    expect(await options({ ownTools: [] })).to.deep.equal(['--tools=']);
    expect(await options({})).to.deep.equal([]);
  });

  it('puts model and effort behind their options, and refuses what looks like an option itself', async () => {
    const { text } = await turn({ prompt: '[[options]]', model: 'opus', effort: 'high' });
    expect(text.split('\n')).to.include('--model=opus').and.include('--effort=high');
    for (const wish of [{ model: '--dangerously-skip-permissions' }, { effort: '-x' }, { model: 'a b' }]) {
      const refused = await turn({ prompt: '[[options]]', ...wish }).then(
        () => 'played',
        (error: unknown) => String(error),
      );
      expect(refused).to.include('Invalid model or effort level');
    }
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

  it('is not there where its program is not, and says how to get it', async () => {
    const facts = await claudeEngine({ bin: 'no-such-program' }).discover();
    expect(facts).to.deep.include({ available: false, remedy: 'npm install -g @anthropic-ai/claude-code' });
    expect(facts.models.map(({ id }) => id)).to.include('opus');
  });
});
