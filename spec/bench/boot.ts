import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addressIn } from '../crash/victim.js';
import { median, rssMbOf, withHome, type Measure } from './measure.js';
import { command } from '../helpers/command.js';

/**
 * From the start of the process to its first answer, and the memory it then holds: `troupe start` on a home
 * with many idle work items against one on an empty home; after a clean stop, and after a kill in the middle
 * of writes.
 */
export const boot: Measure = {
  name: 'boot',
  about: 'start of the gateway with many idle actors',
  async run({ rounds, size = 200_000 }) {
    return withHome((empty) =>
      withHome(async (large) => {
        await built(empty, 0);
        await built(large, size);
        const none: Start[] = [];
        const clean: Start[] = [];
        const killed: Start[] = [];
        for (let round = 0; round < rounds; round += 1) {
          none.push(await started(empty, 'SIGTERM'));
          clean.push(await started(large, 'SIGKILL'));
          killed.push(await started(large, 'SIGTERM'));
        }
        const of = (starts: readonly Start[], member: 'ms' | 'rssMb'): number =>
          median(starts.map((start) => start[member]));
        const many = size.toLocaleString('en');
        return [
          {
            name: `ready with ${many} idle work items, beyond ready with none`,
            value: of(clean, 'ms') - of(none, 'ms'),
            unit: 'ms',
            target: { atMost: 300 },
          },
          {
            name: `ready with ${many} after a kill during writes`,
            value: of(killed, 'ms'),
            unit: 'ms',
            target: { atMost: 2_000 },
          },
          {
            name: `RSS with ${many}, beyond none`,
            value: of(clean, 'rssMb') - of(none, 'rssMb'),
            unit: 'MB',
            target: { atMost: 60 },
          },
          {
            name: 'ready with none',
            value: of(none, 'ms'),
            unit: 'ms',
            note: `RSS ${of(none, 'rssMb').toFixed(0)} MB`,
          },
        ];
      }),
    );
  },
};

export interface Start {
  readonly ms: number;
  readonly rssMb: number;
}

/** Filled by another process, so that nothing of it stays in this one. */
async function built(home: string, size: number): Promise<void> {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('boot-home.js', import.meta.url)), home, String(size)],
    { stdio: 'inherit' },
  );
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`the home of ${size} actors could not be built`);
}

/**
 * Start, look, end. Before a SIGKILL it is kept busy with new items, so that it dies with work in its hands.
 */
export async function started(home: string, end: 'SIGTERM' | 'SIGKILL'): Promise<Start> {
  const began = performance.now();
  const child = spawn(process.execPath, [command, 'start', '--home', home, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    const url = await addressIn(child, /Troupe runs at (\S+)\n/);
    const health = await fetch(`${url}/healthz`);
    if (!health.ok) throw new Error(`the gateway answered ${health.status}`);
    const ms = performance.now() - began;
    const rssMb = await rssMbOf(child);
    if (end === 'SIGKILL') await keepBusy(home, url, child);
    return { ms, rssMb };
  } finally {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(end);
      await once(child, 'exit');
    }
  }
}

async function keepBusy(home: string, url: string, child: ChildProcess): Promise<void> {
  const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
  let made = 0;
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (child.exitCode === null && child.signalCode === null) {
        const answer = await fetch(`${url}/api/work-items`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: '{"title":"one more"}',
        }).catch(() => undefined);
        await answer?.arrayBuffer().catch(() => undefined);
        made += 1;
        if (made === 2_000) child.kill('SIGKILL');
        if (answer === undefined) return;
      }
    }),
  );
}
