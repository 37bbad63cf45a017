import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { openLevelStore } from '../../lib/store/level.js';
import { openGroup, type Group } from '../browser/group.js';
import { operatorToken } from '../lib/gateway/fixture.js';
import { mustHold, workItems } from './actors.js';
import { inFlight, mainThreadMs, median, withHome, type Figure, type Measure } from './measure.js';
import type { WatchRequest } from './watch-clients.js';

/**
 * What many sockets of `/ws` cost the gateway: those that come back together with a thousand commits to catch up on, as
 * after a restart, and those that follow while it works. Processor time of the main thread, so that what the reading
 * side takes is not in it; and for how long no one else could be served.
 */
const actors = 64;
const missed = 1_000;
const returning = 200;
const following = 1_000;
const commits = 300;

export const sockets: Measure = {
  name: 'sockets',
  about: `${returning} sockets come back ${missed} commits late; ${following} follow`,
  run: ({ rounds }) => withHome((home) => measured(home, rounds)),
};

async function measured(home: string, rounds: number): Promise<readonly Figure[]> {
  const group = await openGroup(actors, await openLevelStore({ directory: home }), workItems);
  const clients = fork(fileURLToPath(new URL('watch-clients.js', import.meta.url)));
  try {
    const back: Slice[] = [];
    const live: Slice[] = [];
    for (let round = 0; round < rounds; round += 1) {
      back.push(await comeBack(group, clients));
      live.push(await follow(group, clients));
    }
    return [
      ...figures('coming back', back, returning * missed),
      ...figures('following', live, following * commits),
    ];
  } finally {
    clients.disconnect();
    await group.close();
  }
}

interface Slice {
  readonly busyMs: number;
  readonly passedMs: number;
  readonly stallMs: number;
}

function figures(name: string, slices: readonly Slice[], frames: number): Figure[] {
  const of = (member: keyof Slice): number => median(slices.map((slice) => slice[member]));
  return [
    {
      name: `${name}: main thread per socket and commit`,
      value: (of('busyMs') / frames) * 1_000,
      unit: 'µs',
    },
    { name: `${name}: until all had all`, value: of('passedMs'), unit: 'ms' },
    { name: `${name}: longest stall`, value: of('stallMs'), unit: 'ms' },
  ];
}

async function comeBack(group: Group, clients: ChildProcess): Promise<Slice> {
  const since = group.supervisor.status.position;
  await move(group, missed);
  const slice = await timed(() => ask(clients, enter(group, returning, since)));
  await ask(clients, 'leave');
  return slice;
}

async function follow(group: Group, clients: ChildProcess): Promise<Slice> {
  const { position } = group.supervisor.status;
  await ask(clients, enter(group, following, position));
  const slice = await timed(async () => {
    await move(group, commits);
    await ask(clients, { until: group.supervisor.status.position });
  });
  await ask(clients, 'leave');
  return slice;
}

const enter = ({ gateway, supervisor }: Group, count: number, since: number): WatchRequest => ({
  port: gateway.port,
  count,
  path: `/ws?since=${since}`,
  token: operatorToken,
  until: supervisor.status.position,
});

async function ask(clients: ChildProcess, request: WatchRequest): Promise<void> {
  clients.send(request);
  await once(clients, 'message');
}

async function timed(deed: () => Promise<void>): Promise<Slice> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const [began, before] = [performance.now(), mainThreadMs()];
  await deed();
  delay.disable();
  return {
    busyMs: mainThreadMs() - before,
    passedMs: performance.now() - began,
    stallMs: delay.max / 1e6,
  };
}

/** Moves of work items, four at a time, as writers over HTTP would have them. */
let turn = 0;
const move = ({ supervisor }: Group, count: number): Promise<void> =>
  inFlight(4, count, async () => {
    const mine = turn++;
    mustHold(
      await supervisor.ask('work-item', `a${mine % actors}`, workItems.event(Math.floor(mine / actors))),
    );
  });
