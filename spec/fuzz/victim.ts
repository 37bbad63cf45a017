import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { command } from '../helpers/command.js';

/**
 * The gateway under test: the real program in a process of its own, on a home with people, skills, knowledge,
 * engines and a connector whose far side is here. It finds no programs: its PATH is empty, so nothing that a
 * request says can start one, but for the engine `keeper`, which keeps a turn open and leaves its session
 * token where we find it.
 */
export interface Victim {
  readonly home: string;
  readonly port: number;
  readonly token: string;
  /** What must never be seen in a log or an answer. */
  readonly secrets: readonly string[];
  readonly alive: boolean;
  /** What the process wrote to its standard error. */
  readonly said: () => string;
  /** Session token of a session that `keeper` serves; waits until its process has begun. */
  tokenOf(sessionId: string): Promise<string>;
  /** Put back the files that requests may have removed or rewritten. */
  furnish(): Promise<void>;
  close(): Promise<void>;
}

export async function startVictim(home: string): Promise<Victim> {
  await mkdir(join(home, 'tokens'), { recursive: true });
  await mkdir(join(home, 'empty'), { recursive: true });
  const farSide = await openFarSide();
  await writeFile(join(home, 'keeper.cjs'), keeper);
  await writeFile(join(home, 'config.yaml'), configOf(home, (farSide.address() as AddressInfo).port));
  await furnish(home);
  const child = spawn(process.execPath, [command, 'start', '--home', home, '--port', '0'], {
    env: { PATH: join(home, 'empty'), HOME: join(home, 'empty'), NO_COLOR: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-100_000);
  });
  await until(() => said.includes('stop    Ctrl-C') || child.exitCode !== null, 'the gateway to start');
  if (child.exitCode !== null) throw new Error(`the gateway did not start: ${said}`);
  const announced = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as Record<string, unknown>;
  const secrets = [announced['token'], announced['hookSecret'], webhookSecret].filter(
    (one) => typeof one === 'string',
  );
  return {
    home,
    port: Number(announced['port']),
    token: String(announced['token']),
    secrets,
    get alive() {
      return child.exitCode === null && child.signalCode === null;
    },
    said: () => said,
    async tokenOf(sessionId) {
      const file = join(home, 'tokens', sessionId);
      let token = '';
      await until(
        async () => (token = await readFile(file, 'utf8').catch(() => '')) !== '',
        'an agent to begin',
      );
      return token;
    },
    furnish: () => furnish(home),
    async close() {
      await ended(child);
      // Its agents would go on without it for a while
      await new Promise((resolve) =>
        execFile(process.execPath, [command, 'stop', '--now', '--home', home], { timeout: 30_000 }, resolve),
      );
      farSide.close();
      farSide.closeAllConnections();
    },
  };
}

/**
 * What the program itself says of a home that no one runs any more: `verify` of the store, `audit verify` of
 * the audit log.
 */
export async function faultsLeftIn(home: string): Promise<string[]> {
  const said = await Promise.all(
    [['verify'], ['audit', 'verify']].map(
      (words) =>
        new Promise<string[]>((resolve) => {
          execFile(
            process.execPath,
            [command, ...words, '--home', home],
            { timeout: 120_000, maxBuffer: 2 ** 24 },
            (error, out, err) => resolve(error ? [`${words.join(' ')}: ${err}${out}`.slice(0, 2_000)] : []),
          );
        }),
    ),
  );
  return said.flat();
}

export const skillNames = Array.from({ length: 20 }, (_, index) => `skill-${index}`);
export const people = ['chief', 'bob', 'ann', 'cat'];
export const skillText = (name: string): string =>
  `---\nname: ${name}\ndescription: Brews tea.\n---\n\n# ${name}\n`;
const webhookSecret = 'webhook-secret-canary-0123456789';

/** Writes its session token to a file and keeps the turn open. */
const keeper = `
const { writeFileSync, renameSync } = require('node:fs');
const file = require('node:path').join(__dirname, 'tokens', process.env.SVC_SESSION_ID);
writeFileSync(file + '.new', process.env.SVC_GATEWAY_TOKEN || '');
renameSync(file + '.new', file);
setInterval(() => undefined, 1000);
`;

const configOf = (home: string, port: number): string => `
gateway: { port: 0 }
logging: { level: debug }
sessions: { interruptOnNewMessage: false }
engines:
  maxProcesses: 32
  keeper: { command: [${JSON.stringify(process.execPath)}, ${JSON.stringify(join(home, 'keeper.cjs'))}] }
connectors:
  instances:
    - { name: hook, type: webhook, url: "http://127.0.0.1:${port}/hook", secret: ${webhookSecret} }
`;

async function furnish(home: string): Promise<void> {
  const files: Record<string, string> = {
    'org/board/department.yaml': 'displayName: The Board\n',
    'org/board/chief.yaml': 'displayName: Chief\nrank: executive\npersona: Leads.\n',
    'org/build/department.yaml': '',
    'org/build/bob.yaml': 'rank: manager\nreportsTo: chief\n',
    'org/build/ann.yaml': 'rank: employee\nreportsTo: bob\n',
    'org/sales/department.yaml': '',
    'org/sales/cat.yaml': 'rank: employee\nreportsTo: chief\n',
    'knowledge/tea.md': '# Tea\nWater the plants, then brew tea.\n',
    'knowledge/deep/er/ink.md': '# Ink\nFills pens.\n',
    'docs/house.md': '# House\nWho waters the plants?\n',
    ...Object.fromEntries(skillNames.map((name) => [`skills/${name}/SKILL.md`, skillText(name)])),
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(home, name);
    if ((await readFile(path, 'utf8').catch(() => undefined)) === text) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.new`, text); // the gateway must not read half a file
    await rename(`${path}.new`, path);
  }
}

/** A far side that takes most messages, and now and then says that it is broken or busy. */
async function openFarSide(): Promise<Server> {
  let asked = 0;
  const server = createServer((request, response) => {
    let isLost = false;
    request.on('data', (bytes: Buffer) => (isLost ||= bytes.includes('"lost"')));
    request.on('end', () => {
      asked += 1;
      response.statusCode = isLost || asked % 11 === 0 ? 500 : 200;
      response.end('{"id":"m1"}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await gone;
  clearTimeout(late);
}

export async function until(check: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const deadline = performance.now() + 30_000; performance.now() < deadline; await wait(20))
    if (await check()) return;
  throw new Error(`waited 30 s for ${what}`);
}

export const removeHome = (home: string): Promise<void> => rm(home, { recursive: true, force: true });
