import { readOnly } from '../../../page/base.js';
import { useAction } from '../../../page/action.js';
import { ask } from '../../../page/ask.js';
import { choicesOf, decisionRequest, refusalIn, wordsOf, type Choice } from '../../../client/decision.js';
import { attention, type Waiting } from '../attention.js';
import type { ActorKey } from '../../../../machines/outputs.js';

/** Yes or no to what an actor waits for, wherever that is shown. Whether the viewer may, the gateway judges. */
export function Decide({ waiting }: { readonly waiting: Waiting }) {
  const { message, busy, attempt } = useAction();
  const choices = choicesOf(waiting).filter((choice) => decisionRequest(waiting, choice) !== undefined);
  if (choices.length === 0 || readOnly !== undefined) return null;
  // What is shown here is cut, and follows every change: only the console shows a whole program and keeps its hash
  const isProgram = waiting.what === 'activation';
  const send = async (choice: Choice): Promise<void> => {
    const { path = '', body } = decisionRequest(waiting, choice) ?? {};
    const refused = refusalIn(await ask<unknown>(path, { post: body }));
    if (refused !== undefined) throw new Error(refused);
  };
  return (
    <span class="decide">
      {choices
        .filter((choice) => choice !== 'escalate' && !(isProgram && choice === 'approve'))
        .map((choice) => [choice, wordsOf(waiting, choice)[0]] as const)
        .map(([choice, word]) => (
          <button
            key={word}
            type="button"
            class={choice === 'approve' ? 'primary' : ''}
            disabled={busy}
            aria-label={`${word}: ${waiting.title}`}
            onClick={() => void attempt(() => send(choice))}
          >
            {word}
          </button>
        ))}
      {isProgram && <a href="/#/inbox">Read it, then approve</a>}
      {message !== '' && (
        <small class="bad" role="alert">
          {message}
        </small>
      )}
    </span>
  );
}

/** What this one actor waits for, with the decision in place. */
export function OwnWaiting({ actor }: { readonly actor: ActorKey }) {
  const own = attention.value?.waiting.filter(({ kind, id }) => kind === actor.kind && id === actor.id) ?? [];
  if (own.length === 0) return null;
  return (
    <section class="panel gate-panel" aria-labelledby="own-waiting-title">
      <h2 id="own-waiting-title">It waits</h2>
      <ul class="facts">
        {own.map((waiting) => (
          <li key={waiting.waitingId}>
            <b>{waiting.what}</b>
            <span class="soft">
              on {waiting.on}: {waiting.title}
            </span>
            <span class="end">
              <Decide waiting={waiting} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
