import { randomUUID } from 'node:crypto';
import { asJson } from '../../machines/outputs.js';
import type { NoticeOutput } from '../../machines/notifier/context.js';
import type { EffectContext } from '../contracts.js';
import { startChild } from '../engines/process.js';

/**
 * Runs the operator's program with a message on its standard input. It is the operator's own, and is not confined;
 * it gets the few harmless variables that every child gets, and no secret by argument. Exit 0 means that it was
 * taken.
 */
export async function runProgram(
  [program = '', ...args]: readonly string[],
  options: {
    readonly stdin: string;
    readonly timeoutSeconds: number;
    readonly folder: string;
    readonly context: EffectContext;
  },
): Promise<NoticeOutput> {
  const { stdin, timeoutSeconds, folder, context } = options;
  const limitMs = timeoutSeconds * 1_000;
  const child = await startChild(program, args, {
    cwd: folder,
    env: {},
    stdin,
    spawnId: randomUUID(),
    tokenHash: null,
    note: (note) => context.checkpoint(asJson(note)),
    signal: context.signal,
    outputBytesMax: 64 * 1024,
    floodBytesMax: 1024 * 1024,
    silenceMs: limitMs,
    deadlineMs: limitMs,
  });
  const { ended, exitCode, signal, stderr } = await child.done;
  if (ended === 'deadline' || ended === 'silence')
    return { outcome: 'failed', reason: `The program took longer than ${timeoutSeconds} s and was ended.` };
  if (ended === null && exitCode === 0) return { outcome: 'sent', messageId: null };
  const said = stderr.trim().slice(-300);
  return {
    outcome: 'failed',
    reason: `The program ended with ${exitCode ?? signal ?? ended}${said === '' ? '' : `: ${said}`}`,
  };
}
