import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { GroupOrder, GroupReport } from './loris-group.js';
import type { LoadOrder, LoadReport } from './load.js';
import { percentile, rssMbOf, withHome, type Measure } from './measure.js';
import { command } from '../helpers/command.js';

/**
 * A thousand connections that send a header a byte at a time and a thousand that never read, for a minute:
 * what everybody else notices of it, and what it costs in memory. Gateway, group and others are a process
 * each.
 */
const seconds = 60;

export const loris: Measure = {
  name: 'loris',
  about: 'others, while 1,000 connections drip headers and 1,000 never read',
  async run({ size = 1_000 }) {
    return withHome(async (home) => {
      const gateway = spawn(process.execPath, [command, 'start', '--home', home, '--port', '0'], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const group = fork(fileURLToPath(new URL('loris-group.js', import.meta.url)));
      const others = fork(fileURLToPath(new URL('load.js', import.meta.url)));
      try {
        const { port, token } = await announced(gateway, home);
        // So that lists and the feed have something to say
        for (let n = 0; n < 500; n += 1) await create(port, token);
        const order = {
          port,
          connections: 8,
          requests: 2_000,
          request: `GET /api/work-items?limit=20 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`,
        };
        await load(others, order);
        const calm = await load(others, order);
        const before = await rssMbOf(gateway);
        const groupOrder: GroupOrder = {
          port,
          token,
          slowWriters: size,
          deafReaders: Math.ceil(size / 2),
          deafWatchers: Math.floor(size / 2),
        };
        await told(group, groupOrder);
        await pause(4_000); // until all of them are there
        const latenciesMs: number[] = [];
        let peak = 0;
        for (const until = performance.now() + seconds * 1_000; performance.now() < until;) {
          latenciesMs.push(...(await load(others, { ...order, requests: 400 })).latenciesMs);
          peak = Math.max(peak, await rssMbOf(gateway));
          await pause(500);
        }
        const { open, cut } = await told(group, 'report');
        return [
          { name: 'p99 of others, alone', value: percentile(calm.latenciesMs, 0.99), unit: 'ms' },
          {
            name: 'p99 of others, in the crowd',
            value: percentile(latenciesMs, 0.99),
            unit: 'ms',
            target: { atMost: 100 },
            note: `${latenciesMs.length} requests in ${seconds} s`,
          },
          { name: 'memory before', value: before, unit: 'MB' },
          {
            name: 'memory at most, more than before',
            value: peak - before,
            unit: 'MB',
            target: { atMost: 1_024 },
            note: 'resident; most of it garbage that V8 has not collected yet',
          },
          {
            name: 'connections of the crowd that were cut',
            value: cut,
            unit: '',
            note: `${open} open at the end`,
          },
        ];
      } finally {
        for (const child of [group, others, gateway]) child.kill('SIGKILL');
      }
    });
  },
};

async function announced(
  gateway: ChildProcess,
  home: string,
): Promise<{ readonly port: number; readonly token: string }> {
  let said = '';
  while (!said.includes('Troupe runs at'))
    said += String((await once(gateway.stderr as NodeJS.ReadableStream, 'data'))[0]);
  gateway.stderr?.resume();
  return JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { port: number; token: string };
}

async function create(port: number, token: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/work-items`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Water the plants', body: 'x'.repeat(2_000) }),
  });
  if (answer.status !== 201) throw new Error(`a work item could not be made: ${answer.status}`);
  await answer.arrayBuffer();
}

async function load(loader: ChildProcess, order: LoadOrder): Promise<LoadReport> {
  const report = await told<LoadReport | { error: string }>(loader, order);
  if ('error' in report) throw new Error(report.error);
  if (report.statuses[200] !== order.requests)
    throw new Error(`not every answer was 200: ${JSON.stringify(report.statuses)}`);
  return report;
}

async function told<Report = GroupReport>(child: ChildProcess, order: object | string): Promise<Report> {
  const answered = once(child, 'message') as Promise<[Report]>;
  child.send(order);
  return (await answered)[0];
}
