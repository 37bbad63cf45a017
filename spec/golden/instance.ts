import { spawn, type ChildProcess } from 'node:child_process';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Announcement } from '../../lib/home/announce.js';
import { addressIn, end } from '../crash/victim.js';
import { makeClient, type Client } from '../lib/gateway/fixture.js';
import { command } from '../helpers/command.js';

const clock = new URL('./clock.js', import.meta.url).href;
const begunAt = Date.now();

/** A gateway process over a home, with a wall clock of our choice. */
export interface Instance {
  readonly home: string;
  readonly child: ChildProcess;
  readonly operator: Client;
  readonly anonymous: Client;
  /** With the credentials of a browser or of an agent. */
  client(headers: Record<string, string>): Client;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** `await startInstance('/tmp/x/home', Date.UTC(2026, 2, 2))`: ready when its address answers. */
export async function startInstance(home: string, at: number): Promise<Instance> {
  const child = spawn(
    process.execPath,
    ['--import', clock, command, 'start', '--home', home, '--port', '0'],
    {
      cwd: dirname(home),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        HOME: dirname(home),
        TROUPE_SPEC_CLOCK_AHEAD_MS: String(at - Date.now()),
        TROUPE_SPEC_BOOT_AGO_MS: String(begunAt),
      },
    },
  );
  const url = new URL(await addressIn(child, /Troupe runs at (\S+)\n/));
  const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as Announcement;
  const client = (headers: Record<string, string>): Client => makeClient(Number(url.port), headers);
  return {
    home,
    child,
    operator: client({ authorization: `Bearer ${token}` }),
    anonymous: client({}),
    client,
    async stop() {
      const code = await end(child, 'SIGTERM');
      if (code !== 0) throw new Error(`the gateway ended with ${code}`);
    },
    async kill() {
      await end(child, 'SIGKILL');
    },
  };
}

/** `troupe <words> --home <home>`: what it printed; rejects with it when it fails. */
export const troupe = (home: string, ...words: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(process.execPath, [command, ...words, '--home', home], (error, out, err) =>
      error === null ? resolve(out) : reject(new Error(`${words.join(' ')}: ${out}${err}`)),
    );
  });

/** Asks until it is so; says what it last saw when it never is. */
export async function until<Value>(
  ask: () => Promise<Value>,
  isSo: (value: Value) => boolean,
  what: string,
): Promise<Value> {
  let last: Value | undefined;
  for (const deadline = performance.now() + 60_000; performance.now() < deadline;) {
    last = await ask();
    if (isSo(last)) return last;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`waited a minute for ${what}; last seen: ${JSON.stringify(last)?.slice(0, 2_000)}`);
}
