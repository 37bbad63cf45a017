import { moveOf } from '../moves.js';
import type { InspectEntry } from '../../../client/inspector-frames.js';
import { Name, tone } from '../../../page/parts/state.js';
import { To } from '../../../page/parts/to.js';
import { spoken } from '../../../../machines/state-names.js';

/** One step in a line: what happened, and from which state into which, where that changed. */
export function Step({ entry }: { readonly entry: Pick<InspectEntry, 'event' | 'from' | 'to'> }) {
  const { left, entered } = moveOf(entry);
  return (
    <span class="step">
      <span class="event">{readable(entry.event.type)}</span>
      {entered.length > 0 && (
        <span class="move">
          {left.length > 0 && (
            <>
              <span class="soft">{left.join(', ')}</span> <To />{' '}
            </>
          )}
          {entered.map((name) => (
            <b key={name} class={`state ${tone(name)}`}>
              <Name path={name} />
            </b>
          ))}
        </span>
      )}
    </span>
  );
}

/** As the chart words it: `xstate.done.actor.turn` is `turn done`. */
export function readable(type: string): string {
  const after = /^xstate\.after\.([^.]+)\./.exec(type);
  if (after) return `after ${after[1]}`;
  const child = /^xstate\.(done|error)\.actor\.(.+)$/.exec(type);
  if (child) return spoken(`${child[2]} ${child[1] === 'done' ? 'done' : 'failed'}`);
  const ended = /^xstate\.done\.state\.(.+)$/.exec(type);
  if (ended) return spoken(`${ended[1]} ends`);
  if (type === 'kernel.created' || type === 'xstate.init') return 'created';
  return type === 'kernel.dead-letter' ? 'failed at an event' : type;
}
