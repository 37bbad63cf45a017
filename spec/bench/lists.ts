import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { startInstance } from '../../lib/instance.js';
import type { LoadOrder, LoadReport } from './load.js';
import { percentile, withHome, type Figure, type Measure } from './measure.js';

/**
 * `GET /api/work-items` over 100,000 items with every filter, alone and together. The items are made by an
 * embedded supervisor in one process and served by another; the load comes from a third. A stall is the
 * longest time the event loop was held.
 */
const connections = 4;
const queries: readonly { readonly query: string; readonly atMost: number }[] = [
  ...[
    '',
    'offset=1000',
    'status=backlog',
    'status=blocked&offset=1000',
    'assignee=p7',
    'department=d2&offset=1000',
    'source=cron',
    'status=done&assignee=p3',
    'status=backlog&department=d1&offset=1000',
    'status=backlog&source=human',
    'department=d3&source=session',
    'assignee=p3&department=d3&source=human&status=executing',
  ].map((query) => ({ query, atMost: 20 })),
  ...[
    'offset=50000',
    'offset=99000',
    'since=2020-01-01',
    'until=2100-01-01&assignee=p1',
    'since=2020-01-01&status=done&offset=20000',
    'q=number%2077777',
    'q=everywhere&status=backlog',
    'needsAttentionFor=p7',
  ].map((query) => ({ query, atMost: 150 })),
];

export const lists: Measure = {
  name: 'lists',
  about: 'GET /api/work-items over 100,000 items, all filters',
  run: ({ size = 100_000 }) =>
    withHome(async (home) => {
      const created = await populate(home, size);
      const gateway = await startInstance({ home, port: 0 });
      const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
      const port = Number(new URL(gateway.url).port);
      const loader = fork(fileURLToPath(new URL('load.js', import.meta.url)));
      const figures: Figure[] = [{ name: 'creates and moves while populating', value: created, unit: '/s' }];
      const delay = monitorEventLoopDelay({ resolution: 1 });
      try {
        for (const { query, atMost } of queries) {
          const order = (requests: number): LoadOrder => ({
            port,
            connections: atMost > 20 ? 1 : connections,
            requests,
            request: get(port, `/api/work-items?${query}`, token),
          });
          const first = await load(loader, order(1));
          await load(loader, order(atMost > 20 ? 3 : 200)); // a full collection throws compiled code away
          const before = process.cpuUsage();
          delay.reset();
          delay.enable();
          // Enough that one collection of garbage is not the hundredth part
          const { latenciesMs } = await load(loader, order(atMost > 20 ? 50 : 2_000));
          delay.disable();
          const { user, system } = process.cpuUsage(before);
          const cpuMs = (user + system) / 1000 / latenciesMs.length;
          const note = `${cpuMs.toFixed(2)} ms of processor each, p50 ${percentile(latenciesMs, 0.5).toFixed(1)} ms, first ${(first.seconds * 1000).toFixed(0)} ms, longest stall ${(delay.max / 1e6).toFixed(1)} ms`;
          figures.push({
            name: `?${query}`,
            value: percentile(latenciesMs, 0.99),
            unit: 'ms p99',
            target: { atMost },
            note,
          });
        }
      } finally {
        loader.disconnect();
        await once(loader, 'exit');
        await gateway.close();
      }
      return figures;
    }),
};

/**
 * In a process of its own: an owner's gateway starts on a home that is there, with a heap that has made
 * nothing yet.
 */
async function populate(home: string, size: number): Promise<number> {
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('lists-home.js', import.meta.url)), home, String(size)],
    { stdio: 'inherit' },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the home could not be made: exit ${code}`);
  return ((size * 1.5) / (performance.now() - began)) * 1000;
}

const get = (port: number, path: string, token: string): string =>
  [
    `GET ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${token}`,
    'Connection: keep-alive',
    '',
    '',
  ].join('\r\n');

async function load(loader: ReturnType<typeof fork>, order: LoadOrder): Promise<LoadReport> {
  const answered = once(loader, 'message') as Promise<[LoadReport | { error: string }]>;
  loader.send(order);
  const [report] = await answered;
  if ('error' in report) throw new Error(report.error);
  if (report.statuses[200] !== order.requests)
    throw new Error(`not every answer was 200: ${JSON.stringify(report.statuses)}`);
  return report;
}
