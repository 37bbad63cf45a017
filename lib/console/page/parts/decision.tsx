import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useAction } from '../../../page/action.js';
import { now, span } from '../../../page/clock.js';
import { isFocusLost } from '../../../page/keys.js';
import { wordsOf, type Choice } from '../../../client/decision.js';
import { choicesHere, hold } from '../decide.js';
import { hear } from '../live.js';
import { Held } from './held.js';
import { inspectorLink, linkTo } from '../place.js';
import { keyOf, type Waiting } from '../waiting.js';

/** What a thing waits for, as a word before its title. */
const whats: Readonly<Record<string, string>> = {
  permission: 'Tool',
  approval: 'Approval',
  gate: 'Gate',
  activation: 'Activation',
  version: 'Version',
  budget: 'Budget',
  resume: 'Interrupted',
  silent: 'Silent',
  move: 'Escalated',
  delivery: 'Not sent',
  'unknown-delivery': 'Sent?',
  connector: 'Connector',
};
export const whatOf = ({ what }: Waiting): string => whats[what] ?? what;

/** Where the thing that waits is shown whole. */
export function placeOf({ kind, id, within, waitingId }: Waiting): string {
  if (kind === 'session') return linkTo({ view: 'chat', id });
  if (kind === 'work-item') return linkTo({ view: 'item', id });
  if (kind === 'workflow') return linkTo({ view: 'workflow', id });
  if (kind === 'connector' && waitingId !== 'link') return linkTo({ view: 'connectors' });
  if (kind === 'budget') return linkTo({ view: 'cost' });
  if (kind === 'workflow-run' && within !== undefined)
    return `/inspect#/runs/${encodeURIComponent(within)}/${encodeURIComponent(id)}`;
  return inspectorLink(kind, id);
}

/** Since when it waits, and until when at most. */
export function Age({ thing }: { readonly thing: Waiting }) {
  const left = thing.until === null ? undefined : Date.parse(thing.until) - now.value;
  return (
    <span class={`age num${left !== undefined && left < 300_000 ? ' soon' : ''}`}>
      {span(now.value - Date.parse(thing.since))}
      {left !== undefined && <small> · ends in {span(left)}</small>}
    </span>
  );
}

/**
 * The buttons that answer a thing that waits, its note, and what the gateway said. What is decided counts after five
 * seconds, in which it can be withdrawn; was it refused then, that is said where it was decided.
 */
export function Decision({
  thing,
  settled,
  writing = false,
  noteField,
  refuseUnread,
}: {
  readonly thing: Waiting;
  /** It is decided, or held under `decisionId`; `outcome` says so in a sentence. A refusal is a sentence too. */
  readonly settled?: (outcome: string, refused: boolean, decisionId?: string) => void;
  /** The note is open and has the focus. */
  readonly writing?: boolean;
  /** Where the note is written, for who decides without these buttons. */
  readonly noteField?: RefObject<HTMLTextAreaElement | null>;
  /** True where this has come under the finger so lately that no one can have read it; it says so elsewhere. */
  readonly refuseUnread?: () => boolean;
}) {
  const { message, busy, attempt } = useAction();
  const ownField = useRef<HTMLTextAreaElement>(null);
  const note = noteField ?? ownField;
  const usd = useRef<HTMLInputElement>(null);
  const noting = useSignal(false);
  const always = useSignal(false);
  useEffect(() => {
    if (writing) noting.value = true;
  }, [writing]);
  useEffect(() => {
    if (noting.value) note.current?.focus();
  }, [noting.value]);
  const late = useSignal('');
  const key = keyOf(thing);
  useEffect(
    () =>
      hear(({ frames }) => {
        for (const { event, payload } of frames)
          if (
            event === 'decision:refused' &&
            [payload['kind'], payload['id'], payload['waitingId']].join('/') === key
          )
            late.value = `Not decided: ${String(payload['reason'])}`;
      }),
    [key],
  );
  const choices = choicesHere(thing);
  const choose = (choice: Choice): void => {
    if (refuseUnread?.() === true) return;
    void attempt(async () => {
      late.value = '';
      try {
        const made = await hold(thing, choice, {
          note: note.current?.value ?? '',
          ...(usd.current && { usd: Number(usd.current.value) }),
          ...(always.value && { always: true }),
        });
        const word = wordsOf(thing, choice)[made === undefined ? 1 : 0];
        settled?.(`${word}: ${thing.title}`, false, made?.id);
      } catch (error) {
        settled?.(`Not decided: ${error instanceof Error ? error.message : String(error)}`, true);
        throw error;
      }
    });
  };
  const ways = () => (
    <>
      {noting.value && (
        <textarea
          ref={note}
          rows={2}
          maxLength={2_000}
          aria-label={`Note on: ${thing.title}`}
          placeholder="A note that goes with the decision"
        />
      )}
      {thing.what === 'budget' && (
        <label class="inline">
          Dollars more for this month
          <input ref={usd} type="number" min="1" max="100000" step="1" value="10" inputMode="decimal" />
        </label>
      )}
      <p class="ways">
        {choices.map((choice) => (
          <button
            key={choice}
            type="button"
            class={choice === 'approve' ? 'primary' : undefined}
            disabled={busy}
            onClick={() => choose(choice)}
            data-choice={choice}
          >
            {wordsOf(thing, choice)[0]}
          </button>
        ))}
        {choices.length > 0 && !choices.includes('again') && !noting.value && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              noting.value = true;
            }}
          >
            Add a note
          </button>
        )}
        {thing.rule !== undefined && (
          <label class="check">
            <input
              type="checkbox"
              checked={always.value}
              onChange={(event) => {
                always.value = event.currentTarget.checked;
              }}
            />
            always in this session: <code>{thing.rule}</code>
          </label>
        )}
        {!thing.operatorEntitled && (
          <span class="soft">
            {thing.on} decides this, or who stands above. Left undecided it comes to you after a while.
          </span>
        )}
        {thing.operatorEntitled && choices.length === 0 && (
          <a class="button" href={placeOf(thing)}>
            Open to decide
          </a>
        )}
      </p>
      {(message !== '' || late.value !== '') && (
        <p class="bad small" role="alert">
          {message || late.value}
        </p>
      )}
    </>
  );
  const box = useRef<HTMLDivElement>(null);
  const isWithin = useRef(false);
  const isHeld = thing.held !== undefined;
  useLayoutEffect(() => {
    // The button that was pressed has given way to Undo, or Undo to the buttons: the focus goes on there
    if (isWithin.current && isFocusLost()) box.current?.querySelector('button')?.focus();
  }, [isHeld]);
  return (
    <div
      class="decision"
      ref={box}
      onFocusIn={() => {
        isWithin.current = true;
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget !== null) isWithin.current = false;
      }}
    >
      {isHeld ? <Held thing={thing} /> : ways()}
    </div>
  );
}
