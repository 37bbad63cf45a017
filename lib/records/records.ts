import { join } from 'node:path';
import { homeId } from '../../actors/home/kind.js';
import { system } from '../../machines/caller.js';
import type { Json } from '../../machines/outputs.js';
import { isRefusal } from '../../machines/refusals.js';
import { makeFolder } from '../home/atomic-file.js';
import type { Layout } from '../home/layout.js';
import type { Supervisor } from '../supervisor/contract.js';
import type { Environment } from '../environment.js';
import { openAudit, type Audit } from './audit/audit.js';
import { changesBy, type AuditedChange } from './audit/read-audit.js';
import { openDevices, type DeviceBook } from './devices/devices.js';
import { openFileRoom, type FileLimits, type FileRoom } from './files/file-room.js';
import type { FetchOptions } from './fetch/fetch-bytes.js';
import { openPushRoom, type PushRoom } from './push/push-room.js';
import { openKnowledge, type Knowledge } from './knowledge/knowledge.js';
import { openSkills, type SkillStore } from './skills/skills.js';
import { runBook, type RunBook } from './cron-runs.js';
import { openRoster, type RosterBook } from './roster/roster.js';

/**
 * What people and agents keep as files in a home. The files are the truth; that they changed enters the log
 * through the actor `home`, so that watchers hear of it in order and who was away hears of it later.
 */
export interface Records {
  readonly roster: RosterBook;
  readonly skills: SkillStore;
  readonly knowledge: Knowledge;
  readonly files: FileRoom;
  /** The runs of cron jobs. */
  readonly runs: RunBook;
  /** Who was allowed or refused what. */
  readonly audit: Audit;
  /** What a caller was let change, by its name in the audit log (`device:a1`), newest first. */
  changesBy(by: string, limit: number): Promise<readonly AuditedChange[]>;
  /** The paired browsers. */
  readonly devices: DeviceBook;
  /** Sends to them. */
  readonly push: PushRoom;
  readonly allow: Allowances;
  readonly folders: Pick<
    Layout,
    'home' | 'org' | 'skills' | 'knowledge' | 'docs' | 'files' | 'uploads' | 'temporary'
  >;
  /**
   * From now on changes are told to watchers, and the roster to decisions. Once, when the supervisor runs.
   */
  connect(supervisor: Supervisor): Promise<void>;
  /** Remove uploads that belong to no one; happens by itself every hour. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export interface RecordsOptions {
  readonly layout: Layout;
  readonly environment: Environment;
  /** portal.root of config.yaml. */
  readonly root: string | null;
  readonly allow?: Partial<Allowances>;
  readonly limits?: Partial<FileLimits>;
  /** Of files that are fetched from addresses. */
  readonly fetch?: Partial<FetchOptions>;
}

/** What a configuration must open on purpose. */
export interface Allowances {
  /** gateway.allowFileCustomPaths: people may copy files in from anywhere on this machine. */
  readonly customPaths: boolean;
  /** gateway.allowFileOpen: people may open a managed file with this machine's own program. */
  readonly open: boolean;
}

/** `const records = await openRecords({layout, environment, root: null})`: reads and watches until closed. */
export async function openRecords(options: RecordsOptions): Promise<Records> {
  const { layout, environment, root } = options;
  const { log } = environment;
  // So that they can be watched, and found by people
  for (const folder of [layout.org, layout.skills, layout.knowledge, layout.docs]) await makeFolder(folder);
  const roster = await openRoster({ folder: layout.org, root, log });
  const files = await openFileRoom({
    layout,
    environment,
    limits: options.limits ?? {},
    fetch: options.fetch ?? {},
  });
  const devices = await openDevices({ path: layout.authDevices, environment });
  const push = openPushRoom({ path: layout.pushKey, environment, fetch: options.fetch ?? {} });
  const audit = await openAudit({ folder: layout.audit, environment });
  const skills = openSkills({
    folder: layout.skills,
    manifest: join(layout.home, 'skills.json'),
    environment,
  });
  const knowledge = openKnowledge({ home: layout.home, environment });
  let sweeping: NodeJS.Timeout | undefined;
  let sweep = async (): Promise<void> => undefined;
  return {
    roster,
    skills,
    knowledge,
    files,
    runs: runBook(layout.cronRuns),
    audit,
    async changesBy(by, limit) {
      await audit.flush();
      return changesBy(layout.audit, by, limit);
    },
    devices,
    push,
    allow: {
      get customPaths() {
        return options.allow?.customPaths === true;
      },
      get open() {
        return options.allow?.open === true;
      },
    }, // as they are now
    folders: layout,
    async connect(supervisor) {
      await raiseHome(supervisor);
      roster.onChange(async ({ patched }) => {
        supervisor.setFact('roster', roster.value);
        if (patched !== undefined) await announceFact(supervisor, 'org:updated', { employee: patched });
        await announceFact(supervisor, 'org:changed', {});
      });
      skills.onChange(async ({ updated }) => {
        if (updated !== undefined) await announceFact(supervisor, 'skills:updated', { name: updated });
        await announceFact(supervisor, 'skills:changed', {});
      });
      supervisor.setFact('roster', roster.value);
      await roster.reload();
      const isKept = async (id: string): Promise<boolean> =>
        (await supervisor.get('file', id))?.value === 'stored';
      sweep = () =>
        files
          .sweep(isKept)
          .catch((error: unknown) => log.error({ err: error }, 'uploads could not be swept'));
      sweeping = setInterval(() => void sweep(), sweepMs).unref();
      void sweep(); // no one waits for it: it only removes what belongs to no one
    },
    sweep: () => sweep(),
    async close() {
      clearInterval(sweeping);
      await devices.close();
      await audit.close();
      await knowledge.close();
      await skills.close();
      await roster.close();
    },
  };
}

const sweepMs = 3_600_000;

/** The one actor `home`, made at the first start. */
async function raiseHome(supervisor: Supervisor): Promise<void> {
  if (await supervisor.get('home', homeId)) return;
  const made = await supervisor.spawn('home', { id: homeId, by: system('records') });
  if (isRefusal(made) && made.code !== 'EXISTS')
    throw new Error(`The home could not be recorded in the log: ${made.message}`);
}

/**
 * Tell watchers of a fact. That no one could be told undoes nothing: the file is the truth, and the log says
 * that it failed.
 */
export async function announceFact(supervisor: Supervisor, event: string, payload: Json): Promise<void> {
  const recorded = await supervisor
    .ask('home', homeId, { type: 'fact.recorded', event, payload }, { by: system('records') })
    .catch((error: unknown) => error as Error);
  if (recorded instanceof Error)
    supervisor.environment.log.error({ err: recorded, event }, 'event could not be published');
  else if (isRefusal(recorded))
    supervisor.environment.log.warn({ code: recorded.code, event }, 'event could not be published');
}
