import { go, type WaitingPlace } from '../place.js';
import { wordsOfState, type Problem } from '../problems.js';

/** By words, state, who and age, over all rows. They are in the address: a link or Back brings the same rows. */
export function Filters({
  at,
  all,
  found,
}: {
  readonly at: WaitingPlace;
  readonly all: readonly Problem[];
  readonly found: number;
}) {
  const { find, state, on, age, by, isDown } = at;
  const choose = (change: { readonly [name in 'find' | 'state' | 'on' | 'age']?: string }): void => {
    const { age: seconds = age === undefined ? '' : String(age), ...rest } = change;
    const chosen = { find: find ?? '', state: state ?? '', on: on ?? '', ...rest };
    const given = Object.entries(chosen).filter(([, value]) => value !== '');
    go(
      {
        view: 'waiting',
        ...Object.fromEntries(given),
        ...(seconds !== '' && { age: Number(seconds) }),
        ...(by !== undefined && { by }),
        ...(isDown === true && { isDown }),
      },
      { replace: true },
    );
  };
  const isFiltered = [find, state, on, age].some((one) => one !== undefined);
  return (
    <form class="filters" role="search" aria-label="Waiting" onSubmit={(event) => event.preventDefault()}>
      <label>
        Find
        <input
          type="search"
          value={find ?? ''}
          placeholder="words of the title, the cause, an id, a kind"
          onInput={(event) => choose({ find: event.currentTarget.value })}
        />
      </label>
      <Choice
        label="State"
        value={state}
        choices={distinct(all, ({ state: one }) => one, state).map((one) => [one, wordsOfState(one)])}
        choose={(value) => choose({ state: value })}
      />
      <Choice
        label="Waits on"
        value={on}
        choices={distinct(all, ({ on: one }) => one, on).map((one) => [one, one])}
        choose={(value) => choose({ on: value })}
      />
      <Choice
        label="For at least"
        value={age === undefined ? undefined : String(age)}
        choices={ages}
        choose={(value) => choose({ age: value })}
      />
      <p class="soft filtered" role="status">
        {isFiltered && (
          <>
            {found} of {all.length}{' '}
            <button
              type="button"
              class="quiet"
              onClick={() => choose({ find: '', state: '', on: '', age: '' })}
            >
              Show all
            </button>
          </>
        )}
      </p>
    </form>
  );
}

function Choice({
  label,
  value = '',
  choices,
  choose,
}: {
  readonly label: string;
  readonly value: string | undefined;
  readonly choices: readonly (readonly [value: string, words: string])[];
  readonly choose: (value: string) => void;
}) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">any</option>
        {choices.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

const ages = [
  ['60', '1 minute'],
  ['900', '15 minutes'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
] as const;

/** What can be chosen: what rows have, and what is chosen though none has it any more. */
const distinct = (
  all: readonly Problem[],
  of: (one: Problem) => string,
  chosen: string | undefined,
): readonly string[] => [...new Set([...all.map(of), ...(chosen === undefined ? [] : [chosen])])].sort();
