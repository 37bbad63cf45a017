import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { verifyPostgres } from '../../../lib/store/postgres/copies.js';
import { startPostgres } from '../../helpers/postgres-server.js';
import { randomFrom } from '../../../lib/testing/test-environment.js';

/**
 * `npm run crash -- cluster [--rounds 20] [--seed 1] [--writers 8] [--nodes 3]`: nodes as processes, one home in a
 * real PostgreSQL, and writers who each count on a counter of their own and ask again, with the same key, until they
 * are answered. Each round kills or freezes the owner, or kills the database. A counter that is not where its writer
 * knows it to be, now or at the end, is a violation: an act that was lost or doubled, or a stale answer.
 */
const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    writers: { type: 'string', default: '8' },
    nodes: { type: 'string', default: '3' },
  },
});
const random = randomFrom(Number(values.seed));
const program = fileURLToPath(new URL('node.js', import.meta.url));
const violations: string[] = [];
const takeOvers: number[] = [];

interface Node {
  readonly name: string;
  child: ChildProcess;
  address: string | undefined;
}

const server = await startPostgres();
const store = `${await server.newDatabase()}?home=cluster&lease=2`;
const nodes: Node[] = Array.from({ length: Number(values.nodes) }, (_, n) => begin({ name: `node-${n}` }));
let owner: Node | undefined;
let ended = false;

/** A node that ends is started again. */
function begin(given: { readonly name: string }): Node {
  const node: Node = { name: given.name, address: undefined, child: childOf(given.name) };
  const follow = (child: ChildProcess): void => {
    child.stdout?.on('data', (bytes: Buffer) => {
      const address = /at (http:\S+)/.exec(bytes.toString())?.[1];
      if (address === undefined) return;
      node.address = address;
      owner = node;
    });
    child.once('exit', () => {
      node.address = undefined;
      if (ended) return;
      node.child = childOf(node.name);
      follow(node.child);
    });
  };
  follow(node.child);
  return node;
}

function childOf(name: string): ChildProcess {
  return spawn(process.execPath, [program, store, name], { stdio: ['ignore', 'pipe', 'ignore'] });
}

/** The answer of any node, or undefined. A frozen former owner is asked, too: it must not answer what is stale. */
async function ask(order: { readonly id: string; readonly key?: string }): Promise<number | undefined> {
  const there = nodes.filter(({ address }) => address !== undefined);
  const node = there[Math.floor(random() * there.length)];
  if (node?.address === undefined) return wait(20, undefined);
  try {
    const response = await fetch(node.address, {
      method: 'POST',
      body: JSON.stringify(order),
      signal: AbortSignal.timeout(3_000),
    });
    if (!response.ok) return wait(10, undefined);
    return ((await response.json()) as { view: { n: number } | null }).view?.n ?? 0;
  } catch {
    return wait(10, undefined);
  }
}

const insist = async (order: { readonly id: string; readonly key?: string }): Promise<number> => {
  for (;;) {
    const n = await ask(order);
    if (n !== undefined) return n;
  }
};

let acknowledged = 0;
async function write(writer: number, until: () => boolean): Promise<void> {
  const id = `w${writer}`;
  for (let count = 1; !until(); count += 1) {
    await insist({ id, key: `${id}-${count}` });
    acknowledged += 1;
    if (count % 5 !== 0) continue;
    const n = await insist({ id });
    if (n !== count) violations.push(`${id} counted ${count} and read ${n}`);
  }
}

async function disturb(round: number): Promise<string> {
  const hit = owner as Node;
  const began = performance.now();
  const kind = ['kill', 'freeze', 'kill', 'database'][Math.floor(random() * 4)] as string;
  if (kind === 'database') {
    await server.kill();
    await wait(random() * 1_000);
    await server.start();
  } else {
    owner = undefined;
    hit.child.kill(kind === 'kill' ? 'SIGKILL' : 'SIGSTOP');
    while (owner === undefined && performance.now() - began < 60_000) await wait(20);
    takeOvers.push(performance.now() - began);
    if (kind === 'freeze') {
      await wait(random() * 2_000);
      hit.child.kill('SIGCONT');
    }
  }
  return `round ${round}: ${kind} of ${kind === 'database' ? 'PostgreSQL' : hit.name}`;
}

while (owner === undefined) await wait(20);
let over = false;
const writers = Array.from({ length: Number(values.writers) }, (_, n) => write(n, () => over));
for (let round = 1; round <= Number(values.rounds); round += 1) {
  await wait(500 + random() * 1_000);
  const before = acknowledged;
  console.log(`${await disturb(round)}; ${acknowledged - before} acknowledged meanwhile`);
}
over = true;
await Promise.all(writers);
const { faults, head } = await verifyPostgres(store);
violations.push(...faults);
takeOvers.sort((a, b) => a - b);
const at = (share: number): number => Math.round(takeOvers[Math.floor(takeOvers.length * share)] ?? 0);
console.log(
  `${acknowledged} acknowledged, log up to ${head?.seq}; take-over p50 ${at(0.5)} ms, worst ${at(0.99)} ms; ` +
    `${violations.length} violations`,
);
for (const violation of violations) console.log(`VIOLATION ${violation}`);
ended = true;
for (const { child } of nodes) child.kill('SIGKILL');
await server.stop();
process.exit(violations.length === 0 ? 0 : 1);
