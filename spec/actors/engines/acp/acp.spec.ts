import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { acpEngine, type AcpOptions } from '../../../../actors/engines/acp/engine.js';
import { acpPreset, acpPresetNames, acpPresets } from '../../../../actors/engines/acp/presets.js';
import { engineContract } from '../../../../lib/testing/engine-contract.js';
import { playTurn, type PlayedTurn, type TurnWish } from '../../../helpers/turn-bench.js';

const peer = fileURLToPath(new URL('../../../fixtures/agents/acp.js', import.meta.url));
const engine = ({ args = [], ...options }: Partial<AcpOptions> = {}) =>
  acpEngine({ name: 'scripted', bin: process.execPath, args: [peer, ...args], ...options });

engineContract('the acp engine', { engine: () => engine(), prompt: '[[say hello]]', slowPrompt: '[[slow]]' });

describe('the acp engine', () => {
  let cwd: string;
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'acp-'));
  });
  afterEach(() => rm(cwd, { recursive: true, force: true }));
  const turn = (wish: TurnWish | string, options: Partial<AcpOptions> = {}): Promise<PlayedTurn> =>
    playTurn(engine(options), cwd, {}, typeof wish === 'string' ? { prompt: wish } : wish);
  const told = async (wish: Omit<TurnWish, 'prompt'>, options: Partial<AcpOptions> = {}) =>
    JSON.parse((await turn({ ...wish, prompt: '[[told]]' }, options)).text) as {
      model: string;
      effort: string;
      mode: string;
      tools: string;
      argv: string[];
      env: string[];
    };
  const statuses = ({ reports }: PlayedTurn): string =>
    reports.flatMap((report) => (report.type === 'notice' ? [report.text] : [])).join(' ');

  it('streams the answer, names its session and counts what the agent tells', async () => {
    const { outcome, text, usage, nativeId, reports, left } = await turn('[[say hello]]');
    expect({ outcome, text, usage, left }).to.deep.equal({
      outcome: 'succeeded',
      text: 'hello',
      usage: {
        inputTokens: 22,
        outputTokens: 3,
        cachedTokens: 7,
        contextTokens: 30,
        contextWindow: 1_000,
      },
      left: 0,
    });
    expect(nativeId).to.match(/^[0-9a-f-]{36}$/);
    expect(reports.filter(({ type }) => type === 'text')).to.deep.equal([{ type: 'text', text: 'hello' }]);
  });

  it('loads the session that it began, and takes nothing that is told again for an answer', async () => {
    const { nativeId } = await turn('[[say one]] apple');
    const second = await turn({
      prompt: '[[recall]]',
      nativeId,
      transcript: [{ role: 'user', content: 'not needed' }],
    });
    expect(second).to.include({ text: 'first: [[say one]] apple', nativeId });
    expect(JSON.stringify(second.reports)).to.not.include('long ago');
  });

  // gemini answers session/load first and replays then: the last answer used to stand before the new one
  it('takes nothing for an answer that is told again too late', async () => {
    const { nativeId } = await turn('[[say one]] apple');
    const second = await turn({ prompt: '[[recall]]', nativeId }, { args: ['--late'] });
    expect(second.text).to.equal('first: [[say one]] apple');
    expect(JSON.stringify(second.reports)).to.not.include('long ago');
  });

  it('begins again with the conversation in the prompt when the agent refuses to load or cannot', async () => {
    const transcript = [{ role: 'user', content: 'I like plums' }] as const;
    const nativeId = '00000000-0000-4000-8000-000000000000';
    const refused = await turn({ prompt: '[[recall]]', nativeId, transcript });
    expect(refused.text).to.include('I like plums');
    expect(refused.nativeId).to.not.equal(nativeId);
    expect(statuses(refused)).to.include('no longer has this conversation');
    const unable = await turn({ prompt: '[[recall]]', nativeId, transcript }, { args: ['--no-load'] });
    expect(unable.text).to.include('I like plums');
    expect(statuses(unable)).to.include('cannot resume this conversation');
  });

  it('does not load within a minute of the last word where that would lose the conversation', async () => {
    const forgetful = engine({ quirks: { losesByLoadingInSameMinute: true } });
    const first = await playTurn(forgetful, cwd, {}, { prompt: '[[say one]] apple' });
    const second = await playTurn(
      forgetful,
      cwd,
      {},
      { prompt: '[[recall]]', nativeId: first.nativeId, transcript: [{ role: 'user', content: 'apple' }] },
    );
    expect(second.text)
      .to.match(/^first: --- conversation so far/)
      .and.include('apple');
  });

  it('cancels over the protocol, keeps the half of the answer and leaves the session to be loaded', async () => {
    const stopped = await turn({ prompt: '[[slow half of it]] pear', onText: ({ abort }) => abort() });
    expect(stopped).to.include({ outcome: 'interrupted', text: 'half of it', left: 0 });
    expect((await turn({ prompt: '[[recall]]', nativeId: stopped.nativeId })).text).to.include('pear');
  });

  it('ends an agent that does not heed its cancellation, and one that stays when it is done', async () => {
    expect(await turn({ prompt: '[[deaf]]', onText: ({ abort }) => abort() })).to.include({
      outcome: 'interrupted',
      text: 'working',
      left: 0,
    });
    expect(await turn('[[say done]]', { args: ['--stays'], quirks: { staysAfterEnd: true } })).to.include({
      outcome: 'succeeded',
      text: 'done',
      left: 0,
    });
  }).timeout(180_000);

  it('denies a tool that no one allows, allows what its list names by kind or name, and asks the one who listens', async () => {
    const shell = '[[use {"title":"ls -l"}]]';
    expect((await turn(shell)).text).to.equal('o-reject_once');
    expect((await turn(shell, { allow: ['execute'] })).text).to.equal('o-allow_once');
    expect((await turn('[[use {"title":"ls","name":"Shell"}]]', { allow: ['Shell'] })).text).to.equal(
      'o-allow_once',
    );
    expect((await turn('[[use {"title":"a file","kind":"read"}]]')).text).to.equal('o-allow_once');
    const asked: unknown[] = [];
    const permission = (request: unknown) => {
      asked.push(request);
      return Promise.resolve({ allow: true as const });
    };
    const allowed = await turn({ prompt: shell, permission });
    expect(allowed.text).to.equal('o-allow_once');
    expect(
      allowed.reports.map(({ type }) => type).filter((type) => type === 'text' || type.startsWith('tool')),
    ).to.deep.equal(['text', 'tool.started', 'tool.finished', 'text']);
    expect(asked).to.deep.equal([
      { tool: 'execute', title: 'ls', input: { command: 'ls' }, uses: { tool: 'Bash', command: 'ls' } },
    ]);
  });

  it('does not take a tool for what an earlier call of the same id was', async () => {
    expect((await turn('[[use-twice {"title":"a file","kind":"read"}]]')).text).to.equal('o-reject_once');
  });

  it('answers with what the agent offers, and cancels where it offers nothing that fits', async () => {
    const permission = () => Promise.resolve({ allow: true as const });
    expect(
      (await turn({ prompt: '[[use {"title":"ls","options":["allow_always","reject_once"]}]]', permission }))
        .text,
    ).to.equal('o-allow_always');
    expect((await turn('[[use {"title":"ls","options":["allow_once"]}]]')).text).to.equal('cancelled');
  });

  it("does not ask for the gateway's own tools where the program cannot be told, and is not deceived by a title", async () => {
    const quirks = { ownTool: acpPresets.gemini.quirks.ownTool };
    expect(
      (await turn('[[use {"title":"list_todos (troupe MCP Server)","kind":"other"}]]', { quirks })).text,
    ).to.equal('o-allow_once');
    expect(
      (await turn('[[use {"title":"list_todos (troupe MCP Server)","kind":"execute"}]]', { quirks })).text,
    ).to.equal('o-reject_once');
    expect(
      (await turn('[[use {"title":"rm -r x (troupe MCP Server)","kind":"other"}]]', { quirks })).text,
    ).to.equal('o-reject_once');
  });

  it('gives tools over HTTP with the token in the message, never on the command line, and says so where it cannot', async () => {
    const mcp = { url: 'http://127.0.0.1:1/mcp', token: 'very-secret-token' };
    const given = await turn({ prompt: '[[told]]', mcp });
    expect(JSON.parse((JSON.parse(given.text) as { tools: string }).tools)).to.deep.equal([
      {
        type: 'http',
        name: 'troupe',
        url: mcp.url,
        headers: [{ name: 'Authorization', value: 'Bearer very-secret-token' }],
      },
    ]);
    expect(JSON.stringify(given.argv)).to.not.include('very-secret-token');
    const without = await turn({ prompt: '[[told]]', mcp }, { args: ['--no-http'] });
    expect((JSON.parse(without.text) as { tools: string }).tools).to.equal('[]');
    expect(statuses(without)).to.include('takes no tools over HTTP');
  });

  it('offers neither files nor terminals', async () => {
    expect((await turn('[[file]]')).text).to.match(/^refused: .*not found/i);
  });

  it('lets the program have the key that its settings name, under its own variable, and nothing else of the gateway', async () => {
    process.env['ACP_SPEC_KEY'] = 'key';
    process.env['ACP_SPEC_OTHER'] = 'other';
    try {
      const { env } = await told(
        {},
        {
          apiKeyEnv: 'ACP_SPEC_KEY',
          baseUrl: 'http://127.0.0.1:1',
          quirks: { keyVariable: 'AGENT_KEY', addressVariable: 'AGENT_URL' },
        },
      );
      expect(env)
        .to.include.members(['AGENT_KEY', 'AGENT_URL', 'SVC_SESSION_ID'])
        .and.not.include('ACP_SPEC_OTHER')
        .and.not.include('ACP_SPEC_KEY');
    } finally {
      delete process.env['ACP_SPEC_KEY'];
      delete process.env['ACP_SPEC_OTHER'];
    }
  });

  it('chooses model, effort and mode over the protocol, and learns which models there are', async () => {
    const learning = engine({ efforts: ['low', 'medium'], mode: 'free' });
    const { text } = await playTurn(learning, cwd, {}, { prompt: '[[told]]', model: 'large', effort: 'low' });
    expect(JSON.parse(text)).to.include({ model: 'large', effort: 'low', mode: 'free' });
    expect((await learning.discover()).models.map(({ id }) => id)).to.deep.equal([
      'default',
      'small',
      'large',
    ]);
    expect(await told({ model: 'default' })).to.include({ model: 'own' });
  });

  it('ends with a sentence when model or mode are not to be had, and goes on without an effort', async () => {
    const poor = await turn({ prompt: '[[say x]]', effort: 'medium' });
    expect(poor).to.include({ outcome: 'succeeded', text: 'x' });
    expect(statuses(poor)).to.include('did not take the effort "medium"');
    expect((await turn('[[say x]]', { mode: 'wild' })).error).to.equal(
      'The agent has no mode "wild" (it has: ask, free).',
    );
    expect((await turn({ prompt: '[[say x]]', model: 'medium' })).error).to.equal(
      'The agent does not take the model "medium" (it offers: small, large).',
    );
  });

  it('puts a model on the command line where the program wants it there, and refuses what looks like an option itself', async () => {
    const quirks = {
      modelArgument: (model: string) => `--model=${model}`,
      effortArgument: (effort: string) => `--effort=${effort}`,
    };
    expect((await told({ model: 'm-1', effort: 'high' }, { quirks })).argv).to.deep.equal([
      '--model=m-1',
      '--effort=high',
    ]);
    for (const wish of [{ model: '--yolo' }, { effort: '-x' }, { model: 'a b' }]) {
      const refused = await turn({ prompt: '[[told]]', ...wish }, { quirks }).then(
        () => 'played',
        (error: unknown) => String(error),
      );
      expect(refused).to.include('Invalid model or effort level');
    }
  });

  it('logs in the way that its settings name, and else says what is missing', async () => {
    expect((await turn('[[say in]]', { args: ['--key'], authMethod: 'scripted-key' })).text).to.equal('in');
    const { outcome, error } = await turn('[[say in]]', { args: ['--key'] });
    expect(outcome).to.equal('failed');
    expect(error).to.match(/^scripted is not logged in/);
  });

  it('tells errors and limits apart, wherever the agent puts them', async () => {
    for (const [prompt, outcome, words] of [
      ['[[status 429]]', 'rate-limited', 'status 429'],
      ['[[fail {"errorKind":"rate_limit"}]]', 'rate-limited', 'the model failed'],
      ['[[fail {"codexErrorInfo":"usageLimitExceeded"}]]', 'rate-limited', 'the model failed'],
      ['[[status 401]]', 'failed', 'status 401'],
      ['[[fail {"details":"scripted 500"}]]', 'failed', 'the model failed: scripted 500'],
      ['[[stop max_tokens]]', 'failed', 'largest length'],
      ['[[stop refusal]]', 'failed', 'refused to go on'],
      ['[[stop cancelled]]', 'failed', 'cancelled the turn'],
      ['[[stop sideways]]', 'failed', 'sideways'],
      ['[[silent]]', 'failed', 'without an answer'],
    ] as const) {
      const ended = await turn(prompt);
      expect(ended.outcome, prompt).to.equal(outcome);
      expect(ended.error, prompt).to.include(words);
    }
    const quirks = { errorInText: /^Error:/ };
    expect(await turn('[[say Error: 500 broken]]', { quirks })).to.include({
      outcome: 'failed',
      error: 'Error: 500 broken',
      text: '',
    });
    expect(await turn('[[say Error: 429 slow down]]', { quirks })).to.include({ outcome: 'rate-limited' });
  });

  it('refuses an agent of another version of the protocol, and passes over updates that it does not know', async () => {
    expect((await turn('[[say x]]', { args: ['--old'] })).error).to.equal(
      'The agent speaks version 7 of the protocol; this gateway speaks version 1.',
    );
    expect((await turn('[[odd]]')).text).to.equal('went on');
  });

  for (const [way, reason] of [
    ['exit', 'without a result'],
    ['half', 'without a result'],
    ['garbage', 'without a result'],
    ['flood', 'a line that does not end'],
  ] as const) {
    it(`ends as an error with a reason when the agent goes wrong: ${way}`, async () => {
      const ended = await turn(`[[${way}]]`).then(
        ({ outcome, error, left }) => `${outcome} ${left} ${error}`,
        (error: unknown) => `failed 0 ${String(error)}`,
      );
      expect(ended)
        .to.match(/^failed 0 /)
        .and.include(reason);
    });
  }

  it('ends an agent that heeds neither its deadline nor a signal, what it left running, and one that never answers', async () => {
    expect(await turn({ prompt: '[[hang]]', deadlineMs: 1_500 })).to.include({ outcome: 'failed', left: 0 });
    expect(await turn('[[fork]]')).to.include({ outcome: 'succeeded', left: 0 });
    const mute = await turn({ prompt: 'x', deadlineMs: 500 }, { args: [], bin: 'cat' });
    expect(mute).to.include({ outcome: 'failed', left: 0 });
  }).timeout(180_000);

  it('is not there where its program is not, and says how to get it', async () => {
    for (const name of acpPresetNames) {
      const facts = await acpPreset(name, { bin: 'no-such-program' }).discover();
      expect(facts).to.include({ available: false, defaultModel: 'default' });
      expect(facts)
        .to.have.property('remedy')
        .that.matches(/^npm install -g /);
    }
    expect((await acpEngine({ name: 'own', bin: 'no-such-program' }).discover()).remedy).to.include(
      'set the command of engine own',
    );
  });
});
