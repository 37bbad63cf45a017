import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgents } from '../../lib/agents.js';
import { memoryStore } from '../../lib/store/memory.js';
import type { Supervisor } from '../../lib/supervisor/contract.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import { operator } from '../../machines/caller.js';
import { isRefusal } from '../../machines/refusals.js';
import { rogueEngines, type Rogue } from './rogues.js';

/** Real sessions over engines that go wrong. */
export interface RogueHouse {
  readonly supervisor: Supervisor;
  /** Plays one turn and answers with the session as it stands when that is over. */
  play(rogue: Rogue): Promise<PlayedRogue>;
  close(): Promise<void>;
}

export interface PlayedRogue {
  readonly id: string;
  readonly status: string;
  readonly lastError: string;
  readonly ms: number;
}

/** `const house = await openRogues({deadlineMs: 1_000}); … await house.close()` */
export async function openRogues({ deadlineMs }: { readonly deadlineMs: number }): Promise<RogueHouse> {
  const folder = await mkdtemp(join(tmpdir(), 'rogues-'));
  const agents = createAgents({
    engines: rogueEngines,
    workFolder: folder,
    turnDeadlineMs: deadlineMs,
    maxProcesses: rogueEngines.length * 4,
  });
  const supervisor = await createSupervisor({ kinds: agents.kinds, store: memoryStore() });
  return {
    supervisor,
    async play({ engine, prompt }) {
      const began = performance.now();
      const { position: seq } = supervisor.status;
      const session = await supervisor.spawn('session', {
        by: operator,
        input: await agents.session({ engine, prompt }),
      });
      if (isRefusal(session)) throw new Error(session.message);
      for await (const _entry of supervisor.watch({ since: seq })) {
        const view = (await supervisor.get('session', session.id))?.view as
          | { readonly status: string; readonly lastError: string | null }
          | undefined;
        if (view === undefined || view.status === 'running') continue;
        return {
          id: session.id,
          status: view.status,
          lastError: view.lastError ?? '',
          ms: Math.round(performance.now() - began),
        };
      }
      throw new Error('the supervisor stopped');
    },
    async close() {
      await supervisor.stop({ drainMs: 5_000 });
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
