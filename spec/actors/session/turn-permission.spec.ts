import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { engineTurnEffect } from '../../../actors/session/engine-turn.js';
import { mayUse } from '../../../machines/session/tool-policy.js';
import { defineEngine, type PermissionAnswer } from '../../../actors/engines/engine.js';
import { createPool } from '../../../actors/engines/pool.js';
import { createEngineRegistry } from '../../../actors/engines/registry.js';
import { createSessionTokens } from '../../../actors/engines/tokens.js';
import { sessionKind } from '../../../actors/session/kind.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { isRefusal } from '../../../machines/refusals.js';
import { freshFolder } from '../engines/child-fixture.js';

/** From the agent's question to the person's word and back, over a real supervisor. */
describe('a tool that an agent asks for', () => {
  let folder: string;
  let supervisor: Supervisor;
  let answers: PermissionAnswer[];
  /** The agent asks for as many tools, one after the other, as its prompt has words. */
  const curious = defineEngine({
    name: 'curious',
    effortMechanism: 'none',
    discover: async () => ({ available: true, defaultModel: null, models: [] }),
    async turn({ prompt }, { permission }) {
      for (const tool of prompt.split(' '))
        answers.push(
          await permission({
            tool,
            title: `use ${tool}`,
            input: { secretless: true },
            ...(tool === 'Bash' && { uses: { tool, command: 'git status' } }),
          }),
        );
      return { outcome: 'succeeded', text: answers.map(({ allow }) => (allow ? 'yes' : 'no')).join(' ') };
    },
  });

  async function open(waitMs?: number): Promise<void> {
    folder = await freshFolder();
    answers = [];
    const turn = engineTurnEffect({
      registry: createEngineRegistry({ engines: [curious] }),
      pool: createPool({ maxProcesses: 2 }),
      tokens: createSessionTokens(),
      gatewayUrl: () => undefined,
      ...(waitMs !== undefined && { permissionWaitMs: waitMs }),
    });
    supervisor = await createSupervisor({ kinds: [sessionKind({ turn })], store: memoryStore() });
  }
  afterEach(async () => {
    await supervisor.stop({ drainMs: 5_000 });
    await rm(folder, { recursive: true, force: true });
  });

  async function begin(
    prompt: string,
    permissions?: { mode: 'ask' | 'allow-list' | 'full'; allow: string[] },
  ): Promise<void> {
    const view = await supervisor.spawn('session', {
      id: 's1',
      input: {
        engine: 'curious',
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
        turnDeadlineMs: 60_000,
        message: { id: 'm1', content: prompt, role: 'user', kind: 'user' },
        ...(permissions && { permissions }),
      },
    });
    if (isRefusal(view)) throw new Error(view.message);
  }

  /** The record, as soon as it satisfies the test. */
  async function until(
    test: (view: { status: string; pendingPermissions: { id: string; tool: string }[] }) => boolean,
  ): Promise<{ status: string; pendingPermissions: { id: string; tool: string }[] }> {
    for await (const _ of supervisor.watch({ since: 0, ids: ['s1'] })) {
      const view = (await supervisor.get('session', 's1'))?.view as never as Awaited<
        ReturnType<typeof until>
      >;
      if (test(view)) return view;
    }
    throw new Error('it never came to that');
  }
  const decide = (permissionId: string, decision: string, extra = {}) =>
    supervisor.ask('session', 's1', { type: 'permission.decided', permissionId, decision, ...extra });

  it('is used once a person allows it, and not when they say no', async () => {
    await open();
    await begin('Bash Write');
    const first = await until(({ pendingPermissions }) => pendingPermissions.length === 1);
    expect(first.pendingPermissions[0]).to.include({ id: 's1:1:p1', tool: 'Bash', title: 'use Bash' });
    await decide('s1:1:p1', 'allow');
    await until(({ pendingPermissions }) => pendingPermissions[0]?.tool === 'Write');
    await decide('s1:1:p2', 'deny', { note: 'Not on a Friday.' });
    await until(({ status }) => status === 'idle');
    expect(answers[0]).to.deep.equal({ allow: true });
    expect(answers[1])
      .to.have.property('message')
      .that.matches(/^Not on a Friday\. Go on without/);
  });

  it('is not asked for again in the same turn once it is allowed for good', async () => {
    await open();
    await begin('Bash Bash');
    await until(({ pendingPermissions }) => pendingPermissions.length === 1);
    await decide('s1:1:p1', 'allow', { always: true });
    await until(({ status }) => status === 'idle');
    expect(answers).to.deep.equal([{ allow: true }, { allow: true }]);
    const view = (await supervisor.get('session', 's1'))?.view as { toolPolicy?: unknown } | undefined;
    expect(view?.toolPolicy).to.deep.equal({ mode: 'allow-list', allow: ['Bash(git status *)'] });
  });

  // What was taken away used to hold until the turn that knew it was over
  it('is asked for again in the same turn once its rule is taken away', async () => {
    await open();
    await begin('Bash Write Bash');
    await until(({ pendingPermissions }) => pendingPermissions.length === 1);
    await decide('s1:1:p1', 'allow', { always: true });
    await until(({ pendingPermissions }) => pendingPermissions[0]?.tool === 'Write');
    await supervisor.ask('session', 's1', {
      type: 'permissions.set',
      toolPolicy: { mode: 'ask', allow: [] },
    });
    await decide('s1:1:p2', 'allow');
    const { pendingPermissions } = await until((view) => view.pendingPermissions[0]?.tool === 'Bash');
    expect(pendingPermissions[0]?.id).to.equal('s1:1:p3');
    await decide('s1:1:p3', 'deny');
    await until(({ status }) => status === 'idle');
  });

  it("is answered by the session's own policy without anybody", async () => {
    await open();
    await begin('Bash mcp__docs__read', { mode: 'allow-list', allow: ['Bash', 'mcp__docs__*'] });
    await until(({ status }) => status === 'idle');
    expect(answers).to.deep.equal([{ allow: true }, { allow: true }]);
    expect(
      mayUse({ mode: 'allow-list', allow: ['Bash'] }, { tool: 'BashOutput' }),
      'a name is not a beginning',
    ).to.equal(false);
    expect(mayUse({ mode: 'full', allow: [] }, { tool: 'anything' })).to.equal(true);
    expect(mayUse({ mode: 'ask', allow: ['Bash'] }, { tool: 'Bash' }), 'who must ask, asks').to.equal(false);
  });

  it('is denied when no one decides in time', async () => {
    await open(20);
    await begin('Bash');
    await until(({ status }) => status === 'idle');
    expect(answers[0])
      .to.have.property('message')
      .that.matches(/^No decision in time/);
  });

  it('is let go when the session is stopped', async () => {
    await open();
    await begin('Bash');
    await until(({ pendingPermissions }) => pendingPermissions.length === 1);
    await supervisor.ask('session', 's1', { type: 'session.stop' });
    const stopped = await until(({ status }) => status === 'stopped');
    expect(stopped.pendingPermissions).to.deep.equal([]);
    const late = await decide('s1:1:p1', 'allow');
    expect(isRefusal(late)).to.equal(true);
  });
});
