import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { addressIn } from '../crash/victim.js';
import { command } from '../helpers/command.js';
import { inFlight, median, rssMbOf, withHome, type Measure } from './measure.js';

/** What a gateway that no one uses just now holds of the machine, as `ps` shows it. */
export const rest: Measure = {
  name: 'rest',
  about: 'memory of a gateway at rest',
  async run({ rounds, size = 10_000 }) {
    const idle: number[] = [];
    const after: number[] = [];
    for (let round = 0; round < rounds; round += 1)
      await withHome(async (home) => {
        const words = [...process.execArgv, command, 'start', '--home', home, '--port', '0'];
        const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
        try {
          const url = await addressIn(child, /Troupe runs at (\S+)\n/);
          await wait(restMs);
          idle.push(await rssMbOf(child));
          const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as {
            token: string;
          };
          await inFlight(64, size, async (lane, turn) => {
            const answer = await fetch(`${url}/api/work-items`, {
              method: 'POST',
              headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
              body: JSON.stringify({ title: `Item ${lane}.${turn}`, body: 'x'.repeat(400) }),
            });
            if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
            await answer.arrayBuffer();
          });
          await wait(pauseMs + restMs);
          after.push(await rssMbOf(child));
        } finally {
          child.kill('SIGTERM');
          if (child.exitCode === null) await once(child, 'exit');
        }
      });
    return [
      { name: 'RSS at rest, empty home', value: median(idle), unit: 'MB', target: { atMost: 85 } },
      {
        name: `RSS at rest after ${size.toLocaleString('en')} work items`,
        value: median(after),
        unit: 'MB',
        target: { atMost: 140 },
      },
    ];
  },
};

/** When it checks, and how long it leaves the memory alone after a collection: lib/cli/at-rest.ts. */
const restMs = 17_000;
const pauseMs = 60_000;
