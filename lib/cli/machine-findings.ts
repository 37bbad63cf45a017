import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { outputOf } from '../../actors/start-program.js';
import type { Layout } from '../home/layout.js';
import type { Finding } from './finding.js';
import { nearestFolder } from './home-findings.js';
import { bytes, duration } from './print.js';

/** What Troupe rests on: Node, git, the disk and the clock of this machine. */

export async function nodeVersion(): Promise<Finding> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const what = `Node ${process.versions.node}`;
  return major > 20 || (major === 20 && minor >= 19)
    ? { grade: 'good', about: 'node', what }
    : { grade: 'bad', about: 'node', what, remedy: 'Install Node 20.19 or newer.' };
}

/** Changes and worktrees of sessions are git's; everything else works without it. */
export async function gitVersion(): Promise<Finding> {
  const about = 'git';
  const answer = await outputOf('git', ['--version'], { timeoutMs: 5_000 }).catch(() => undefined);
  if (answer === undefined)
    return {
      grade: 'poor',
      about,
      what: 'not found: what turns change is not shown, and sessions have no worktrees',
      remedy: `Install git ${gitLeast.join('.')} or newer.`,
    };
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(answer)?.slice(1) ?? []).map(Number);
  const what = answer.trim();
  return major > gitLeast[0] || (major === gitLeast[0] && minor >= gitLeast[1])
    ? { grade: 'good', about, what }
    : {
        grade: 'poor',
        about,
        what: `${what}: too old to show and merge what turns change`,
        remedy: `Install git ${gitLeast.join('.')} or newer.`,
      };
}

/** The first with `merge-tree --write-tree`, by which changes are merged without touching a folder. */
const gitLeast = [2, 38] as const;

export async function disk({ home }: Layout): Promise<Finding> {
  const { bavail, bsize, ffree, files } = await statfs(await nearestFolder(home));
  const free = bavail * bsize;
  const what = `${bytes(free)} free`;
  if (free < freeBytesMin)
    return {
      grade: 'bad',
      about: 'disk',
      what,
      remedy: `New work is refused below ${bytes(freeBytesMin)}: free some space.`,
    };
  if (files > 0 && ffree < freeFilesMin)
    return {
      grade: 'bad',
      about: 'disk',
      what: `${ffree} more files fit on it`,
      remedy: 'Remove small files.',
    };
  return free < 5 * freeBytesMin
    ? { grade: 'poor', about: 'disk', what, remedy: `New work is refused below ${bytes(freeBytesMin)}.` }
    : { grade: 'good', about: 'disk', what };
}

const freeBytesMin = 200_000_000;
const freeFilesMin = 1_000;

/** A clock behind what this home has seen was set back, or its machine forgot the time. */
export async function clock(layout: Layout, now = Date.now()): Promise<Finding> {
  const about = 'clock';
  const ahead = (await newest(layout)) - now;
  if (ahead < aheadMsMax) return { grade: 'good', about, what: new Date(now).toISOString() };
  return {
    grade: 'bad',
    about,
    what: `${new Date(now).toISOString()}, which is ${duration(ahead)} behind the newest file of this home`,
    remedy: 'Set the clock, and keep it by NTP: timers, cron jobs and certificates go by it.',
  };
}

const aheadMsMax = 120_000;

/** When something of the home was written last; 0 where there is nothing. */
async function newest({ announcement, log, storeCopy }: Layout): Promise<number> {
  const names = await readdir(storeCopy).catch((): string[] => []);
  const paths = [announcement, log, ...names.map((name) => join(storeCopy, name))];
  const times = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return Math.max(0, ...times);
}
