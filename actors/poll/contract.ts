import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { PollContract } from '../../machines/poll/context.js';

/** What of a poll a person chooses; the rest of the contract is measured. */
export type PollTerms = Pick<
  PollContract,
  'command' | 'intervalSeconds' | 'timeoutMs' | 'stdoutMaxBytes' | 'stderrMaxBytes'
>;
export interface Measured {
  readonly contract: PollContract;
  readonly contractHash: string;
}

/**
 * The contract of a program as it lies on the disk now: the hash of the program itself and of every argument
 * that is a file, so that a script changed later is another contract. Throws a sentence where the program
 * cannot be run or read.
 */
export async function measured({
  command,
  intervalSeconds,
  timeoutMs,
  stdoutMaxBytes,
  stderrMaxBytes,
}: PollTerms): Promise<Measured> {
  const [program = '', ...rest] = command;
  if (!isAbsolute(program)) throw new TypeError(`The program must be an absolute path, not "${program}".`);
  const sha256 = await hashOf(program);
  if (sha256 === undefined) throw new TypeError(`The program ${program} does not exist or cannot be read.`);
  const artifacts: PollContract['executableArtifacts'][number][] = [
    { role: 'executable', path: program, sha256 },
  ];
  for (const argument of rest) {
    const found = isAbsolute(argument) ? await hashOf(argument) : undefined;
    if (found !== undefined) artifacts.push({ role: 'argument', path: argument, sha256: found });
  }
  const contract: PollContract = {
    command: [...command],
    intervalSeconds,
    cwdPolicy: 'own-folder',
    envPolicy: 'basics',
    timeoutMs,
    stdoutMaxBytes,
    stderrMaxBytes,
    executableArtifacts: artifacts,
  };
  return {
    contract,
    contractHash: createHash('sha256').update(JSON.stringify(contract)).digest('base64url'),
  };
}

/** The most of it: what a run is given must fit a snapshot beside everything else. */
export const outputBytes = { stdoutMaxBytes: 24 * 1024, stderrMaxBytes: 16 * 1024 } as const;
const fileBytesMax = 512 << 20;

/** Of a regular file; undefined where there is none. Never waits for a pipe or a device. */
async function hashOf(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > fileBytesMax) return undefined;
    const hash = createHash('sha256');
    for await (const chunk of file.createReadStream({ autoClose: false, end: stats.size }))
      hash.update(chunk as Buffer);
    return hash.digest('hex');
  } finally {
    await file.close();
  }
}
