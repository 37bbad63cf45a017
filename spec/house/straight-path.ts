import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startInstance } from '../../lib/instance.js';

/**
 * How far one request travels through the product's own code, by V8's precise coverage of a real gateway on a
 * real home in this process: files and functions entered, and how many of these functions only forward.
 * Each request is made several times; what is entered in every run counts, so that timers which happen to ring and
 * work that a busy machine moves into one run are no part.
 * `node dist/spec/house/straight-path.js` prints the figures and, with `--files` or `--functions`, what was
 * entered.
 */
export interface Path {
  readonly files: readonly string[];
  /** `file:line:offset function`, both of its JavaScript; in the order of the files. */
  readonly entered: readonly string[];
  readonly functions: number;
  readonly forwarders: readonly string[];
}

export const journeys = ['read', 'approval', 'session', 'timer'] as const;
export type Journey = (typeof journeys)[number];

const runs = 5;
const filesMin = 5;

export async function measurePaths(): Promise<Record<Journey, Path>> {
  const home = await mkdtemp(join(tmpdir(), 'straight-path-'));
  const gateway = await startInstance({ home, port: 0 });
  const inspector = new Session();
  inspector.connect();
  try {
    const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
    const call = callerOf(gateway.url, token);
    await inspector.post('Profiler.enable');
    await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    const during = async (act: () => Promise<unknown>): Promise<Path> => {
      await inspector.post('Profiler.takePreciseCoverage');
      await act();
      return pathOf((await inspector.post('Profiler.takePreciseCoverage')).result);
    };
    const item = async (): Promise<string> =>
      ((await call('POST', '/api/work-items', { title: 'Dig' })) as { workItem: { id: string } }).workItem.id;
    const pending = async (expiresAt?: string): Promise<string> => {
      const id = await item();
      await call('POST', `/api/work-items/${id}/approval/request`, { request: 'May I?', expiresAt });
      return id;
    };
    const approve = { decision: 'approve' };
    return {
      read: await everyTime(async () => {
        const id = await item();
        return during(() => call('GET', `/api/work-items/${id}`));
      }),
      approval: await everyTime(async () => {
        const id = await pending();
        return during(() => call('POST', `/api/work-items/${id}/approval`, approve));
      }),
      session: await everyTime(() => during(() => call('POST', '/api/sessions', { prompt: 'hello' }))),
      timer: await everyTime(async () => {
        const due = Date.now() + 700;
        await pending(new Date(due).toISOString());
        // What the requests before left behind (lines of the audit log, a look at the disk) comes before the bell
        await sleep(due - 50 - Date.now());
        return during(() => sleep(due + 150 - Date.now()));
      }),
    };
  } finally {
    await inspector.post('Profiler.stopPreciseCoverage');
    inspector.disconnect();
    await gateway.close();
    await rm(home, { recursive: true, force: true });
  }
}

async function everyTime(measure: () => Promise<Path>): Promise<Path> {
  const paths: Path[] = [];
  for (let run = 0; run < runs; run += 1) paths.push(await measure());
  // A bell that rang before or after it was listened to, on a machine that stood still, took no way at all
  return inAll(paths.filter(({ files }) => files.length >= filesMin));
}

/** What all of them entered. `inAll([{ files: ['a.ts', 'b.ts'], … }, { files: ['a.ts'], … }]).files // ['a.ts']` */
export function inAll(paths: readonly Path[]): Path {
  const common = (namesOf: (path: Path) => readonly string[]): readonly string[] => {
    const [first = [], ...others] = paths.map(namesOf);
    const rest = others.map((names) => new Set(names));
    return first.filter((name) => rest.every((names) => names.has(name)));
  };
  const entered = common((path) => path.entered);
  return {
    files: common(({ files }) => files),
    entered,
    functions: entered.length,
    forwarders: common(({ forwarders }) => forwarders),
  };
}

/** A client that runs none of the product's code. */
function callerOf(url: string, token: string) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return (method: string, path: string, body?: object): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const sent = request(`${url}${path}`, { method, headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          if ((answer.statusCode ?? 500) < 300) resolve(JSON.parse(text));
          else reject(new Error(`${method} ${path}: ${answer.statusCode} ${text}`));
        });
      });
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
    });
}

interface Script {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly {
      readonly startOffset: number;
      readonly endOffset: number;
      readonly count: number;
    }[];
  }[];
}

const dist = new URL('../../', import.meta.url).href;

async function pathOf(scripts: readonly Script[]): Promise<Path> {
  const files: string[] = [];
  const forwarders: string[] = [];
  const all: string[] = [];
  for (const script of scripts) {
    if (!script.url.startsWith(dist) || script.url.startsWith(`${dist}spec/`)) continue;
    const entered = script.functions.filter(
      ({ functionName, ranges }) =>
        (ranges[0]?.count ?? 0) > 0 && !(functionName === '' && ranges[0]?.startOffset === 0),
    );
    if (entered.length === 0) continue;
    const file = script.url.slice(dist.length).replace(/\.js$/, '.ts');
    files.push(file);
    const text = await readFile(fileURLToPath(script.url), 'utf8');
    for (const { functionName, ranges } of entered) {
      const [range] = ranges;
      const line = text.slice(0, range?.startOffset).split('\n').length;
      all.push(`${file}:${line}:${range?.startOffset} ${functionName}`);
      if (range && onlyForwards(text.slice(range.startOffset, range.endOffset)))
        forwarders.push(`${file}:${line} ${functionName}`);
    }
  }
  return { files: files.sort(), entered: all.sort(), functions: all.length, forwarders };
}

/** Its whole body is a call of something else with its own parameters. */
export function onlyForwards(text: string): boolean {
  const found =
    /^(?:async\s+)?(?:function\s+)?[\w$#]*\s*\(([^()]*)\)\s*(?:=>\s*)?(?:\{\s*(?:return\s+|void\s+)?(?:await\s+)?([\w$.#?]+)\(([^()]*)\);?\s*\}|([\w$.#?]+)\(([^()]*)\))$/.exec(
      text.trim(),
    );
  if (!found) return false;
  const own = new Set(
    (found[1] ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean),
  );
  const passed = (found[3] ?? found[5] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  return own.size > 0 && passed.length > 0 && passed.every((name) => own.has(name));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const paths = await measurePaths();
  for (const journey of journeys) {
    const { files, entered, functions, forwarders } = paths[journey];
    console.log(
      `${journey}: ${files.length} files, ${functions} functions, ${forwarders.length} only forward`,
    );
    if (process.argv.includes('--functions')) console.log(`  ${entered.join('\n  ')}`);
    if (process.argv.includes('--files'))
      console.log(`  ${files.join('\n  ')}\n  forwarders:\n  ${forwarders.join('\n  ')}`);
  }
  process.exit(0);
}
