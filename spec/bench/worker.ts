import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInstance, type Instance } from '../../lib/instance.js';
import { command } from '../helpers/command.js';
import { makeClient, type Client } from '../lib/gateway/fixture.js';
import { median, withHome, type Figure, type Measure } from './measure.js';

/**
 * What it costs a turn that its agent lives outside the gateway: the same small program as a child of the gateway, under
 * the worker of this machine that outlives the gateway, and under a worker that has joined by WebSocket. Turn about, so
 * that what else the machine does meets all three.
 */
const turns = 24;
const warmUp = 4;

export const worker: Measure = {
  name: 'worker',
  about: `turns of a small program: in the gateway, beside it, and under a worker that joined`,
  run: ({ rounds }) => withHome((folder) => measured(folder, turns * rounds)),
};

async function measured(folder: string, count: number): Promise<readonly Figure[]> {
  // Outside any repository: what git is asked before and after a turn has nothing to do with workers
  const cwd = await mkdtemp(join(tmpdir(), 'turns-'));
  const plain = await place(folder, cwd, 'plain', false);
  const beside = await place(folder, cwd, 'beside', true);
  const remote = await joinWorker(beside, folder, cwd);
  try {
    const ways = [() => plain.play({}), () => beside.play({}), () => beside.play({ worker: 'far' })];
    const took: number[][] = ways.map(() => []);
    for (let n = 0; n < count + warmUp; n += 1)
      for (const [way, play] of ways.entries()) {
        const ms = await play();
        if (n >= warmUp) took[way]?.push(ms);
      }
    const [inside = 0, here = 0, far = 0] = took.map(median);
    return [
      { name: 'a turn in the gateway', value: inside, unit: 'ms' },
      { name: 'the worker of this machine adds', value: here - inside, unit: 'ms', target: { atMost: 20 } },
      { name: 'a worker that joined adds', value: far - inside, unit: 'ms', target: { atMost: 20 } },
    ];
  } finally {
    remote.kill('SIGKILL');
    await plain.instance.close();
    await beside.instance.close();
    await rm(cwd, { recursive: true, force: true });
  }
}

interface Place {
  readonly instance: Instance;
  readonly client: Client;
  /** Milliseconds from the request to the end of the turn. */
  play(more: { readonly worker?: string }): Promise<number>;
}

const settings = (root: string): string =>
  `agents: {sandbox: "off"}\nsessions: {roots: [${root}]}\nengines: {says: {command: [/bin/cat]}, default: says}\n`;

async function place(folder: string, cwd: string, name: string, keepTurns: boolean): Promise<Place> {
  const home = join(folder, name);
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, 'config.yaml'), settings(cwd));
  const instance = await startInstance({ home, port: 0, keepTurns });
  const { port, token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as Announced;
  const client = makeClient(port, { authorization: `Bearer ${token}` });
  const ended = new Map<string, () => void>();
  void (async () => {
    for await (const { id, frames } of instance.app.supervisor.watch({ kinds: ['session'] }))
      if (frames.some(({ event }) => event === 'session:completed')) ended.get(id)?.();
  })();
  return {
    instance,
    client,
    async play(more) {
      const began = performance.now();
      const { id } = await made(client, '/api/sessions', { prompt: 'hello', cwd, ...more });
      const { supervisor } = instance.app;
      await new Promise<void>((resolve) => {
        ended.set(id, resolve);
        // It may have ended before its answer came
        void supervisor.get('session', id).then((one) => isOver(one?.view) && resolve());
      });
      ended.delete(id);
      const session = await supervisor.get('session', id);
      if (session === undefined) throw new Error('the session is gone');
      const { status, lastError } = session.view as SessionView;
      if (status !== 'idle') throw new Error(`a turn came to ${status}: ${lastError}`);
      return performance.now() - began;
    },
  };
}

interface Announced {
  readonly port: number;
  readonly token: string;
}

async function made(
  client: Client,
  path: string,
  body: object,
): Promise<Record<string, string> & { id: string }> {
  const answer = await client.post(path, body);
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

interface SessionView {
  readonly status: string;
  readonly lastError: string | null;
}

const isOver = (view: unknown): boolean => !['queued', 'running'].includes((view as SessionView).status);

/** A worker of the command's own, beside the gateway but as if it were elsewhere. */
async function joinWorker(
  { instance: { url }, client }: Place,
  folder: string,
  cwd: string,
): Promise<ChildProcess> {
  const { code = '' } = await made(client, '/api/workers', { name: 'far' });
  const { token: its = '' } = await made(client, '/api/workers/join', { name: 'far', code });
  const home = join(folder, 'far');
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, 'config.yaml'), settings(cwd));
  await writeFile(join(home, 'token'), its, { mode: 0o600 });
  const words = ['worker', '--join', url, '--name', 'far', '--home', home, '--roots', cwd];
  const child = spawn(process.execPath, [command, ...words, '--engines', 'says', '--sandbox', 'off'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await once(child.stderr, 'data'); // it says that it has joined
  child.stderr.resume();
  return child;
}
