import { WebSocket } from 'ws';
import { seeded, type Random } from '../crash/random.js';
import { brokenJson, oddText, spoiled } from './odd.js';
import type { World } from './world.js';

/**
 * Odd frames on `/ws`, `/ws/inspect` and `/ws/stately`, over odd addresses. Answers how many were sent and
 * what was wrong.
 */
export async function fuzzSockets(
  world: World,
  paths: readonly string[],
  seed: number,
  frames: number,
): Promise<{ readonly sent: number; readonly opened: number; readonly faults: readonly string[] }> {
  const random = seeded(seed);
  const faults: string[] = [];
  let sent = 0;
  let opened = 0;
  while (sent < frames) {
    const path = random.pick(paths);
    const texts = Array.from({ length: random.between(1, 25) }, () => frame(random, world));
    const outcome = await visit(
      `ws://127.0.0.1:${world.victim.port}${path}${query(random)}`,
      headers(random, world),
      texts,
    );
    sent += texts.length;
    if (outcome.opened) opened += 1;
    if (outcome.fault !== undefined)
      faults.push(
        `${path}: ${outcome.fault} after ${JSON.stringify(String(texts.at(outcome.said - 1))).slice(0, 300)}`,
      );
  }
  return { sent, opened, faults };
}

function query(random: Random): string {
  if (random.chance(0.4)) return '';
  const name = random.pick(['since', 'kinds', 'ids', 'tree', 'refusals', 'token', '__proto__']);
  const odd = oddText(random)
    .replaceAll(/[\ud800-\udfff]/g, '')
    .slice(0, 1_500);
  return `?${name}=${encodeURIComponent(random.chance(0.5) ? odd : random.pick(['1', 'session', 'session,work-item', 'session/x', '999999', '0']))}${random.chance(0.1) ? '&since=1&since=2' : ''}`;
}

function headers(random: Random, world: World): Record<string, string> {
  return random.pick<Record<string, string>>([
    ...Array.from({ length: 5 }, () => ({ authorization: `Bearer ${world.victim.token}` })),
    { authorization: `Bearer ${world.agent?.token}` },
    {},
    { authorization: 'Bearer x' },
    { authorization: `Bearer ${world.victim.token}`, origin: 'http://evil.example' },
    { cookie: 'svc_auth=x' },
  ]);
}

function frame(random: Random, world: World): string | Buffer {
  const valid = random.pick<unknown>([
    { event: 'ping' },
    { type: 'resume', since: random.pick([0, 1, 100, 2 ** 40, -1, 1.5]) },
    { type: 'subscribe', kinds: ['session'], refusals: true },
    { type: 'subscribe', ids: world.ids['sessions'] ?? [] },
    { type: 'subscribe', tree: { kind: 'session', id: world.ids['sessions']?.[0] ?? 'x' } },
    { type: 'subscribe', tree: null, kinds: null },
  ]);
  if (random.chance(0.2)) return JSON.stringify(valid);
  if (random.chance(0.7)) return JSON.stringify(spoiled(valid, random)) ?? '';
  return random.chance(0.8)
    ? brokenJson(JSON.stringify(valid), random).toString('utf8').slice(0, 70_000)
    : Buffer.from([0, 255, 1]);
}

/**
 * A ping after the frames shows that they were heard; a 1011 or silence is a fault, a refusal or another
 * goodbye is not.
 */
function visit(
  url: string,
  sending: Record<string, string>,
  frames: readonly (string | Buffer)[],
): Promise<{ readonly opened: boolean; readonly said: number; readonly fault?: string }> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, { headers: sending, perMessageDeflate: false });
    let opened = false;
    let fault: string | undefined;
    const patience = setTimeout(() => done('no pong and no goodbye in 10 s'), 10_000);
    function done(found?: string): void {
      clearTimeout(patience);
      socket.removeAllListeners();
      socket.on('error', () => undefined);
      socket.terminate();
      resolve({
        opened,
        said: frames.length,
        ...((fault ?? found) !== undefined && { fault: fault ?? found ?? '' }),
      });
    }
    socket.on('open', () => {
      opened = true;
      for (const text of frames) socket.send(text);
      socket.ping();
    });
    socket.on('message', (data) => {
      try {
        const { event } = JSON.parse(String(data)) as { event?: unknown };
        void event;
      } catch {
        fault = `a frame that is no JSON: ${String(data).slice(0, 200)}`;
      }
    });
    socket.on('pong', () => done());
    socket.on('close', (code) => done(code === 1011 ? 'closed with 1011' : undefined));
    socket.on('unexpected-response', (_request, response) => {
      const { statusCode = 0 } = response;
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8');
      });
      response.on('end', () =>
        done(
          statusCode >= 500 || !/"code":"[A-Z_]+"/.test(text)
            ? `the upgrade was answered ${statusCode} ${text.slice(0, 200)}`
            : undefined,
        ),
      );
    });
    socket.on('error', (error) => {
      if (!opened) done(`the upgrade failed: ${error.message}`);
    });
  });
}
