import { constants, setPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import { HomeError } from '../home-error.js';
import type { BackupJob } from './job.js';
import { runJob } from './run-job.js';

/**
 * As a program: reads a job from standard input, makes the backup at the lowest priority, and writes what it made to
 * standard output. Ends with 1 and says on standard error why there is none. It ends with the one that started it: a
 * gateway that was killed leaves no program behind.
 */
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(1), 1_000).unref();
let to = '';
try {
  setPriority(constants.priority.PRIORITY_LOW);
  const job = JSON.parse(await text(process.stdin)) as BackupJob;
  to = job.place.to;
  process.stdout.write(JSON.stringify(await runJob(job)));
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  // What the system says names no place: a disk is full, a folder is closed
  process.stderr.write(error instanceof HomeError ? reason : `The backup to ${to} failed: ${reason}.`);
  process.exitCode = 1;
}
