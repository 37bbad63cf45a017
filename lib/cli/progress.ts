import type { Terminal } from './command-line.js';

/**
 * Tells of long work on stderr: when a task begins and at every further 100,000 rows; short work is not
 * mentioned.
 */
export function progressTeller(
  terminal: Pick<Terminal, 'say'>,
): (progress: { readonly task: string; readonly rows: number }) => void {
  const reported = new Map<string, number>();
  return ({ task, rows }) => {
    const step = Math.floor(rows / rowsPerLine);
    if (step === (reported.get(task) ?? 0)) return;
    reported.set(task, step);
    terminal.say(`${tasks[task] ?? task}: ${step * rowsPerLine} rows …`);
  };
}

const rowsPerLine = 100_000;
const tasks: Readonly<Record<string, string>> = {
  rebuild: 'rebuilding the database from its second copy',
  replay: 'replaying the second copy into the database',
  verify: 'verifying',
  base: 'writing a base image',
  backup: 'copying the store',
  restore: 'restoring the store',
};
