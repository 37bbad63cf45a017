import { homeId } from '../../actors/kinds/home.js';
import { system } from '../../machines/caller.js';
import type { Json } from '../../machines/ground.js';
import { isRefusal } from '../../machines/refusals.js';
import { makeFolder } from '../home/atomic-file.js';
import type { Layout } from '../home/layout.js';
import type { Supervisor } from '../supervisor/contract.js';
import type { SystemWorld } from '../world.js';
import { openRoster, type RosterBook } from './roster/roster.js';

/**
 * What people and agents keep as files in a home. The files are the truth; that they changed enters the log through
 * the actor `home`, so that watchers hear of it in order and who was away hears of it later.
 */
export interface Records {
  readonly roster: RosterBook;
  readonly folders: Pick<Layout, 'org' | 'skills' | 'knowledge' | 'docs' | 'files' | 'uploads' | 'temporary'>;
  /** From now on changes are told to watchers, and the roster to decisions. Once, when the supervisor runs. */
  connect(supervisor: Supervisor): Promise<void>;
  close(): Promise<void>;
}

export interface RecordsOptions {
  readonly layout: Layout;
  readonly world: SystemWorld;
  /** portal.root of config.yaml. */
  readonly root: string | null;
}

/** `const records = await openRecords({layout, world, root: null})`: reads and watches until closed. */
export async function openRecords({ layout, world, root }: RecordsOptions): Promise<Records> {
  const { log } = world;
  for (const folder of [layout.org, layout.skills, layout.knowledge, layout.docs]) await makeFolder(folder); // so that they can be watched, and found by people
  const roster = await openRoster({ folder: layout.org, root, log });
  return {
    roster,
    folders: layout,
    async connect(supervisor) {
      await raiseHome(supervisor);
      roster.onChange(async ({ patched }) => {
        supervisor.learn('roster', roster.value);
        if (patched !== undefined) await announceFact(supervisor, 'org:updated', { employee: patched });
        await announceFact(supervisor, 'org:changed', {});
      });
      supervisor.learn('roster', roster.value);
      await roster.reload();
    },
    async close() {
      await roster.close();
    },
  };
}

/** The one actor `home`, made at the first start. */
async function raiseHome(supervisor: Supervisor): Promise<void> {
  if (await supervisor.get('home', homeId)) return;
  const made = await supervisor.spawn('home', { id: homeId, by: system('records') });
  if (isRefusal(made) && made.code !== 'EXISTS') throw new Error(`The home could not be opened in the log: ${made.message}`);
}

/** Tell watchers of a fact. That nobody could be told undoes nothing: the file is the truth, and the log says that it failed. */
async function announceFact(supervisor: Supervisor, event: string, payload: Json): Promise<void> {
  const told = await supervisor.ask('home', homeId, { type: 'fact.recorded', event, payload }, { by: system('records') }).catch((error: unknown) => error as Error);
  if (told instanceof Error) supervisor.world.log.error({ err: told, event }, 'a fact could not be announced');
  else if (isRefusal(told)) supervisor.world.log.warn({ code: told.code, event }, 'a fact could not be announced');
}
