import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { outputOf } from '../../start-program.js';

/**
 * By what a process is known as an agent's, no matter who adopted it and whatever it forgot: the hard limit of file
 * locks, which Linux stopped heeding with 2.4.25 and passes on to every child and every program. Only the
 * superuser raises one again; who lowers it stays below our own.
 */
export interface AgentMark {
  /** The command that starts another one with the mark of a session: words to stand before it. */
  wordsFor(sessionId: string): readonly string[];
}

/** `(await findAgentMark('/usr/bin/prlimit'))?.wordsFor('s1')`; undefined where limits cannot be set so. */
export async function findAgentMark(prlimit: string | undefined): Promise<AgentMark | undefined> {
  if (prlimit === undefined || (await locksLimit('self')) !== Infinity) return undefined;
  const wordsFor = (sessionId: string): readonly string[] => [
    prlimit,
    `--locks=${markOf(sessionId)}:${markOf(sessionId)}`,
    '--',
  ];
  const [program, ...args] = [...wordsFor(''), prlimit, '--version'];
  return outputOf(program, args, { timeoutMs: 5_000 }).then(
    () => ({ wordsFor }),
    () => undefined,
  );
}

/** 48 bits of a session's name, as a limit. `markOf('s1') === markOf('s1')` */
export const markOf = (sessionId: string): number =>
  2 ** 20 + createHash('sha256').update(sessionId).digest().readUIntBE(0, 6);

/** The mark that a process carries; null for one that is no agent's, undefined where that cannot be read now. */
export async function markAt(pid: string): Promise<number | null | undefined> {
  const limit = await locksLimit(pid);
  // Read until it is known: one failure (no descriptors left) must not hide agents for good
  ownLimit ??= await locksLimit('self');
  if (limit === undefined || ownLimit === undefined) return undefined;
  return limit < ownLimit ? limit : null;
}

let ownLimit: number | undefined;

async function locksLimit(pid: string): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/limits`, 'latin1').catch(() => '');
  const [, hard] = /^Max file locks +\S+ +(\S+)/m.exec(text) ?? [];
  return hard === undefined ? undefined : hard === 'unlimited' ? Infinity : Number(hard);
}
