import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { engineTurnEffect } from '../../../actors/session/engine-turn.js';
import { commandEngine } from '../../../actors/engines/command.js';
import { createPool } from '../../../actors/engines/pool.js';
import { createEngineRegistry } from '../../../actors/engines/registry.js';
import { createSessionTokens } from '../../../actors/engines/tokens.js';
import { sessionKind } from '../../../actors/session/kind.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import type { ActorView, Supervisor } from '../../../lib/supervisor/contract.js';
import { operator } from '../../../machines/caller.js';
import { isRefusal } from '../../../machines/refusals.js';
import { freshFolder, graces } from '../engines/child-fixture.js';
import { isAlive } from '../../helpers/is-alive.js';

/** The whole way of a turn: a real supervisor, the real session machine, the real hand, a real process. */
describe('a turn of a supervised session', () => {
  let folder: string;
  let supervisor: Supervisor;
  const program =
    'read word; echo "pid $$."; echo "heard $word"; if [ "$word" = slow ]; then trap "" INT TERM; while :; do sleep 1; done; fi';

  beforeEach(async () => {
    folder = await freshFolder();
    const turn = engineTurnEffect({
      registry: createEngineRegistry({
        engines: [
          commandEngine({ name: 'script', command: ['/bin/sh', '-c', program], transcriptBytesMax: 0 }),
        ],
      }),
      pool: createPool({ maxProcesses: 2 }),
      tokens: createSessionTokens(),
      gatewayUrl: () => undefined,
      graces,
    });
    supervisor = await createSupervisor({ kinds: [sessionKind({ turn })], store: memoryStore() });
  });
  afterEach(async () => {
    await supervisor.stop({ drainMs: 5_000 });
    await rm(folder, { recursive: true, force: true });
  });

  const message = (id: string, content: string) => ({ id, content, role: 'user', kind: 'user' });

  async function begin(content: string): Promise<void> {
    const view = await supervisor.spawn('session', {
      id: 's1',
      by: operator,
      input: {
        engine: 'script',
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
        message: message('m1', content),
      },
    });
    if (isRefusal(view)) throw new Error(view.message);
  }

  /** Resolves with the text that watchers have heard, once it holds what is waited for. */
  const heard = (pattern: RegExp): Promise<string> =>
    new Promise((resolve) => {
      let text = '';
      const stop = supervisor.onProgress(({ payload }) => {
        const { type, content } = payload as { readonly type?: string; readonly content?: string };
        if (type === 'text') text += content ?? '';
        if (!pattern.test(text)) return;
        stop();
        resolve(text);
      });
    });

  async function settled(status: string, rows: number): Promise<readonly Record<string, unknown>[]> {
    for await (const _entry of supervisor.watch({ since: 0 })) {
      const view = (await supervisor.get('session', 's1')) as ActorView;
      const found = await supervisor.rows({ kind: 'session', id: 's1' }, 'messages');
      if ((view.view as { status: string }).status === status && found.length >= rows)
        return found.map(({ row }) => row as Record<string, unknown>);
    }
    throw new Error('the supervisor stopped');
  }
  const pidOf = (text: unknown): number => Number(/pid (\d+)\./.exec(String(text))?.[1]);

  it('goes from message to answer', async () => {
    await begin('hello');
    const [question, answer] = await settled('idle', 2);
    expect(question).to.include({ id: 'm1', role: 'user', content: 'hello' });
    expect(answer)
      .to.include({ id: 's1:1:answer', role: 'assistant' })
      .and.have.property('content')
      .that.matches(/^pid \d+\.\nheard hello$/);
  });

  it('is left for a newer message: its half is kept, its process is gone before the next one begins', async () => {
    const slow = heard(/heard slow\n/);
    await begin('slow');
    const pid = pidOf(await slow);
    expect(await isAlive(pid)).to.equal(true);
    await supervisor.ask(
      'session',
      's1',
      { type: 'message.post', message: message('m2', 'quick') },
      { by: operator },
    );
    const rows = await settled('idle', 4);
    expect(await isAlive(pid)).to.equal(false);
    const texts = rows.map(({ content, partial }) => [
      String(content).replace(/pid \d+/, 'pid N'),
      partial === true,
    ]);
    expect(texts).to.deep.equal([
      ['slow', false],
      ['quick', false],
      ['pid N.\nheard slow', true],
      ['pid N.\nheard quick', false],
    ]);
  });

  it('is stopped by a person', async () => {
    const slow = heard(/heard slow\n/);
    await begin('slow');
    const pid = pidOf(await slow);
    await supervisor.ask('session', 's1', { type: 'session.stop' }, { by: operator });
    const rows = await settled('stopped', 2);
    expect(rows[1]).to.include({ partial: true });
    expect(await isAlive(pid)).to.equal(false);
  });

  it('leaves no process when the supervisor stops', async () => {
    const slow = heard(/heard slow\n/);
    await begin('slow');
    const pid = pidOf(await slow);
    await supervisor.stop({ drainMs: 5_000 });
    expect(await isAlive(pid)).to.equal(false);
  });
});
