import { expect, needChaiAndMocha } from './assertions.js';
import { tmpdir } from 'node:os';
import type { Engine, SpawnChildOptions, TurnIO, TurnRequest } from '../../actors/engines/engine.js';
import { processTable, startChild, type SpawnNote } from '../../actors/engines/process.js';

/** Which engine is tried, and with what. */
export interface EngineContractOptions {
  /** The one that is tried. */
  readonly engine: () => Engine | Promise<Engine>;
  /** A prompt that is answered quickly. */
  readonly prompt: string;
  /** A prompt that makes it talk at once and then work for at least ten seconds, to be interrupted. */
  readonly slowPrompt: string;
  /** Further environment of the child, e.g. SVC_GATEWAY_URL of a stand-in. */
  readonly env?: () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** Folder in which it works. Default: the system's temporary folder. */
  readonly cwd?: string;
}

/**
 * The promises of an engine, runnable: call it from a spec of your own, with an engine that is available on
 * the machine that runs the spec. Needs mocha and chai.
 *
 *
 * Throws where `chai` is not installed.
 * @example engineContract('echo', { engine: () => echo, prompt: 'say hello', slowPrompt: 'count to 60' });
 */
export function engineContract(title: string, options: EngineContractOptions): void {
  needChaiAndMocha();
  describe(`${title} keeps the contract of engines`, () => {
    it('is named as the API needs it', async () => {
      const engine = await options.engine();
      expect(engine.name).to.match(/^[a-z][a-z0-9-]*$/);
      expect(engine.effortMechanism).to.be.a('string').and.not.equal('');
    });

    it('discovers itself: facts that hold together, without starting a turn', async () => {
      const facts = await (await options.engine()).discover();
      expect(facts.available).to.be.a('boolean');
      if (!facts.available) expect(facts.reason, 'an unavailable engine says why').to.be.a('string');
      const ids = facts.models.map(({ id }) => id);
      expect(new Set(ids).size).to.equal(ids.length);
      if (facts.defaultModel !== null) expect(ids).to.include(facts.defaultModel);
      for (const model of facts.models) expect(model.supportsEffort).to.equal(model.effortLevels.length > 0);
    });

    it('knows nothing of a conversation that never was, where it reads records at all', async () => {
      const { readTranscript } = await options.engine();
      for (const name of ['00000000-0000-4000-8000-000000000000', '../../etc/passwd', ''])
        expect((await readTranscript?.(name, tmpdir())) ?? []).to.deep.equal([]);
    });

    it('answers a prompt and leaves no process behind', async () => {
      const bench = await workbench(options);
      const result = await (await options.engine()).turn(bench.request(options.prompt), bench.io);
      expect(result, result.error).to.include({ outcome: 'succeeded' });
      expect(result.text.trim()).to.not.equal('');
      expect(await bench.running()).to.equal(0);
    });

    it('takes a prompt that begins like an option as a prompt', async () => {
      const bench = await workbench(options);
      await (await options.engine()).turn(bench.request('--version'), bench.io);
      for (const args of bench.argv) expect(args).to.not.include('--version');
      expect(await bench.running()).to.equal(0);
    });

    it('ends when it is interrupted while it works, and leaves no process behind', async () => {
      const bench = await workbench(options);
      const turn = (await options.engine()).turn(bench.request(options.slowPrompt), bench.io);
      await bench.talked;
      bench.abort();
      expect((await turn).outcome).to.equal('interrupted');
      expect(await bench.running()).to.equal(0);
    });

    it('does not begin, or ends at once, when the turn was interrupted before', async () => {
      const bench = await workbench(options);
      bench.abort();
      const outcome = await (await options.engine()).turn(bench.request(options.slowPrompt), bench.io).then(
        (result) => result.outcome,
        () => 'rejected',
      );
      expect(outcome).to.be.oneOf(['interrupted', 'rejected']);
      expect(await bench.running()).to.equal(0);
    });

    it('ends at its deadline with a sentence for a person', async () => {
      const bench = await workbench(options);
      const result = await (
        await options.engine()
      ).turn({ ...bench.request(options.slowPrompt), deadlineMs: 1_000 }, bench.io);
      expect(result.outcome).to.be.oneOf(['failed', 'interrupted']);
      if (result.outcome === 'failed') expect(result.error).to.be.a('string').and.not.equal('');
      expect(await bench.running()).to.equal(0);
    });
  });
}

interface Workbench {
  readonly io: TurnIO;
  readonly argv: readonly (readonly string[])[];
  /** The first report of any kind. */
  readonly talked: Promise<void>;
  request(prompt: string): TurnRequest;
  abort(): void;
  running(): Promise<number>;
}

let benches = 0;

async function workbench(options: EngineContractOptions): Promise<Workbench> {
  const controller = new AbortController();
  const argv: (readonly string[])[] = [];
  const cwd = options.cwd ?? tmpdir();
  const env = { SVC_SESSION_ID: 'contract', SVC_SESSION_CAPABILITY: 'contract', ...(await options.env?.()) };
  const spawnId = `contract-${process.pid}-${(benches += 1)}`;
  let hear: () => void = () => undefined;
  const talked = new Promise<void>((resolve) => {
    hear = resolve;
  });
  const io: TurnIO = {
    signal: controller.signal,
    spawn(command: string, args: readonly string[], given: SpawnChildOptions) {
      argv.push(args);
      return startChild(command, args, {
        ...given,
        spawnId,
        tokenHash: null,
        note: (_note: SpawnNote) => Promise.resolve(),
        signal: controller.signal,
        silence: 'report',
        graces: { interruptMs: 1_000, terminateMs: 1_000, confirmMs: 5_000 },
      });
    },
    report: () => hear(),
    permission: () => Promise.resolve({ allow: false, message: 'No person is there to allow it.' }),
  };
  return {
    io,
    argv,
    talked,
    abort: () => controller.abort(),
    request: (prompt) => ({
      sessionId: 'contract',
      turnId: 'contract:1',
      prompt,
      transcript: [],
      nativeId: null,
      model: null,
      effort: null,
      cwd,
      env,
      deadlineMs: 60_000,
      silenceMs: 60_000,
    }),
    /** Living processes that the settled turn has left on this machine. */
    running: async () => (await processTable().marked(spawnId)).length,
  };
}
