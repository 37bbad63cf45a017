import { useEffect } from 'preact/hooks';
import { now } from '../../../page/clock.js';
import { attention } from '../attention.js';
import { Filters } from '../parts/problem-filters.js';
import { ProblemTable } from '../parts/problem-table.js';
import { linkTo, type WaitingPlace } from '../place.js';
import { isMore, problems, problemsInWords, shownAt } from '../problems.js';
import { stuck, stuckError } from '../stuck.js';

/**
 * What is stuck, and why: everything that does not go on, longest first, with its cause and what ends it. What of it is
 * shown stands in the address; how far one had read survives the way back.
 */
export function WaitingPage({ at }: { readonly at: WaitingPlace }) {
  useEffect(() => {
    scrollTo({ top: scrolled });
    return () => {
      scrolled = scrollY;
    };
  }, []);
  const all = problems.value;
  const found = all === undefined ? [] : shownAt(at, all, now.value);
  return (
    <section class="view" aria-labelledby="waiting-title">
      <div class="heading">
        <h1 id="waiting-title">Waiting</h1>
        <p class="soft">
          {all === undefined ? 'Loading …' : all.length === 0 ? 'Nothing is stuck' : problemsInWords.value}
        </p>
      </div>
      {[attention.value?.error, stuckError.value].map(
        (error, n) =>
          error !== undefined && (
            <p key={n} class="notice bad" role="alert">
              {error}
            </p>
          ),
      )}
      {all !== undefined && <Filters at={at} all={all} found={found.length} />}
      {all !== undefined && isMore.value && <More />}
      {all !== undefined && <ProblemTable at={at} found={found} isAny={all.length > 0} />}
    </section>
  );
}

/** What is not in the list, how much of it there is, and where all of it stands. */
function More() {
  const { more = [] } = stuck.value ?? {};
  return (
    <ul class="notice">
      {more.map(({ kind, state, read, count }) => (
        <li key={kind + state}>
          <a href={linkTo({ view: 'fleet', kind, state })}>
            {count} of {kind} in {state}
          </a>
          : {read} are read.
        </li>
      ))}
    </ul>
  );
}

let scrolled = 0;
