import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';
import { backpressured } from '../../lib/gateway/websocket/backpressured-socket.js';
import { openLevelStore } from '../../lib/store/level.js';
import { Channels, type InspectWatch } from '../../lib/inspector/watch.js';
import type { Supervisor } from '../../lib/supervisor/contract.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import { mustHold, populate, workItems } from './actors.js';
import { inFlight, median, timed, withHome, type Figure, type Measure } from './measure.js';

/**
 * What watching costs: durable events per second with ten watchers of the inspector's feed against none,
 * neighbours in one run. `off` compares a supervisor that was watched until just now with one that never was.
 */
const actors = 512;
const lanes = 64;
const perActor = 40;
const total = actors * perActor;
const watchers = 10;

export const watch: Measure = {
  name: 'watch',
  about: `durable events over ${actors} work items while ${watchers} inspectors watch`,
  async run({ rounds }) {
    const alone: number[] = [];
    const watched: number[] = [];
    const after: number[] = [];
    const costs: number[] = []; // of watching, in processor time: what a busy machine cannot blur
    let frames = 0;
    let bytes = 0;
    for (let round = 0; round < rounds; round += 1) {
      // The order changes, so that no side always runs on the warmer process.
      const sides =
        round % 2 === 0 ? (['alone', 'watched', 'after'] as const) : (['after', 'watched', 'alone'] as const);
      const cost = { alone: 0, watched: 0, after: 0 };
      for (const side of sides) {
        const result = await drive(side);
        (side === 'alone' ? alone : side === 'watched' ? watched : after).push(result.rate);
        cost[side] = result.cost;
        if (side === 'watched') ({ frames, bytes } = result);
      }
      costs.push(cost.alone / cost.watched);
    }
    const share = (rates: readonly number[]): number =>
      median(rates.map((rate, round) => rate / (alone[round] as number)));
    const figures: Figure[] = [
      { name: `${watchers} watchers ÷ none`, value: share(watched), unit: 'ratio', target: { atLeast: 0.9 } },
      {
        name: `${watchers} watchers ÷ none, by processor time per event`,
        value: median(costs),
        unit: 'ratio',
        target: { atLeast: 0.9 },
      },
      {
        name: 'watched until just now ÷ never',
        value: share(after),
        unit: 'ratio',
        note: 'off costs nothing',
      },
      { name: 'durable events, nobody watches', value: median(alone), unit: '/s' },
      {
        name: `durable events, ${watchers} watch`,
        value: median(watched),
        unit: '/s',
        note: `${frames} frames written, ${Math.round(bytes / Math.max(1, frames) / 1000)} kB each, for all ${watchers} at once`,
      },
    ];
    return figures;
  },
};

async function drive(
  side: 'alone' | 'watched' | 'after',
): Promise<{ rate: number; cost: number; frames: number; bytes: number }> {
  return withHome(async (home) => {
    const supervisor = await createSupervisor({
      kinds: [workItems.kind],
      store: await openLevelStore({ directory: home }),
    });
    await populate(supervisor, workItems, actors);
    const audience = side === 'alone' ? undefined : await seat(supervisor);
    if (side === 'after') await audience?.leave();
    const before = process.cpuUsage();
    const ms = await timed(() =>
      inFlight(lanes, total, async (lane, turn) => {
        const round = Math.floor(turn / (actors / lanes));
        mustHold(
          await supervisor.ask(
            workItems.kind.kind,
            `a${lane + (turn % (actors / lanes)) * lanes}`,
            workItems.event(round),
          ),
        );
      }),
    );
    const { user, system } = process.cpuUsage(before);
    if (side !== 'after') await audience?.leave();
    await supervisor.stop();
    return {
      rate: (total / ms) * 1000,
      cost: (user + system) / total,
      frames: audience?.written.frames ?? 0,
      bytes: audience?.written.bytes ?? 0,
    };
  });
}

/** Ten real sockets, read by another process. */
async function seat(
  supervisor: Supervisor,
): Promise<{ readonly written: { frames: number; bytes: number }; leave(): Promise<void> }> {
  const channels = new Channels(supervisor);
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  const written = { frames: 0, bytes: 0 };
  const open: InspectWatch[] = [];
  server.on('connection', (socket) => {
    const first = open.length === 0;
    const sink = backpressured(socket, () => {
      throw new Error('a watcher on the same machine was too slow');
    });
    const send = (frame: string | Buffer): void => {
      if (first) {
        written.frames += 1;
        written.bytes += frame.length;
      }
      sink.send(frame);
    };
    open.push(
      channels.watch({}, undefined, { ...sink, send }, (error) => {
        throw error;
      }),
    );
  });
  const clients = fork(fileURLToPath(new URL('watch-clients.js', import.meta.url)));
  await once(server, 'listening');
  clients.send({ port: (server.address() as AddressInfo).port, count: watchers });
  await once(clients, 'message');
  return {
    written,
    async leave() {
      for (const one of open) one.stop();
      for (const socket of server.clients) socket.terminate();
      clients.disconnect();
      await once(clients, 'exit');
      server.close();
    },
  };
}
