import Router from '@koa/router';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Koa from 'koa';
import { koaBody } from 'koa-body';
import { startInstance } from '../../lib/instance.js';
import type { LoadOrder, LoadReport } from './load.js';
import { median, percentile, withHome, type Measure } from './measure.js';

/**
 * `POST /api/work-items` at 64 connections, every item durable before its answer, against a Koa + router +
 * koa-body server that answers the same number of bytes and keeps nothing. Both servers live in this process,
 * one after the other; the load comes from another one.
 */
const connections = 64;
const requests = 20_000;
const warmUp = 3_000;
const body = JSON.stringify({ title: 'Water the plants', body: 'x'.repeat(100) });

export const http: Measure = {
  name: 'http',
  about: `POST /api/work-items at ${connections} connections`,
  async run({ rounds }) {
    return withHome(async (home) => {
      const gateway = await startInstance({ home, port: 0 });
      const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
      const port = Number(new URL(gateway.url).port);
      const request = post(port, '/api/work-items', token);
      const answer = await fetch(`${gateway.url}/api/work-items`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body,
      });
      const echo = await echoServer(await answer.text());
      const loader = fork(fileURLToPath(new URL('load.js', import.meta.url)));
      const created: LoadReport[] = [];
      const echoed: LoadReport[] = [];
      try {
        const gatewayOrder = { port, connections, request };
        const echoOrder = { port: echo.port, connections, request: post(echo.port, '/echo', token) };
        for (let round = 0; round < rounds; round += 1) {
          for (const [order, status, reports] of [
            [gatewayOrder, 201, created],
            [echoOrder, 200, echoed],
          ] as const) {
            // A full collection throws compiled code away
            await load(loader, { ...order, requests: warmUp }, status);
            reports.push(await load(loader, { ...order, requests }, status));
          }
        }
      } finally {
        loader.disconnect();
        await once(loader, 'exit');
        await echo.close();
        await gateway.close();
      }
      const rate = ({ seconds }: LoadReport): number => requests / seconds;
      const p = (reports: readonly LoadReport[], share: number): number =>
        median(reports.map(({ latenciesMs }) => percentile(latenciesMs, share)));
      return [
        {
          name: 'POST /api/work-items ÷ echo',
          value: median(created.map((report, round) => rate(report) / rate(echoed[round] as LoadReport))),
          unit: 'ratio',
          target: { atLeast: 0.33 },
          note: 'stretch 0.45',
        },
        { name: 'POST /api/work-items, p99', value: p(created, 0.99), unit: 'ms', target: { atMost: 40 } },
        { name: 'POST /api/work-items, p50', value: p(created, 0.5), unit: 'ms' },
        { name: 'POST /api/work-items', value: median(created.map(rate)), unit: '/s' },
        {
          name: 'echo',
          value: median(echoed.map(rate)),
          unit: '/s',
          note: `p99 ${p(echoed, 0.99).toFixed(1)} ms`,
        },
      ];
    });
  },
};

const post = (port: number, path: string, token: string): string =>
  [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: keep-alive',
    '',
    body,
  ].join('\r\n');

async function load(loader: ChildProcess, order: LoadOrder, status: number): Promise<LoadReport> {
  const answered = once(loader, 'message') as Promise<[LoadReport | { error: string }]>;
  loader.send(order);
  const [report] = await answered;
  if ('error' in report) throw new Error(report.error);
  if (report.statuses[status] !== order.requests)
    throw new Error(`not every answer was ${status}: ${JSON.stringify(report.statuses)}`);
  return report;
}

async function echoServer(text: string): Promise<{ readonly port: number; close(): Promise<void> }> {
  const app = new Koa();
  const router = new Router();
  const answer = JSON.parse(text) as object;
  router.post('/echo', (ctx) => {
    ctx.status = 200;
    ctx.body = { ...answer, title: (ctx.request as unknown as { body: { title: string } }).body.title };
  }); // koa-body adds the member at run time
  app.use(koaBody());
  app.use(router.routes());
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
