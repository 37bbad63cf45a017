import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { defineEngine } from '../../actors/engines/engine.js';
import { createAgents } from '../../lib/agents.js';
import { createGateway } from '../../lib/gateway/server.js';
import { startInstance } from '../../lib/instance.js';
import { openLevelStore } from '../../lib/store/level.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import type { LoadOrder, LoadReport } from './load.js';
import { inFlight, percentile, withHome, type Figure, type Measure } from './measure.js';

/**
 * Two hundred sessions with turns at once, read over HTTP by another process while they work: with an engine
 * of this process, where all of them really run at once, and with the clerk, a program each, under the limit
 * of processes.
 */
const tokenOfBench = 'operator-token-of-43-characters-for-the-bench';
const pieces = 20;

export const sessions: Measure = {
  name: 'sessions',
  about: '200 sessions with turns at once, GET /api/sessions/:id meanwhile',
  async run({ size = 200 }) {
    return [...(await inProcess(size)), ...(await byClerk(size))];
  },
};

/** Says twenty pieces, one every hundred milliseconds. */
const pen = defineEngine({
  name: 'pen',
  effortMechanism: 'none',
  discover: () => Promise.resolve({ available: true, defaultModel: null, models: [] }),
  async turn(request, io) {
    for (let piece = 0; piece < pieces && !io.signal.aborted; piece += 1) {
      io.report({ type: 'text', text: `piece ${piece} ` });
      await setTimeout(100);
    }
    return { outcome: 'succeeded', text: `did: ${request.prompt}` };
  },
});

function inProcess(size: number): Promise<readonly Figure[]> {
  return withHome(async (home) => {
    const agents = createAgents({ engines: [pen], workFolder: join(home, 'work'), maxProcesses: size });
    const supervisor = await createSupervisor({
      kinds: agents.kinds,
      store: await openLevelStore({ directory: home }),
    });
    const gateway = await createGateway({
      operatorToken: tokenOfBench,
      instance: {
        tokens: agents.tokens,
        app: {
          supervisor,
          engines: agents.registry,
          settings: {
            home,
            sessionRoots: [],
            interruptOnNewMessage: true,
            turnDeadlineMs: 600_000,
            companyName: '',
            companyPrefix: '',
          },
        },
      },
    });
    try {
      return await measured('in process', `http://127.0.0.1:${gateway.port}`, tokenOfBench, {
        size,
        engine: 'pen',
        prompt: 'digest',
        atMost: 30,
      });
    } finally {
      await gateway.close(1_000);
      await supervisor.stop();
    }
  });
}

function byClerk(size: number): Promise<readonly Figure[]> {
  return withHome(async (home) => {
    const gateway = await startInstance({ home, port: 0 });
    try {
      const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
      return await measured('clerk', gateway.url, token, {
        size,
        engine: 'clerk',
        prompt: 'digest',
        atMost: 150,
      });
    } finally {
      await gateway.close();
    }
  });
}

interface Case {
  readonly size: number;
  readonly engine: string;
  readonly prompt: string;
  readonly atMost: number;
}
interface Session {
  readonly id: string;
  readonly status: string;
  readonly messages?: readonly { readonly role: string; readonly partial?: boolean }[];
}

async function measured(
  name: string,
  url: string,
  token: string,
  { size, engine, prompt, atMost }: Case,
): Promise<readonly Figure[]> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const loader = fork(fileURLToPath(new URL('load.js', import.meta.url)));
  const ids: string[] = [];
  const latenciesMs: number[] = [];
  const began = performance.now();
  try {
    await inFlight(16, size, async () => {
      if (ids.length >= size) return;
      const answer = await fetch(`${url}/api/sessions`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ prompt, engine }),
      });
      if (answer.status !== 201)
        throw new Error(`a session was not opened: ${answer.status} ${await answer.text()}`);
      ids.push(((await answer.json()) as Session).id);
    });
    let left: readonly string[] = ids;
    while (left.length > 0) {
      latenciesMs.push(
        ...(await read(loader, {
          port: Number(new URL(url).port),
          connections: 4,
          requests: 200,
          request: get(url, left[0] as string, token),
        })),
      );
      left = await stillRunning(url, headers, left);
    }
    const seconds = (performance.now() - began) / 1000;
    const lost = await lostOf(url, headers, ids);
    return [
      {
        name: `${name}: sessions without their answer`,
        value: lost,
        unit: '',
        target: { atMost: 0 },
        note: `of ${size}`,
      },
      {
        name: `${name}: GET /api/sessions/:id, p99`,
        value: percentile(latenciesMs, 0.99),
        unit: 'ms',
        target: { atMost },
        note: `${latenciesMs.length} requests`,
      },
      { name: `${name}: GET /api/sessions/:id, p50`, value: percentile(latenciesMs, 0.5), unit: 'ms' },
      { name: `${name}: until all had answered`, value: seconds, unit: 's' },
    ];
  } finally {
    loader.disconnect();
    await once(loader, 'exit');
  }
}

const get = (url: string, id: string, token: string): string =>
  [
    `GET /api/sessions/${id} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    `Authorization: Bearer ${token}`,
    'Connection: keep-alive',
    '',
    '',
  ].join('\r\n');

async function read(loader: ChildProcess, order: LoadOrder): Promise<readonly number[]> {
  const answered = once(loader, 'message') as Promise<[LoadReport | { readonly error: string }]>;
  loader.send(order);
  const [report] = await answered;
  if ('error' in report) throw new Error(report.error);
  if (report.statuses[200] !== order.requests)
    throw new Error(`not every answer was 200: ${JSON.stringify(report.statuses)}`);
  return report.latenciesMs;
}

async function sessionOf(url: string, headers: Record<string, string>, id: string): Promise<Session> {
  return (await (await fetch(`${url}/api/sessions/${id}`, { headers })).json()) as Session;
}

/** One look at a few: the others are looked at when those are done. */
async function stillRunning(
  url: string,
  headers: Record<string, string>,
  ids: readonly string[],
): Promise<readonly string[]> {
  const looked = await Promise.all(ids.slice(0, 5).map((id) => sessionOf(url, headers, id)));
  return [...looked.filter(({ status }) => status === 'running').map(({ id }) => id), ...ids.slice(5)];
}

async function lostOf(url: string, headers: Record<string, string>, ids: readonly string[]): Promise<number> {
  let answered = 0;
  for (const id of ids) {
    const { status, messages = [] } = await sessionOf(url, headers, id);
    if (
      status === 'idle' &&
      messages.filter(({ role, partial }) => role === 'assistant' && partial !== true).length === 1
    )
      answered += 1;
  }
  return ids.length - answered;
}
