import { useAction } from '../../../page/action.js';
import { now, span } from '../../../page/clock.js';
import { wordsOf } from '../../../client/decision.js';
import { withdraw } from '../decide.js';
import type { Waiting } from '../waiting.js';
import { Fault } from './answered.js';

/** `Approve in 4 s`: what was decided and when it counts. */
export const heldWords = (thing: Waiting): string =>
  thing.held === undefined
    ? ''
    : `${wordsOf(thing, thing.held.decision)[0]} in ${span(Date.parse(thing.held.until) - now.value + 999)}`;

/** In place of the buttons: it is decided, here or elsewhere, and can still be withdrawn. */
export function Held({ thing }: { readonly thing: Waiting }) {
  const { message, busy, attempt } = useAction();
  const { held } = thing;
  if (held === undefined) return null;
  return (
    <>
      <p class="ways" data-held>
        <span class="held num">{heldWords(thing)}</span>
        <button
          type="button"
          disabled={busy}
          onClick={() => void attempt(async () => void (await withdraw(held.decisionId)))}
        >
          Undo
        </button>
      </p>
      <Fault message={message} />
    </>
  );
}
