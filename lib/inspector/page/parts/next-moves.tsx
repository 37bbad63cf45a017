import { readOnly } from '../../../page/base.js';
import { useSignal } from '@preact/signals';
import { EventForm } from './event-form.js';
import { readable } from './step.js';
import { Panel } from '../../../page/parts/panel.js';
import { To } from '../../../page/parts/to.js';
import type { WhyAnswer } from '../../answers.js';
import type { ActorKey } from '../../../../machines/outputs.js';

type Move = WhyAnswer['next'][number];

/**
 * Possible next events and what stands in the way of the rest. What the kind opens to people can be sent from
 * here.
 */
export function NextMoves({
  actor,
  halted,
  why,
  error,
}: {
  readonly actor: ActorKey;
  readonly halted: boolean;
  readonly why: WhyAnswer | undefined;
  readonly error: string | undefined;
}) {
  const sending = useSignal<string | undefined>(undefined);
  const own = why?.next.filter(({ event }) => !event.startsWith('xstate.')) ?? [];
  const allowed = own.filter((move) => move.allowed).sort((a, b) => Number(b.sendable) - Number(a.sendable));
  const refused = own.filter((move) => !move.allowed);
  return (
    <Panel name="next" title="Possible next events" error={error}>
      {why === undefined ? (
        <p class="soft">Loading …</p>
      ) : own.length === 0 ? (
        <p class="empty">Nothing: the actor has finished.</p>
      ) : null}
      {readOnly !== undefined && <p class="soft small">Nothing can be sent from here: {readOnly}</p>}
      {halted && <p class="soft small">It is halted: nothing can be sent until it is resumed.</p>}
      <ul class="moves">
        {allowed.map((move) => (
          <li key={keyOf(move)} data-event={move.event} data-to={move.to?.join(' ')} class="may">
            <Named move={move} />
            {move.sendable && readOnly === undefined && (
              <button
                type="button"
                aria-expanded={sending.value === keyOf(move)}
                onClick={() => {
                  sending.value = sending.value === keyOf(move) ? undefined : keyOf(move);
                }}
              >
                Send
              </button>
            )}
            {move.sendable && sending.value === keyOf(move) && (
              <EventForm
                actor={actor}
                move={move}
                done={() => {
                  sending.value = undefined;
                }}
              />
            )}
          </li>
        ))}
      </ul>
      {!halted && readOnly === undefined && allowed.some(({ sendable }) => !sendable) && (
        <p class="soft small">Events without Send come from their own command, another actor or an effect.</p>
      )}
      {refused.length > 0 && (
        <details open={allowed.length === 0}>
          <summary>{refused.length} may not, and why</summary>
          <ul class="moves">
            {refused.map((move) => (
              <li key={keyOf(move)} data-event={move.event} class="may-not">
                <Named move={move} />
                <b class="state bad">{move.refusal?.code}</b>
                <small>{move.refusal?.message}</small>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Panel>
  );
}

const Named = ({ move: { event, to = [] } }: { readonly move: Move }) => (
  <>
    <span class="event">{readable(event)}</span>
    {to.length > 0 && (
      <span class="move">
        <To /> {to.join(', ')}
      </span>
    )}
  </>
);

const keyOf = ({ event, to }: Move): string => `${event} ${to?.join(' ') ?? ''}`;
