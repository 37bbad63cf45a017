import { freshOutcomeOf, outcomeOf } from '../../../page/action.js';
import { timeOfDay } from '../../../page/clock.js';

/**
 * What a button came to, where it was pressed. Of a thing that is still there a failure stays until the next try, with
 * its time; of one that is gone (`isPast`) the last word stays as long as its row.
 * @example <OutcomeLine of="session/s1" otherwise="At once, without undo." />
 */
export function OutcomeLine({
  of,
  otherwise = '',
  isPast = false,
}: {
  readonly of: string;
  readonly otherwise?: string;
  readonly isPast?: boolean;
}) {
  const found = isPast ? outcomeOf(of) : freshOutcomeOf(of);
  const text = found?.text ?? otherwise;
  return text === '' ? null : (
    <small
      class={found === undefined && !isPast ? 'soft' : `outcome ${found?.isBad === true ? 'bad' : ''}`}
      role="status"
    >
      {text}
      {found?.isBad === true && !isPast && <span class="num"> At {timeOfDay(found.at)}.</span>}
    </small>
  );
}

/** Why what was pressed did not come about. */
export const Fault = ({ message }: { readonly message: string }) =>
  message === '' ? null : (
    <small class="bad" role="alert">
      {message}
    </small>
  );
