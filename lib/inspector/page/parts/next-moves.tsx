import { readOnly } from '../../../page/base.js';
import { useSignal } from '@preact/signals';
import { actorPath, ask, Refused } from '../../../page/ask.js';
import { useAction } from '../../../page/action.js';
import { readable } from './step.js';
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
    <section class="panel" aria-labelledby="next-title">
      <h2 id="next-title">Possible next events</h2>
      {error !== undefined && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
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
              <Sending
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
    </section>
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

function Sending({
  actor,
  move,
  done,
}: {
  readonly actor: ActorKey;
  readonly move: Move;
  readonly done: () => void;
}) {
  const { message, busy, attempt } = useAction();
  const send = (form: HTMLFormElement): Promise<void> =>
    attempt(async () => {
      await sendEvent(
        actor,
        move,
        [...new FormData(form)].map(([name, value]) => [name, String(value)] as const),
      );
      done();
    });
  return (
    <form
      class="sending"
      aria-label={`Send ${readable(move.event)}`}
      onSubmit={(event) => {
        event.preventDefault();
        void send(event.currentTarget);
      }}
    >
      {(move.needs ?? []).map((name) => (
        <label key={name}>
          {name}
          <input name={name} autocomplete="off" />
        </label>
      ))}
      <button type="submit" class="primary" disabled={busy}>
        Send {readable(move.event)}
      </button>
      {message !== '' && (
        <p class="bad" role="alert">
          {message}
        </p>
      )}
    </form>
  );
}

const keyOf = ({ event, to }: Move): string => `${event} ${to?.join(' ') ?? ''}`;

/**
 * Members are sent as the text that was typed; where the gateway wants another type and the text is one, as
 * that.
 */
async function sendEvent(
  actor: ActorKey,
  { event: type, to }: Move,
  members: readonly (readonly [string, string])[],
): Promise<void> {
  const event: Record<string, unknown> = { type };
  for (const [name, text] of members) if (text !== '') event[name] = text;
  for (let tries = 0; ; tries += 1) {
    try {
      await ask(actorPath(actor, '/send'), { post: { event } });
      return;
    } catch (error) {
      const wanted =
        error instanceof Refused && error.status === 400
          ? /^(\S+): must be (?:string|number|boolean|object|array)/.exec(error.message)?.[1]
          : undefined;
      const text = members.find(([name]) => name === wanted)?.[1];
      if (wanted === undefined || tries > members.length + 1) throw error;
      // The same event leads to several states: which one is meant is told by its name
      if (text === undefined && event[wanted] === undefined && to?.length === 1) event[wanted] = to[0];
      else if (text !== undefined && event[wanted] === text) event[wanted] = parsed(text);
      else throw error;
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
