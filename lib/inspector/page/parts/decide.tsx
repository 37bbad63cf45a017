import { readOnly } from '../../../page/base.js';
import { useAction } from '../../../page/action.js';
import { actorPath, ask } from '../../../page/ask.js';
import { choicesOf, decisionRequest, refusalIn, wordsOf, type Choice } from '../../../client/decision.js';
import { attention, type Waiting } from '../attention.js';
import { Panel } from '../../../page/parts/panel.js';
import { useLoaded } from '../live.js';
import type { ActorKey } from '../../../../machines/outputs.js';

/**
 * Yes or no to what an actor waits for, wherever that is shown. What waits on another than the viewer is offered only
 * where the gateway says in a dry run that the viewer may decide it too; else it says whose it is.
 */
export function Decide({ waiting }: { readonly waiting: Waiting }) {
  const choices = choicesOf(waiting).filter(
    (choice) => choice !== 'escalate' && decisionRequest(waiting, choice) !== undefined,
  );
  if (choices.length === 0 || readOnly !== undefined) return null;
  return waiting.on === 'operator' ? (
    <Buttons waiting={waiting} choices={choices} />
  ) : (
    <OfAnother waiting={waiting} choices={choices} />
  );
}

interface Choices {
  readonly waiting: Pick<Waiting, 'what' | 'id' | 'waitingId' | 'within' | 'title'>;
  readonly choices: readonly Choice[];
}

function OfAnother({ waiting, choices }: Choices & { readonly waiting: Waiting }) {
  const { path = '', body } = decisionRequest(waiting, choices[0] as Choice) ?? {};
  const { kind, id, waitingId, on } = waiting;
  const judged = useLoaded(
    `${kind}/${id}/${waitingId} ${on}`,
    (signal) => ask<Rehearsal>(`${path}?dryRun=true`, { post: body, signal }),
    { touches: ({ entries }) => entries.some((entry) => entry.kind === kind && entry.id === id) },
  );
  const { value, error } = judged.value;
  if (value?.allowed === true) return <Buttons waiting={waiting} choices={choices} />;
  return (
    <span class="decide">
      <small class="soft" title={value?.refusal?.error ?? error}>
        {value === undefined && error === undefined ? '…' : `${on} decides`}
      </small>
    </span>
  );
}

/** What a dry run answers. */
interface Rehearsal {
  readonly allowed: boolean;
  readonly refusal?: { readonly error: string };
}

/** A connector that fails is tried again at once, instead of when its time has come. */
export const TryConnector = ({ name }: { readonly name: string }) =>
  readOnly === undefined ? (
    <Buttons
      waiting={{ what: 'connector', id: name, waitingId: 'link', title: name }}
      choices={['approve']}
    />
  ) : null;

/** A halted actor takes events again. */
export function Resume({ actor }: { readonly actor: ActorKey }) {
  const { message, busy, attempt } = useAction();
  if (readOnly !== undefined) return null;
  return (
    <span class="decide">
      <button
        type="button"
        disabled={busy}
        onClick={() => void attempt(() => ask(actorPath(actor, '/resume'), { post: {} }))}
      >
        Resume
      </button>
      {message !== '' && (
        <small class="bad" role="alert">
          {message}
        </small>
      )}
    </span>
  );
}

function Buttons({ waiting, choices }: Choices) {
  const { message, busy, attempt } = useAction();
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
        .filter((choice) => !(isProgram && choice === 'approve'))
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
    <Panel name="own-waiting" title="It waits" class="gate-panel">
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
    </Panel>
  );
}
