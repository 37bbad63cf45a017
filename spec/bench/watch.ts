import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openLevelStore } from '../../lib/store/level.js';
import type { Supervisor } from '../../lib/supervisor/contract.js';
import { openGroup } from '../browser/group.js';
import { operatorToken } from '../lib/gateway/fixture.js';
import { mustHold, workItems } from './actors.js';
import {
  inFlight,
  mainThreadMs,
  median,
  percentile,
  withHome,
  type Figure,
  type Measure,
} from './measure.js';
import type { WatchRequest } from './watch-clients.js';

/**
 * What ten inspectors that watch everything cost the gateway whose events they see: processor time of its main thread
 * per event, over LevelDB and real sockets. Slices with watchers and without take turns, and each is compared with its
 * neighbour, so that what else the machine does meets both.
 */
const actors = 512;
const watchers = 10;
/** So many that the middle of what they say is known to about two percent on a machine that does nothing else. */
const pairsMin = 36;
const sliceMs = 600;
/** Frames that are held back belong to the slice. */
const settleMs = 200;

interface Load {
  readonly name: string;
  /** Events a second; undefined: as many as there can be with 64 in flight. */
  readonly perSecond: number | undefined;
}
const loads: readonly Load[] = [
  { name: 'at 500 events a second', perSecond: 500 },
  { name: 'as fast as it goes', perSecond: undefined },
];

export const watch: Measure = {
  name: 'watch',
  about: `durable events over ${actors} work items while ${watchers} inspectors watch`,
  run: ({ rounds }) => withHome((home) => measured(home, Math.max(pairsMin, rounds))),
};

async function measured(home: string, pairs: number): Promise<readonly Figure[]> {
  const group = await openGroup(actors, await openLevelStore({ directory: home }), workItems);
  const clients = fork(fileURLToPath(new URL('watch-clients.js', import.meta.url)));
  try {
    const audience = audienceOf(clients, group.gateway.port);
    const figures: Figure[] = [];
    for (const load of loads) figures.push(...(await compare(load, group.supervisor, audience, pairs)));
    return figures;
  } finally {
    clients.disconnect();
    await group.close();
  }
}

async function compare(
  { name, perSecond }: Load,
  supervisor: Supervisor,
  audience: Audience,
  pairs: number,
): Promise<readonly Figure[]> {
  const drive = driver(supervisor, perSecond);
  await drive(); // what is not compiled yet would be counted for the first
  const alone: Slice[] = [];
  const watched: Slice[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const isWatchedFirst = pair % 2 === 1;
    if (!isWatchedFirst) alone.push(await drive());
    await audience.enter();
    watched.push(await drive());
    await audience.leave();
    if (isWatchedFirst) alone.push(await drive());
  }
  const more = watched.map(({ busyMs }, pair) => (busyMs / (alone[pair] as Slice).busyMs - 1) * 100);
  const us = (slices: readonly Slice[]): number => median(slices.map(({ busyMs }) => busyMs)) * 1_000;
  return [
    {
      name: `${name}: processor time more with ${watchers} watchers`,
      value: median(more),
      unit: '%',
      target: { atMost: 5 },
      note: `${pairs} pairs, half of them between ${shareAt(more, 0.25)} and ${shareAt(more, 0.75)}; 95 %: ${interval(more)}`,
    },
    { name: `${name}: per event, no one watches`, value: us(alone), unit: 'µs' },
    { name: `${name}: per event, ${watchers} watch`, value: us(watched), unit: 'µs' },
    {
      name: `${name}: events, ${watchers} watch`,
      value: median(watched.map(({ rate }) => rate)),
      unit: '/s',
      note: `${Math.round(median(alone.map(({ rate }) => rate)))} when no one does`,
    },
  ];
}

/** Where the median of all such pairs lies, as sure as 95 in 100, however they are spread. */
function interval(more: readonly number[]): string {
  const sorted = [...more].sort((a, b) => a - b);
  const low = Math.max(0, Math.floor(sorted.length / 2 - 0.98 * Math.sqrt(sorted.length)) - 1);
  return `${sorted[low]?.toFixed(1)} to ${sorted.at(-1 - low)?.toFixed(1)}`;
}

const shareAt = (more: readonly number[], share: number): string => percentile(more, share).toFixed(1);

interface Slice {
  readonly rate: number;
  /** Of the main thread, per event. */
  readonly busyMs: number;
}

/** Events for a while, all of them awaited. */
function driver(supervisor: Supervisor, perSecond: number | undefined): () => Promise<Slice> {
  const kind = workItems.kind.kind;
  let sent = 0;
  const send = (): Promise<unknown> => {
    const turn = sent++;
    return supervisor
      .ask(kind, `a${turn % actors}`, workItems.event(Math.floor(turn / actors)))
      .then(mustHold);
  };
  const flatOut = async (): Promise<void> => {
    const end = performance.now() + sliceMs;
    await inFlight(lanes, lanes, async () => {
      while (performance.now() < end) await send();
    });
  };
  const paced = async (rate: number): Promise<void> => {
    const began = performance.now();
    const first = sent;
    const asked: Promise<unknown>[] = [];
    for (let passed = 0; passed < sliceMs; passed = performance.now() - began) {
      while (sent - first < (passed / 1_000) * rate) asked.push(send());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await Promise.all(asked);
  };
  return async () => {
    const [first, began, busyBefore] = [sent, performance.now(), mainThreadMs()];
    await (perSecond === undefined ? flatOut() : paced(perSecond));
    const [count, passedMs] = [sent - first, performance.now() - began];
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    return { rate: (count / passedMs) * 1_000, busyMs: (mainThreadMs() - busyBefore) / count };
  };
}

const lanes = 64;

interface Audience {
  enter(): Promise<void>;
  leave(): Promise<void>;
}

/** Ten real sockets, read by another process. */
function audienceOf(clients: ChildProcess, port: number): Audience {
  const ask = async (request: WatchRequest): Promise<void> => {
    clients.send(request);
    await once(clients, 'message');
  };
  return {
    enter: () => ask({ port, count: watchers, path: '/ws/inspect?refusals=1', token: operatorToken }),
    leave: () => ask('leave'),
  };
}
