import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FencedHand } from '../../../actors/contracts.js';
import { sessionKind } from '../../../actors/kinds/session.js';
import { workItemKind } from '../../../actors/kinds/work-item.js';
import type { Desk, DeskSettings, Roster, Selection } from '../../../lib/commands/desk.js';
import type { Store } from '../../../lib/store/contract.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { createSupervisor } from '../../../lib/supervisor/create.js';
import { refuse } from '../../../machines/refusals.js';

/** A desk over the real kernel and kinds. `engine.available` may be switched, as when somebody installs the program. */
export interface DeskHouse { readonly desk: Desk; readonly home: string; readonly engine: { available: boolean }; close(): Promise<void> }

export async function openDesk(options: { store?: Store; settings?: Partial<DeskSettings>; roster?: Roster; home?: string } = {}): Promise<DeskHouse> {
  const home = options.home ?? await mkdtemp(join(tmpdir(), 'desk-'));
  const supervisor = await createSupervisor({
    kinds: [sessionKind({ turn }), workItemKind()], store: options.store ?? memoryStore(), ...(options.roster && { facts: { roster: options.roster } }),
  });
  const engine = { available: true };
  const select = async (name?: string | null): Promise<Selection | ReturnType<typeof refuse>> =>
    (name != null && name !== 'pen' ? refuse('UNKNOWN_ENGINE', { engine: name }) : { engine: 'pen', model: null, effort: null, ...(!engine.available && { unavailable: { reason: 'Install pen.' } }) });
  const desk: Desk = {
    supervisor,
    engines: { select, list: async () => ({ default: 'pen', engines: {} }), limits: async () => ({ default: 'pen', engines: {} }) },
    settings: { home, sessionRoots: [join(home, 'roots')], interruptOnNewMessage: true, turnDeadlineMs: 1000, ...options.settings },
    ...(options.roster && { roster: () => options.roster }),
  };
  return {
    desk, home, engine,
    async close() {
      await supervisor.stop({ drainMs: 1_000 });
      if (options.home === undefined) await rm(home, { recursive: true, force: true });
    },
  };
}

const turn: FencedHand = {
  fence: true,
  async run(_input: unknown, context) {
    await context.note({ begun: true });
    await new Promise<void>((resolve) => (context.signal.aborted ? resolve() : context.signal.addEventListener('abort', () => resolve())));
    return { outcome: 'interrupted', text: '' };
  },
  recover: async () => ({ outcome: 'interrupted', text: '' }),
};
