import type { ChildResult, TurnResult } from './engine.js';
import { lastBytes } from './process/output.js';

/**
 * What the end of a plain program means for a turn. Why *we* ended it comes first: an exit code of 0 is worth
 * nothing after a signal of ours, and a program that says nothing has not answered, whatever its exit code.
 * Never throws.
 * @example
 *   const turn: Engine['turn'] = async ({ prompt, ...settings }, io) => {
 *     const child = await io.spawn('llm', [], { ...settings, stdin: prompt });
 *     return turnResult(await child.done, { program: 'llm', deadlineMs: settings.deadlineMs });
 *   };
 */
export function turnResult(
  child: ChildResult,
  {
    program,
    deadlineMs,
  }: {
    /** Its name in what the turn says. */
    readonly program: string;
    /** Milliseconds that the turn was given. */
    readonly deadlineMs: number;
  },
): TurnResult {
  const text = child.stdout.trimEnd();
  const failed = (error: string): TurnResult => ({ outcome: 'failed', text, error });
  const ours = endedByUs(child, program, text, `${Math.round(deadlineMs / 1000)} s`);
  if (ours !== undefined) return ours;
  if (child.signal !== null)
    return failed(`${program} was ended by ${child.signal} from outside.${lastLines(child.stderr)}`);
  if (child.exitCode !== 0)
    return failed(`${program} exited with code ${child.exitCode}.${lastLines(child.stderr)}`);
  if (text.trim() === '') return failed(`${program} ended without a result.${lastLines(child.stderr)}`);
  return { outcome: 'succeeded', text: child.truncated ? `${text}\n… (the rest was cut off)` : text };
}

/** The reason usually stands at the end of the error output. */
function lastLines(stderr: string): string {
  const lines = stderr.trimEnd().split('\n').slice(-10).join('\n').trim();
  return lines === '' ? '' : ` It said: ${lastBytes(lines, 2048)}`;
}

/** The result of a program that we ended; undefined where it ended by itself. `within`: how long it had. */
export function endedByUs(
  child: ChildResult,
  program: string,
  text: string,
  within: string,
): TurnResult | undefined {
  const failed = (error: string): TurnResult => ({ outcome: 'failed', text, error });
  switch (child.ended) {
    case 'interrupted':
      return { outcome: 'interrupted', text };
    case 'deadline':
      return failed(`${program} did not finish within ${within} and was ended.`);
    case 'silence':
      return failed(`${program} was silent for too long and was ended.`);
    case 'flood':
      return failed(`${program} exceeded the output limit and was ended.`);
    case 'processes':
      return failed(`${program} started too many processes at once and was ended.`);
    case null:
      return undefined;
  }
}

/** Why a program that owes us its protocol's last event ended without it, as the end of the turn. */
export function endWithoutResult(child: ChildResult, program: string, text: string): TurnResult {
  const ours = endedByUs(child, program, text, 'its time');
  if (ours !== undefined) return ours;
  const how =
    child.signal === null
      ? `exited with code ${child.exitCode}`
      : `was ended by ${child.signal} from outside`;
  const said = lastBytes(child.stderr.trim(), 2_048);
  const error = `${program} ${how} without a result.${said === '' ? '' : ` It said: ${said}`}`;
  return { outcome: 'failed', text, error };
}
