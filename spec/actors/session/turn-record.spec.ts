import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createTurnRecord } from '../../../actors/session/turn-record.js';
import type { SandboxLevel } from '../../../actors/sandbox/levels.js';
import { engineTurnEffect } from '../../../actors/session/engine-turn.js';
import type { EngineTurnOptions } from '../../../actors/session/turn-options.js';
import { defineEngine, type TurnIO, type TurnRequest } from '../../../actors/engines/engine.js';
import { createPool } from '../../../actors/engines/pool.js';
import { createEngineRegistry } from '../../../actors/engines/registry.js';
import { createSessionTokens } from '../../../actors/engines/tokens.js';
import { sessionKind } from '../../../actors/session/kind.js';
import { openLevelStore } from '../../../lib/store/level.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { activityLimits } from '../../../machines/session/activity-entry.js';
import { operator } from '../../../machines/caller.js';
import { isRefusal } from '../../../machines/refusals.js';
import { freshFolder } from '../engines/child-fixture.js';

/** From what an engine tells to the messages of its session, over a real supervisor. */
describe('what an agent does in a turn', () => {
  interface Message {
    readonly id: string;
    readonly role: string;
    readonly content: string;
    readonly toolCall?: string;
    readonly toolId?: string;
    readonly media?: unknown;
    readonly meta?: Readonly<Record<string, unknown>>;
  }
  let folder: string;
  let supervisor: Supervisor;
  let work: (io: TurnIO, request: TurnRequest) => Promise<void> | void;
  const busy = defineEngine({
    name: 'busy',
    effortMechanism: 'none',
    discover: async () => ({ available: true, defaultModel: null, models: [] }),
    async turn(request, io) {
      await work(io, request);
      return { outcome: 'succeeded', text: 'done' };
    },
  });

  beforeEach(async () => {
    folder = await freshFolder();
  });
  afterEach(async () => {
    await supervisor.stop({ drainMs: 5_000 });
    await rm(folder, { recursive: true, force: true });
  });

  async function open(options: Partial<EngineTurnOptions> = {}): Promise<void> {
    const turn = engineTurnEffect({
      registry: createEngineRegistry({ engines: [busy] }),
      pool: createPool({ maxProcesses: 2 }),
      tokens: createSessionTokens(),
      gatewayUrl: () => undefined,
      ...options,
    });
    supervisor = await createSupervisor({
      kinds: [sessionKind({ turn })],
      store: await openLevelStore({ directory: join(folder, 'store') }),
    });
  }

  async function begin(): Promise<void> {
    const view = await supervisor.spawn('session', {
      id: 's1',
      by: operator,
      input: {
        engine: 'busy',
        model: null,
        effort: null,
        employee: null,
        parentSessionId: null,
        ancestors: [],
        workItemId: null,
        title: null,
        cwd: folder,
        source: 'web',
        sourceRef: null,
        interruptOnNewMessage: true,
        turnDeadlineMs: 600_000,
        message: { id: 'm1', content: 'go', role: 'user', kind: 'user' },
      },
    });
    if (isRefusal(view)) throw new Error(view.message);
  }

  async function rested(turns: number): Promise<{ status: string; totalTurns: number }> {
    for await (const _ of supervisor.watch({ since: 0, ids: ['s1'] })) {
      const view = (await supervisor.get('session', 's1'))?.view as never as {
        status: string;
        totalTurns: number;
      };
      if (view.totalTurns === turns && view.status !== 'running') return view;
    }
    throw new Error('it never rested');
  }

  const messages = async (last = 1_000): Promise<readonly Message[]> =>
    (await supervisor.rows({ kind: 'session', id: 's1' }, 'messages', { last })).map(
      ({ row }) => row as never as Message,
    );

  it('becomes messages in its order: what it thought, said, used and changed, and the answer last', async () => {
    const ending = { exitCode: 2, durationMs: 1_500 };
    work = (io) => {
      io.report({ type: 'thinking', text: 'I should ' });
      io.report({ type: 'thinking', text: 'look.' });
      io.report({ type: 'text', text: 'Let me look.' });
      io.report({ type: 'tool.started', toolId: 't1', tool: 'Bash', input: '{"command":"ls"}' });
      io.report({ type: 'tool.finished', toolId: 't1', output: 'a.ts', isError: false });
      io.report({ type: 'tool.started', toolId: 't2', tool: 'Edit', input: '{}' });
      io.report({ type: 'tool.finished', toolId: 't2', output: 'no such file', isError: true, ...ending });
      io.report({ type: 'file.changed', path: 'a.ts', change: 'changed', diff: '-a\n+b' });
      io.report({ type: 'text', text: 'done' });
    };
    await open();
    await begin();
    await rested(1);
    const kept = await messages();
    expect(kept.map(({ content }) => content)).to.deep.equal([
      'go',
      'I should look.',
      'Let me look.',
      'Using Bash',
      'Using Edit',
      'Changed a.ts',
      'done',
    ]);
    expect(kept[4]?.meta).to.deep.include(ending);
    expect(kept[3]?.meta).not.to.have.any.keys(ending);
    expect(kept.map(({ meta }) => meta?.['kind'] ?? null)).to.deep.equal([
      null,
      'thinking',
      'remark',
      'tool',
      'tool',
      'file-change',
      null,
    ]);
    expect(kept[3]).to.deep.include({ role: 'assistant', toolCall: 'Bash', toolId: 't1' });
    expect(kept[3]?.meta).to.include({
      state: 'done',
      toolInput: '{"command":"ls"}',
      toolOutput: 'a.ts',
      turnId: 's1:1',
    });
    expect(kept[4]?.meta).to.include({ state: 'failed', toolOutput: 'no such file' });
    expect(kept[5]?.meta).to.include({ path: 'a.ts', change: 'changed', diff: '-a\n+b' });
  });

  it('is stored while it goes on, before the turn has ended', async () => {
    let finish: () => void = () => undefined;
    work = (io) => {
      io.report({ type: 'tool.started', toolId: 't1', tool: 'Bash', input: 'sleep' });
      return new Promise((resolve) => {
        finish = resolve;
      });
    };
    await open();
    await begin();
    for await (const { event } of supervisor.watch({ since: 0, ids: ['s1'] }))
      if ((event as { readonly type?: string }).type === 'turn.recorded') break;
    expect((await messages()).at(-1)?.meta).to.include({ state: 'running' });
    finish();
    await rested(1);
    // the engine never said how the tool ended
    expect((await messages())[1]?.meta).to.include({ state: 'interrupted' });
  });

  it('keeps what was stored when the gateway ends in the middle, and says what was cut', async () => {
    const begun = new Promise<void>((resolve) => {
      work = async (io) => {
        io.report({ type: 'tool.started', toolId: 't1', tool: 'Bash', input: 'one' });
        io.report({ type: 'tool.finished', toolId: 't1', output: 'first', isError: false });
        io.report({ type: 'tool.started', toolId: 't2', tool: 'Bash', input: 'two' });
        resolve();
        await new Promise(() => undefined);
      };
    });
    await open({ settleMs: 1 });
    await begin();
    await begun;
    for await (const _ of supervisor.watch({ since: 0, ids: ['s1'] }))
      if ((await messages()).length === 3) break;
    await supervisor.stop({ drainMs: 0 });
    await open({ settleMs: 1 });
    expect((await rested(1)).status).to.equal('interrupted');
    const kept = await messages();
    expect(kept.map(({ meta }) => meta?.['state'] ?? null).slice(0, 3)).to.deep.equal([
      null,
      'done',
      'interrupted',
    ]);
    expect(kept[1]?.meta).to.include({ toolOutput: 'first' });
  });

  it('is bounded: what a tool said at length is a file beside the message', async () => {
    const files: { filename: string; text: string }[] = [];
    work = (io) => {
      io.report({ type: 'tool.started', toolId: 't1', tool: 'Bash', input: '{}' });
      io.report({ type: 'tool.finished', toolId: 't1', output: 'x'.repeat(100_000), isError: false });
    };
    await open({
      keepText: async (_sessionId, file) => {
        files.push(file);
        return { type: 'file', url: '/api/files/f1', name: file.filename };
      },
    });
    await begin();
    await rested(1);
    const message = (await messages())[1];
    expect(files.map(({ text }) => text.length)).to.deep.equal([100_000]);
    expect(message?.media).to.deep.equal([{ type: 'file', url: '/api/files/f1', name: 'Bash-3.txt' }]);
    expect(message?.meta).to.include({ state: 'done', toolOutputBytes: 100_000 });
    expect(String(message?.meta?.['toolOutput']).length).to.equal(4_096);
  });

  it('tells of a permission that a person decided, and why it was not given', async () => {
    work = async (io) => {
      await io.permission({ tool: 'Bash', title: 'rm -r', input: { command: 'rm -r' } });
    };
    await open();
    await begin();
    for await (const _ of supervisor.watch({ since: 0, ids: ['s1'] }))
      if ((await messages()).length === 2) break;
    expect((await messages())[1]?.meta).to.include({ kind: 'permission', state: 'pending' });
    const decided = await supervisor.ask('session', 's1', {
      type: 'permission.decided',
      permissionId: 's1:1:p1',
      decision: 'deny',
      note: 'Not here.',
    });
    expect(isRefusal(decided)).to.equal(false);
    await rested(1);
    const message = (await messages())[1];
    expect(message).to.include({ content: 'Asked to use Bash: rm -r', toolCall: 'Bash' });
    expect(message?.meta).to.include({ state: 'denied' });
    expect(message?.meta?.['note']).to.match(/^Not here\./);
  });

  // more open messages than a session knows the places of left two rows of one id
  it('is one message for each of a hundred tools that run at once', async () => {
    work = async (io) => {
      const ids = Array.from({ length: 100 }, (_, n) => `t${n}`);
      for (const toolId of ids) io.report({ type: 'tool.started', toolId, tool: 'Task', input: '{}' });
      for await (const _ of supervisor.watch({ since: 0, ids: ['s1'] }))
        if ((await messages()).length > activityLimits.openMax) break;
      for (const toolId of ids) io.report({ type: 'tool.finished', toolId, output: toolId, isError: false });
    };
    await open();
    await begin();
    await rested(1);
    const kept = (await messages()).filter(({ toolId }) => toolId !== undefined);
    expect(kept.every(({ meta }) => meta?.['state'] === 'done')).to.equal(true);
    expect(new Set(kept.map(({ id }) => id)).size).to.equal(100);
    expect(kept).to.have.length(100);
  });

  it('ends a tool that its engine begins again under the same id', async () => {
    work = (io) => {
      io.report({ type: 'tool.started', toolId: 't1', tool: 'Bash', input: 'one' });
      io.report({ type: 'tool.started', toolId: 't1', tool: 'Bash', input: 'two' });
      io.report({ type: 'tool.finished', toolId: 't1', output: 'second', isError: false });
    };
    await open();
    await begin();
    await rested(1);
    expect((await messages()).slice(1, 3).map(({ meta }) => meta?.['state'])).to.deep.equal([
      'interrupted',
      'done',
    ]);
  });

  // a tool's name had no bound, and the session refused it together with all that was recorded beside it
  it('keeps a question whatever its engine calls the tool', async () => {
    work = async (io) => {
      await Promise.race([io.permission({ tool: 'T'.repeat(600_000), title: 'may I', input: {} }), asked()]);
    };
    const asked = async (): Promise<void> => {
      for await (const _ of supervisor.watch({ since: 0, ids: ['s1'] }))
        if ((await messages()).length > 1) return;
    };
    await open();
    await begin();
    await rested(1);
    expect((await messages())[1]?.toolCall).to.equal('T'.repeat(200));
  });

  it('says what a turn changed without the keys that its processes were given', async () => {
    const files: string[] = [];
    let token = '';
    work = (_io, { env }) => {
      token = env['SVC_SESSION_CAPABILITY'] ?? '';
    };
    await open({
      watchChanges: async () => ({
        mark: 'turn-000000',
        read: async () => ({
          files: ['.env', 'f'.repeat(700)],
          stat: `.env-${token} | 1 +`,
          patch: `+KEY=${token}`,
        }),
        close: async () => undefined,
      }),
      keepText: async (_sessionId, { text }) => {
        files.push(text);
        return null;
      },
    });
    await begin();
    await rested(1);
    expect(token).to.have.length.greaterThan(16);
    expect(files).to.deep.equal(['+KEY=[secret]']);
    expect((await messages())[1]?.meta).to.deep.include({
      stat: '.env-[secret] | 1 +',
      files: ['.env', 'f'.repeat(512)],
    });
  });

  // another agent, in its cage, may have written what git runs in this folder
  it('is looked at within the cage of the session, also where the engine itself needs none', async () => {
    const levels: string[] = [];
    const inForce = async (level: SandboxLevel) => ({ level, isRefused: false });
    work = () => undefined;
    await open({
      registry: createEngineRegistry({ engines: [{ ...busy, isInProcess: true }] }),
      sandbox: {
        port: {
          inForce,
          confine: () => Promise.reject(new Error('it starts nothing')),
          memoryBound: async () => 'none' as const,
        },
        levelOf: () => 'workspace',
      },
      watchChanges: async ({ level }) => {
        levels.push(level);
        return undefined;
      },
    });
    await begin();
    await rested(1);
    expect(levels).to.deep.equal(['workspace']);
  });

  it('reports what could not be stored', async () => {
    const faults: unknown[] = [];
    const record = createTurnRecord({
      turnId: 's1:1',
      context: { send: () => Promise.reject(new Error('no room')) },
      onFault: (error) => faults.push(error),
    });
    work = () => undefined;
    await open();
    record.take({ type: 'tool.started', seq: 1, toolId: 't1', tool: 'Bash', input: '{}' });
    await record.close();
    expect(faults.map(String)).to.include('Error: no room');
  });

  // one message that a session refuses took up to sixty-three others with it
  it('keeps all other messages where one cannot be stored', async () => {
    const stored: string[] = [];
    const record = createTurnRecord({
      turnId: 's1:1',
      context: {
        async send(event) {
          const given = event.type === 'turn.recorded' ? event.entries : [];
          await Promise.resolve();
          if (given.some(({ toolId }) => toolId === 't3')) throw new Error('not this one');
          stored.push(...given.map(({ id, content }) => `${id} ${content}`));
        },
      },
      onFault: () => undefined,
    });
    work = () => undefined;
    await open();
    for (const n of [1, 2, 3, 4])
      record.take({ type: 'tool.started', seq: n, toolId: `t${n}`, tool: 'Bash', input: '{}' });
    for (const n of [1, 2, 3, 4])
      record.take({ type: 'tool.finished', seq: n + 4, toolId: `t${n}`, output: '', isError: false });
    await record.close();
    expect(new Set(stored)).to.deep.equal(
      new Set([
        's1:1:1 Using Bash',
        's1:1:2 Using Bash',
        's1:1:3 This could not be stored.',
        's1:1:4 Using Bash',
      ]),
    );
  });

  // an agent's day is thousands of tools: neither the snapshot nor the next prompt may suffer
  it('stays within bounds with five thousand tools, and the next turn still finds its message', async () => {
    const prompts: string[] = [];
    work = (io, request) => {
      prompts.push(request.prompt);
      if (prompts.length > 1) return;
      for (let n = 0; n < 5_000; n += 1) {
        io.report({ type: 'tool.started', toolId: `t${n}`, tool: 'Bash', input: 'i'.repeat(1_000) });
        io.report({ type: 'tool.finished', toolId: `t${n}`, output: 'o'.repeat(3_000), isError: false });
      }
    };
    await open();
    await begin();
    const session = supervisor.handle('session', 's1');
    session.subscribe(() => undefined); // so that it follows
    await rested(1);
    const { context } = session.getSnapshot() as unknown as {
      readonly context: { readonly messages: number; readonly openMessages: unknown };
    };
    expect(context.messages).to.equal(5_002);
    expect(context.openMessages).to.deep.equal([]);
    expect(JSON.stringify(context).length).to.be.lessThan(4_096);
    const last = await messages();
    expect(last.slice(0, -1).every(({ meta }) => meta?.['state'] === 'done')).to.equal(true);
    expect(last.reduce((sum, row) => Math.max(sum, JSON.stringify(row).length), 0)).to.be.lessThan(9_000);
    await supervisor.ask('session', 's1', {
      type: 'message.post',
      message: { id: 'm2', content: 'again', role: 'user', kind: 'user' },
    });
    await rested(2);
    expect(prompts).to.deep.equal(['go', 'again']);
  });
});
