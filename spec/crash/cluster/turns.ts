import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Fleet, Node } from './fleet.js';

/** Agents at work while owners die: those on workers must end whole, those of an owner must end before it is followed. */
export interface Turns {
  /** Begin one on each worker, and one beside the owner. */
  begin(round: number): void;
  /** What went wrong; resolves when all on workers have ended. */
  faults(): Promise<readonly string[]>;
  readonly whole: () => number;
  /** What agents beside owners did. */
  acts(): Promise<readonly { readonly node: string; readonly at: number }[]>;
}

export function turnsOf(fleet: Fleet, workers: readonly string[]): Turns {
  const folders: string[] = [];
  const followed: Promise<string | undefined>[] = [];
  let whole = 0;

  async function follow(worker: string, name: string): Promise<string | undefined> {
    const cwd = await folderOf(fleet, name);
    const { id } = await request(
      fleet,
      'POST',
      '/api/sessions',
      { prompt: 'Talk', engine: 'talk', cwd, worker },
      name,
    );
    const since = performance.now();
    for (;;) {
      const { status, lastError, messages } = await request(fleet, 'GET', `/api/sessions/${id}`);
      if (status === 'running' || status === 'queued') {
        if (performance.now() - since > turnMsMax)
          return `turn ${name} on ${worker} (${id}) is ${status} for ever`;
        await wait(200);
        continue;
      }
      const said =
        messages
          .findLast(({ role }) => role === 'assistant')
          ?.content.trim()
          .split('\n') ?? [];
      if (status === 'idle' && said.length === lines && said.every((line, n) => line === `line ${n}`)) {
        whole += 1;
        return undefined;
      }
      return `turn ${name} on ${worker} came to ${status} with ${said.length} of ${lines} lines: ${lastError ?? ''}`;
    }
  }

  async function act(name: string): Promise<void> {
    const cwd = await folderOf(fleet, name);
    folders.push(cwd);
    await request(fleet, 'POST', '/api/sessions', { prompt: 'Act', engine: 'acts', cwd }, name);
  }

  return {
    begin(round) {
      const all = [
        ...workers.map((worker) => follow(worker, `talk-${round}-${worker}`)),
        act(`acts-${round}`).then(() => undefined),
      ];
      // They are awaited at the end: until then no failure may end the campaign
      followed.push(...all.map((each) => each.catch((error: unknown) => String(error))));
    },
    whole: () => whole,
    faults: async () => (await Promise.all(followed)).filter((fault) => fault !== undefined),
    async acts() {
      const byUrl = new Map(fleet.nodes.map(({ url, name }) => [url, name]));
      const texts = await Promise.all(
        folders.map((folder) => readFile(join(folder, 'acts'), 'utf8').catch(() => '')),
      );
      return texts
        .flatMap((text) => text.split('\n'))
        .flatMap((line) => {
          const [url = '', at] = line.split(' ');
          return at === undefined ? [] : [{ node: byUrl.get(url) ?? url, at: Number(at) }];
        });
    },
  };
}

const lines = 40;
/** Beyond anything that pauses and take-overs explain: a run waited for such a turn without end. */
const turnMsMax = 180_000;

async function folderOf({ folder }: Fleet, name: string): Promise<string> {
  const cwd = join(folder, name);
  await mkdir(cwd);
  return cwd;
}

interface Session {
  readonly id: string;
  readonly status: string;
  readonly lastError?: string | null;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly code?: string;
  readonly token?: string;
}

/** Of the node that owns the home, once it answers. */
export async function request(
  fleet: Fleet,
  method: string,
  path: string,
  body?: object,
  key?: string,
): Promise<Session> {
  const since = performance.now();
  for (let tries = 0; ; tries += 1) {
    if (performance.now() - since > turnMsMax) throw new Error(`${method} ${path} is never answered`);
    const node = fleet.nodes[tries % fleet.nodes.length] as Node;
    try {
      const response = await fetch(`${node.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${fleet.token}`,
          'content-type': 'application/json',
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(3_000),
      });
      if (response.ok) return (await response.json()) as Session;
      const text = await response.text();
      if (response.status < 500 && response.status !== 429)
        throw new TypeError(`${method} ${path}: ${response.status} ${text}`);
    } catch (error) {
      if (error instanceof TypeError && error.message.startsWith(method)) throw error;
    }
    await wait(50);
  }
}
