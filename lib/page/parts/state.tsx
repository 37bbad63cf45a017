import { stateNames } from '../../../machines/state-names.js';
import type { Json } from '../../../machines/outputs.js';

/** A state as a word with a colour. The colour only repeats what the word says. */
export function State({ value, halted = false }: { readonly value: Json; readonly halted?: boolean }) {
  const names = shown(value);
  return (
    <span class="states">
      {halted && <b class="state bad">halted</b>}
      {names.map((name) => (
        <b key={name} class={`state ${tone(name)}`}>
          <Name path={name} />
        </b>
      ))}
    </span>
  );
}

/** The region of a state is written smaller: what counts is where in it the actor stands. */
export function Name({ path }: { readonly path: string }) {
  const end = path.lastIndexOf('.') + 1;
  return (
    <span class="path">
      {end > 0 && <i>{path.slice(0, end - 1).replaceAll('.', ' ')} </i>}
      {path.slice(end)}
    </span>
  );
}

/** Regions that rest say little: `approval.none` is left out where something else is there to be said. */
function shown(value: Json): readonly string[] {
  const names = stateNames(value);
  const speaking = names.filter((name) => !/\.(?:none|idle|off)$/.test(name));
  return speaking.length > 0 ? [...speaking].reverse() : names;
}

export type Tone = 'busy' | 'wait' | 'bad' | 'done' | 'rest';

/** What a state means to who looks, read from its last word. */
export function tone(name: string): Tone {
  const word = name.split('.').at(-1) ?? '';
  if (/^(?:error|failed|halted|rejected|unwell|damaged|blocked|interrupted|expired|refused|dead)/i.test(word))
    return 'bad';
  if (
    /^(?:wait|parked|pending|queued|paused|review|scheduled|backing|starting|half|asking|held|gate)/i.test(
      word,
    )
  )
    return 'wait';
  if (
    /^(?:running|execut|active|working|busy|sending|opening|probing|verifying|planning|deciding|live|started)/i.test(
      word,
    )
  )
    return 'busy';
  if (/^(?:done|completed|succeeded|approved|finished|closed|sent|archived|delivered)/i.test(word))
    return 'done';
  return 'rest';
}
