import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyAudit } from '../../../lib/records/audit/verify-audit.js';
import { openFarSide } from '../../golden/far-side.js';
import { configOf, furnish } from '../../golden/furnish.js';
import { addressIn, end } from '../victim.js';
import type { Body } from '../wire.js';
import { liveThrough, scriptedDay, type Change, type Place, type Read } from './day.js';
import { environmentOf, type FaultMode } from './shim.js';
import { command } from '../../helpers/command.js';

/** What became of a home one of whose operations was struck. */
export interface Verdict {
  /** `write store/000003.log`: what was struck; undefined: that many operations there were not. */
  readonly operation: string | undefined;
  readonly acknowledged: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  /** Why it did not open again without the fault. */
  readonly unopenable: string | undefined;
  /** What verify says of it afterwards. */
  readonly unsound: string | undefined;
  /** A failure that no answer, no line of the log and no exit code told of. */
  readonly silent: boolean;
  /** Every operation of the day, where none was struck. */
  readonly operations: readonly string[];
}

/** One day of a gateway in a fresh home with one fault, a start without it, and an audit. */
export async function runCase(shim: string, at: number, mode: FaultMode): Promise<Verdict> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-faults-'));
  const home = join(folder, 'home');
  const far = await openFarSide(true);
  try {
    await mkdir(home);
    await furnish(home, configOf({ folder, farSide: far.url, isSlow: false }, ['steady']));
    const day = scriptedDay(far, mode !== 'fail');
    const log = join(folder, 'struck');
    const told = await live(home, day, environmentOf(shim, { at, mode, under: home, log }));
    const struck = (await readFile(log, 'utf8').catch(() => '')).split('\n').filter(Boolean);
    const operation = at === 0 ? undefined : struck[0];
    const isSilent = operation !== undefined && mode === 'fail' && !told && !(await isLogged(home));
    return {
      operation,
      operations: at === 0 ? struck : [],
      acknowledged: day.filter(({ outcome }) => outcome === 'done').length,
      silent: isSilent,
      ...(await audit(home, day)),
    };
  } finally {
    await far.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A life until its stop or its death; whether an answer or the exit code told of trouble. */
async function live(
  home: string,
  day: readonly Change[],
  env: Readonly<Record<string, string>>,
): Promise<boolean> {
  const child = start(home, env);
  try {
    const url = await addressIn(child, announced);
    const refused = await liveThrough(day, await placeOf(home, url), () => isGone(child));
    return (await end(child, 'SIGTERM')) !== 0 || refused > 0;
  } catch {
    return true; // it did not start, and said so
  } finally {
    await end(child, 'SIGKILL');
  }
}

type Findings = Pick<Verdict, 'lost' | 'doubled' | 'unopenable' | 'unsound'>;

async function audit(home: string, day: readonly Change[]): Promise<Findings> {
  const lost: string[] = [];
  const doubled: string[] = [];
  const child = start(home, {});
  try {
    const place = await placeOf(home, await addressIn(child, announced));
    const read: Read = async (path) => {
      const answer = await fetch(place.url + path, {
        headers: { authorization: `Bearer ${place.token}` },
        signal: AbortSignal.timeout(30_000),
      });
      const body = (await answer.json()) as Body;
      return answer.status === 404 ? { workItems: [], runs: [], grantedUsd: 0, absent: true } : body;
    };
    for (const change of day) {
      const count = await change.count(read);
      if (change.outcome === 'done' && count === 0) lost.push(change.tag);
      if (count > 1) doubled.push(`${change.tag}: ${count} times`);
    }
    await end(child, 'SIGTERM');
  } catch (error) {
    return { lost, doubled, unopenable: String((error as Error).message).slice(0, 300), unsound: undefined };
  } finally {
    await end(child, 'SIGKILL');
  }
  return {
    lost,
    doubled,
    unopenable: undefined,
    unsound: (await said(home, 'verify')) ?? (await auditFindings(home)),
  };
}

const announced = /Troupe runs at (\S+)\n/;
const isGone = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

function start(home: string, env: Readonly<Record<string, string>>): ChildProcess {
  return spawn(process.execPath, [command, 'start', '--home', home, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, ...env },
  });
}

async function placeOf(home: string, url: string): Promise<Place> {
  const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
  return { url, token };
}

/** Whether the gateway's own log has a warning or worse. */
async function isLogged(home: string): Promise<boolean> {
  const text = await readFile(join(home, 'logs', 'gateway.log'), 'utf8').catch(() => '');
  return /"level":[456]0/.test(text);
}

async function auditFindings(home: string): Promise<string | undefined> {
  const { findings } = await verifyAudit(join(home, 'logs', 'audit'));
  return findings.length === 0 ? undefined : `audit log: ${JSON.stringify(findings).slice(0, 300)}`;
}

/** What a command of the program says when it fails. */
const said = (home: string, ...words: readonly string[]): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile(process.execPath, [command, ...words, '--home', home], { timeout: 60_000 }, (error, out, err) =>
      resolve(error === null ? undefined : `${words.join(' ')}: ${out}${err}`.slice(0, 300)),
    );
  });
