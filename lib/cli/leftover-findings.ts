import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { markedProcesses } from '../../actors/engines/process/table.js';
import { readAnnouncement } from '../home/announce.js';
import { isSetAside, type Layout } from '../home/layout.js';
import { sweepSockets } from '../worker/start-worker.js';
import { workersOf } from '../worker/end-workers.js';
import { running } from './client.js';
import { hint } from './command-line.js';
import type { Finding } from './finding.js';
import { bytes } from './print.js';
import { sizeOf } from './work-finding.js';

/** What a gateway that is gone left behind: processes, sockets, files. A gateway that runs knows its own. */

/** Agents and workers that go on without a gateway. */
export async function leftProcesses(layout: Layout): Promise<Finding | undefined> {
  if ((await running(layout)) !== undefined) return undefined;
  const about = 'processes';
  const { alive, dead } = await workersOf(layout.run);
  const agents = await agentsOf(layout);
  if (alive > 0 || agents.length > 0)
    return {
      grade: 'poor',
      about,
      what:
        'no gateway runs, but of its life before go on: ' +
        [
          ...(alive === 0 ? [] : [alive === 1 ? '1 worker' : `${alive} workers`]),
          ...(agents.length === 0 ? [] : [`agents (process ${agents.join(', ')})`]),
        ].join(' and '),
      remedy:
        `${hint(layout, 'start')} takes their turns up, or ends what it cannot; ` +
        `${hint(layout, 'stop', '--now')} ends workers and their turns.`,
    };
  if (dead === 0) return { grade: 'good', about, what: 'none left over' };
  return {
    grade: 'poor',
    about,
    what: `${dead} ${dead === 1 ? 'socket' : 'sockets'} of workers that are gone`,
    remedy: 'The next worker removes them.',
    fix: { does: `remove them from ${layout.run}`, apply: () => sweepSockets(layout.run) },
  };
}

/** Processes of agents that were given the address of this home's gateway. */
async function agentsOf({ announcement }: Layout): Promise<readonly number[]> {
  const known = await readAnnouncement(announcement).catch(() => undefined);
  if (known === undefined) return [];
  const entry = `SVC_GATEWAY_URL=${known.url}`;
  const found: number[] = [];
  for (const pid of await markedProcesses()) {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    if (environment.split('\0').includes(entry)) found.push(pid);
  }
  return found;
}

/** Files of commands that were killed, and what a repair or a migration has put aside. */
export async function leftFiles(layout: Layout): Promise<readonly Finding[]> {
  const isRunning = (await running(layout)) !== undefined;
  const old = isRunning ? [] : await olderThanADay(layout.temporary);
  const aside = (await readdir(layout.home).catch((): string[] => [])).filter(isSetAside);
  const asideSize = await total(aside.map((name) => join(layout.home, name)));
  return [
    ...(old.length === 0
      ? []
      : [
          {
            grade: 'poor' as const,
            about: 'files',
            what: `${layout.temporary} holds ${await total(old)} of commands that were cut off`,
            remedy: 'Remove what is in it while no command of Troupe runs.',
            fix: {
              does: `remove ${old.join(', ')}`,
              apply: () => Promise.all(old.map((path) => rm(path, { recursive: true, force: true }))),
            },
          },
        ]),
    ...(aside.length === 0
      ? []
      : [
          {
            grade: 'poor' as const,
            about: 'files',
            what: `kept beside the store: ${aside.join(', ')} (${asideSize})`,
            remedy: 'Remove them by hand when you no longer need a way back.',
          },
        ]),
  ];
}

async function olderThanADay(folder: string): Promise<readonly string[]> {
  const old: string[] = [];
  for (const name of await readdir(folder).catch((): string[] => [])) {
    const facts = await stat(join(folder, name)).catch(() => undefined);
    if (facts !== undefined && Date.now() - facts.mtimeMs > dayMs) old.push(join(folder, name));
  }
  return old;
}

async function total(paths: readonly string[]): Promise<string> {
  const budget = { entries: 50_000 };
  let sum = 0;
  for (const path of paths) sum += await sizeOf(path, budget);
  return `${budget.entries > 0 ? '' : 'at least '}${bytes(sum)}`;
}

const dayMs = 24 * 3_600_000;
