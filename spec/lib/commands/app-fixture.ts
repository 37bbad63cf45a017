import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AtMostOnceEffect } from '../../../actors/contracts.js';
import type { TurnOutput } from '../../../machines/session/context.js';
import { sessionKind } from '../../../actors/session/kind.js';
import { workItemKind } from '../../../actors/work-item/kind.js';
import type { App, Settings, Roster, Selection } from '../../../lib/commands/app.js';
import type { Store } from '../../../lib/store/contract.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { refuse } from '../../../machines/refusals.js';

/**
 * An app over the real kernel and kinds. `engine.available` may be switched, as when someone installs the
 * program.
 */
export interface AppFixture {
  readonly app: App;
  readonly home: string;
  readonly engine: { available: boolean };
  close(): Promise<void>;
}

export async function openApp(
  options: { store?: Store; settings?: Partial<Settings>; roster?: Roster; home?: string } = {},
): Promise<AppFixture> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), 'app-')));
  const supervisor = await createSupervisor({
    kinds: [sessionKind({ turn }), workItemKind()],
    store: options.store ?? memoryStore(),
    ...(options.roster && { facts: { roster: options.roster } }),
  });
  const engine = { available: true };
  const select = async (name?: string | null): Promise<Selection | ReturnType<typeof refuse>> =>
    name != null && name !== 'pen'
      ? refuse('UNKNOWN_ENGINE', { engine: name })
      : {
          engine: 'pen',
          model: null,
          effort: null,
          ...(!engine.available && { unavailable: { reason: 'Install pen.' } }),
        };
  const app: App = {
    supervisor,
    engines: {
      select,
      list: async () => ({ default: 'pen', engines: {} }),
      refresh: () => undefined,
      limits: async () => ({ default: 'pen', engines: {} }),
    },
    settings: {
      home,
      sessionRoots: [join(home, 'roots')],
      interruptOnNewMessage: true,
      turnDeadlineMs: 1000,
      ...options.settings,
    },
    ...(options.roster && { roster: () => options.roster }),
  };
  return {
    app,
    home,
    engine,
    async close() {
      await supervisor.stop({ drainMs: 1_000 });
      if (options.home === undefined) await rm(home, { recursive: true, force: true });
    },
  };
}

const turn: AtMostOnceEffect<unknown, TurnOutput> = {
  guarantee: 'at-most-once',
  async run(_input: unknown, context) {
    await context.checkpoint({ begun: true });
    await new Promise<void>((resolve) =>
      context.signal.aborted ? resolve() : context.signal.addEventListener('abort', () => resolve()),
    );
    return { outcome: 'interrupted', text: '' };
  },
  recover: async () => ({ outcome: 'interrupted', text: '' }),
};
