import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as wait } from 'node:timers/promises';
import postgres from 'postgres';
import { command } from '../../helpers/command.js';
import { startPostgres, type PostgresServer } from '../../helpers/postgres-server.js';
import type { Ownership } from './audit.js';
import { openNetwork, type Network } from './network.js';

/** The processes of a cluster: gateways that are started again when they end, workers, one PostgreSQL. */
export interface Node {
  readonly name: string;
  /** Of its gateway. */
  readonly url: string;
  /** Where the campaign counts. */
  readonly counting: string;
  readonly network: Network;
  child: ChildProcess;
  isFrozen: boolean;
}

export interface Fleet {
  readonly folder: string;
  readonly store: string;
  readonly token: string;
  readonly server: PostgresServer;
  readonly nodes: readonly Node[];
  /** In the order in which they came. */
  readonly owners: readonly Ownership[];
  owner(): Node | undefined;
  /** A worker that was invited by this code begins to serve. */
  addWorker(name: string, roots: string, token: string): Promise<void>;
  readonly journal: string;
  end(): Promise<void>;
}

const programOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
/** Agents: one that says forty lines, one that acts for as long as it lives. */
const programs = {
  talk: 'cat > /dev/null; i=0; while [ $i -lt 40 ]; do echo "line $i"; i=$((i+1)); sleep 0.1; done',
  acts: 'cat > /dev/null; i=0; while [ $i -lt 100 ]; do echo "$SVC_GATEWAY_URL $(date +%s%3N)" >> acts; i=$((i+1)); sleep 0.1; done',
};

export async function startFleet(folder: string, size: number): Promise<Fleet> {
  const server = await startPostgres();
  const database = await server.newDatabase();
  const query = 'home=cluster&lease=3';
  const token = 'cluster-'.padEnd(43, 'x');
  const journal = join(folder, 'journal.jsonl');
  await writeFile(journal, '');
  for (const [name, text] of Object.entries(programs)) await writeFile(join(folder, `${name}.sh`), text);
  const engines = Object.keys(programs).map(
    (name) => `  ${name}: {command: [/bin/sh, ${folder}/${name}.sh]}`,
  );
  const children = new Set<ChildProcess>();
  let ended = false;

  async function begin(name: string, n: number): Promise<Node> {
    const [port, countingPort] = [await freePort(), await freePort()];
    const network = await openNetwork(() => server.port);
    const home = join(folder, name);
    const store = `${database.replace(`:${server.port}`, `:${network.port}`)}?${query}`;
    const url = `http://127.0.0.1:${port}`;
    await mkdir(home, { mode: 0o700 });
    const settings = [
      `store: ${store}`,
      'agents: {sandbox: "off"}',
      `sessions: {roots: [${folder}]}`,
      'engines:',
      ...engines,
    ];
    await writeFile(join(home, 'config.yaml'), `${settings.join('\n')}\n`);
    const announced = {
      host: '127.0.0.1',
      port,
      pid: null,
      pidStart: null,
      secret: token,
      token,
      url,
      instance: 'c',
    };
    await writeFile(join(home, 'gateway.json'), JSON.stringify(announced), { mode: 0o600 });
    const log = createWriteStream(join(folder, `${name}.log`));
    const start = (): ChildProcess => {
      const words = ['--import', programOf('skew.js'), programOf('node.js')];
      const env = { ...process.env, SVC_NODE: name, SKEW_MS: String((n - 1) * 5_000) };
      const child = spawn(
        process.execPath,
        [...words, home, store, String(port), String(countingPort), journal],
        {
          env,
          stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
        },
      );
      children.add(child);
      keep(child, log);
      child.once('exit', () => {
        children.delete(child);
        if (!ended) node.child = start();
      });
      return child;
    };
    const node: Node = {
      name,
      url,
      counting: `http://127.0.0.1:${countingPort}`,
      network,
      isFrozen: false,
      child: undefined as unknown as ChildProcess, // of the next line
    };
    node.child = start();
    return node;
  }
  const nodes = await Promise.all(Array.from({ length: size }, (_, n) => begin(`node-${n}`, n)));

  const owners: Ownership[] = [];
  const watching = watchOwners(database, owners, () => ended);
  const owner = (): Node | undefined => nodes.find(({ name }) => name === owners.at(-1)?.node);
  // What people put before several nodes: connections go to the one that owns the home
  const balancer = await openNetwork(() => {
    const url = owner()?.url;
    return url === undefined ? undefined : Number(new URL(url).port);
  });

  return {
    folder,
    store: `${database}?${query}`,
    token,
    server,
    nodes,
    owners,
    owner,
    journal,
    async addWorker(name, roots, itsToken) {
      const home = join(folder, name);
      await mkdir(home, { mode: 0o700 });
      await writeFile(
        join(home, 'config.yaml'),
        `agents: {sandbox: "off"}\nengines:\n${engines.join('\n')}\n`,
      );
      await writeFile(join(home, 'token'), itsToken, { mode: 0o600 });
      const words = ['worker', '--join', `http://127.0.0.1:${balancer.port}`, '--name', name, '--home', home];
      const child = spawn(
        process.execPath,
        [command, ...words, '--roots', roots, '--engines', 'talk', '--slots', '4', '--sandbox', 'off'],
        { stdio: ['ignore', 'pipe', 'pipe'] },
      );
      children.add(child);
      keep(child, createWriteStream(join(folder, `${name}.log`)));
    },
    async end() {
      ended = true;
      for (const child of children) child.kill('SIGKILL');
      for (const { network } of nodes) network.close();
      balancer.close();
      await watching;
      await server.stop();
    },
  };
}

function keep({ stdout, stderr }: ChildProcess, log: WriteStream): void {
  for (const stream of [stdout, stderr]) stream?.on('data', (bytes: Buffer) => void log.write(bytes));
}

/** By the database itself, which each of them asks. */
async function watchOwners(database: string, owners: Ownership[], isOver: () => boolean): Promise<void> {
  const sql = postgres(database, {
    max: 1,
    onnotice: () => undefined,
    backoff: () => 0.1,
    connect_timeout: 2,
    fetch_types: false,
  });
  while (!isOver()) {
    const [row] = await sql`select epoch, node, owner from troupe_home where name = 'cluster'`.catch(
      () => [],
    );
    const epoch = Number(row?.['epoch'] ?? 0);
    if (row?.['owner'] != null && epoch > (owners.at(-1)?.epoch ?? 0))
      owners.push({ epoch, node: String(row['node']), at: Date.now() });
    await wait(20);
  }
  await sql.end({ timeout: 0 });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
