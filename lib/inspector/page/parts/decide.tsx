import { readOnly } from '../../../page/base.js';
import { report, useAction } from '../../../page/action.js';
import { actorPath, ask } from '../../../page/ask.js';
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { choicesOf, decisionRequest, wordsOf, type Choice } from '../../../client/decision.js';
import { now, span } from '../../../page/clock.js';
import { attention, keyOfWaiting, type Waiting } from '../attention.js';
import { decide, withdraw, type Decidable, type HeldDecision } from '../deciding.js';
import { keyOf } from '../stuck.js';
import { Panel } from '../../../page/parts/panel.js';
import { useLoaded } from '../live.js';
import { wordsOfState } from '../problems.js';
import { Fault, OutcomeLine } from './outcome-line.js';
import { SubjectOf } from './subject.js';
import type { ActorKey } from '../../../../machines/outputs.js';

/**
 * Yes or no to what an actor waits for, wherever that is shown. What waits on another than the viewer is offered only
 * where the gateway says in a dry run that the viewer may decide it too; else it says whose it is.
 */
export function Decide({ waiting, note }: { readonly waiting: Waiting; readonly note?: string }) {
  const choices = choicesOf(waiting).filter(
    (choice) => choice !== 'escalate' && decisionRequest(waiting, choice) !== undefined,
  );
  if (choices.length === 0 || readOnly !== undefined) return null;
  return waiting.on === 'operator' ? (
    <Buttons waiting={waiting} choices={choices} note={note} />
  ) : (
    <OfAnother waiting={waiting} choices={choices} note={note} />
  );
}

interface Choices {
  readonly waiting: Decidable & { readonly held?: Waiting['held'] };
  readonly choices: readonly Choice[];
  /** What the person says to it. */
  readonly note?: string | undefined;
}

function OfAnother({ waiting, choices, note }: Choices & { readonly waiting: Waiting }) {
  const { path = '', body } = decisionRequest(waiting, choices[0] as Choice) ?? {};
  const { kind, id, waitingId, on } = waiting;
  const judged = useLoaded(
    `${kind}/${id}/${waitingId} ${on}`,
    (signal) => ask<Rehearsal>(`${path}?dryRun=true`, { post: body, signal }),
    { touches: ({ entries }) => entries.some((entry) => entry.kind === kind && entry.id === id) },
  );
  const { value, error } = judged.value;
  const wasAllowed = useRef(false);
  wasAllowed.current ||= value?.allowed === true; // while it is carried out there is nothing left to be allowed
  if (wasAllowed.current) return <Buttons waiting={waiting} choices={choices} note={note} />;
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

/** A connector that fails is tried again at once, instead of when its time has come. What came of it stays a moment. */
export function TryConnector({ name, isFailing }: { readonly name: string; readonly isFailing: boolean }) {
  if (readOnly !== undefined) return null;
  const waiting = { kind: 'connector', what: 'connector', id: name, waitingId: 'link', title: name };
  return <Buttons waiting={waiting} choices={isFailing ? ['approve'] : []} />;
}

/** A turn that is quiet is ended where its silence is shown. */
export const StopTurn = ({ actor }: { readonly actor: ActorKey }) => (
  <Press
    actor={actor}
    word="Stop the turn"
    path="/send"
    body={{ event: { type: 'session.stop' } }}
    about="At once, without undo; messages that wait in its queue are cancelled too."
    outcome="The turn is stopped. What it did stays; what waited is cancelled. A message begins a new turn."
  />
);

/** A halted actor takes events again. */
export const Resume = ({ actor }: { readonly actor: ActorKey }) => (
  <Press
    actor={actor}
    word="Resume"
    path="/resume"
    body={{}}
    about="At once, without undo; if it fails again it halts again."
    outcome="Resumed: it takes events again. If it fails again it halts again."
  />
);

/** A button that does one thing to an actor. What it came to is reported under the actor. */
function Press({
  actor,
  word,
  path,
  body,
  about,
  outcome,
}: {
  readonly actor: ActorKey;
  readonly word: string;
  readonly path: string;
  readonly body: object;
  /** Whether it can be taken back, said before it is pressed. */
  readonly about: string;
  readonly outcome: string;
}) {
  const { message, busy, attempt } = useAction();
  if (readOnly !== undefined) return null;
  const press = async (): Promise<void> => {
    await ask(actorPath(actor, path), { post: body });
    report(keyOf(actor), outcome);
  };
  return (
    <span class="decide">
      <button type="button" disabled={busy} onClick={() => void attempt(press)}>
        {word}
      </button>
      {message === '' ? <OutcomeLine of={keyOf(actor)} otherwise={about} /> : <Fault message={message} />}
    </span>
  );
}

/** Where the viewer is known to be allowed to: the choices, what is held, and what they came to. */
export function Buttons({ waiting, choices, note }: Choices) {
  const { message, busy, attempt } = useAction();
  const made = useSignal<HeldDecision | undefined>(undefined);
  const { held } = waiting;
  // Until the list is read again it does not know of it
  const isHeld = held ?? (made.value && { ...made.value, decisionId: made.value.id });
  if (isHeld !== undefined && Date.parse(isHeld.until) > now.value - heldMs)
    return (
      <span class="decide" data-held>
        <span class="num">
          {wordsOf(waiting, isHeld.decision)[0]} in {span(Date.parse(isHeld.until) - now.value + 999)}
        </span>
        <button
          type="button"
          disabled={busy}
          aria-label={`Undo: ${waiting.title}`}
          onClick={() =>
            void attempt(async () => {
              await withdraw(isHeld.decisionId);
              made.value = undefined;
              report(keyOfWaiting(waiting), 'Undone: nothing was decided.');
            })
          }
        >
          Undo
        </button>
        <Fault message={message} />
      </span>
    );
  // What is shown here is cut, and follows every change: only the console shows a whole program and keeps its hash
  const isProgram = waiting.what === 'activation';
  const isFinal = attention.value?.holds !== true && !harmless.has(waiting.what);
  const about = isFinal ? 'At once, without undo.' : '';
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
            onClick={() =>
              void attempt(async () => {
                made.value = await decide(waiting, choice, note);
              })
            }
          >
            {word}
          </button>
        ))}
      {isProgram && <a href="/#/inbox">Read it, then approve</a>}
      {message === '' ? (
        <OutcomeLine of={keyOfWaiting(waiting)} otherwise={busy ? 'Sent …' : about} />
      ) : (
        <small class="bad" role="alert">
          {message}
        </small>
      )}
    </span>
  );
}

/** What only tries again can be tried at any time. */
const harmless: ReadonlySet<string> = new Set(['connector', 'notification', 'activation']);

/** Its time is over, and it is being carried out. */
const heldMs = 2_000;

/** What this one actor waits for, with the decision in place. */
export function OwnWaiting({ actor }: { readonly actor: ActorKey }) {
  const own = attention.value?.waiting.filter(({ kind, id }) => kind === actor.kind && id === actor.id) ?? [];
  if (own.length === 0) return null;
  return (
    <Panel name="own-waiting" title="It waits" class="gate-panel">
      <ul class="facts">
        {own.map((waiting) => (
          <li key={waiting.waitingId}>
            <b>{wordsOfState(waiting.what)}</b>
            <span class="soft">
              on {waiting.on}: {waiting.title}
            </span>
            <SubjectOf thing={waiting} />
            <span class="end">
              <Decide waiting={waiting} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
