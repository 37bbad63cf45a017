import type { ChildResult, TurnResult } from '../engine.js';
import { lastBytes } from '../process/output.js';

/** Why a program that owes us its protocol's last event ended without it, as the end of the turn. */
export function endWithoutResult(child: ChildResult, program: string, text: string): TurnResult {
  const failed = (error: string): TurnResult => ({ outcome: 'failed', text, error });
  switch (child.ended) {
    case 'interrupted':
      return { outcome: 'interrupted', text };
    case 'deadline':
      return failed(`${program} did not finish within its time and was ended.`);
    case 'silence':
      return failed(`${program} was silent for too long and was ended.`);
    case 'flood':
      return failed(`${program} exceeded the output limit and was ended.`);
    case null:
      break;
  }
  const how =
    child.signal === null
      ? `exited with code ${child.exitCode}`
      : `was ended by ${child.signal} from outside`;
  const said = lastBytes(child.stderr.trim(), 2_048);
  return failed(`${program} ${how} without a result.${said === '' ? '' : ` It said: ${said}`}`);
}
