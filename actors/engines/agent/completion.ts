import type { ChildResult, TurnResult } from '../engine.js';
import { lastBytes } from '../process/output.js';
import { endedByUs } from '../turn-result.js';

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
