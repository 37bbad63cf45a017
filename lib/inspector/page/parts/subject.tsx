import { now, span } from '../../../page/clock.js';
import type { Waiting } from '../attention.js';
import { useLoaded } from '../live.js';
import { readSubject } from '../subject.js';
import { Cause } from './cause.js';

/** What a decision is about, where its buttons are: the command, the request, the folder, what it has cost. */
export function SubjectOf({ thing }: { readonly thing: Waiting }) {
  const { kind, id, waitingId, what } = thing;
  const key = `${kind}/${id}/${waitingId}/${what}/${thing.since}`; // asked again: perhaps something else
  const loaded = useLoaded(key, (signal) => readSubject(thing, signal), {
    // What was asked stays as it was decided, in a row that keeps its place
    touches: ({ entries }) =>
      triesAgain.has(what) && entries.some((entry) => entry.kind === kind && entry.id === id),
  });
  const { value, error } = loaded.value;
  if (value === undefined) return <Cause text={error ?? ''} isBad={error !== undefined} />;
  const { text, isCode, facts, nextTry } = value;
  return (
    <Cause text={text} isCode={isCode === true}>
      {facts.map(([name, said]) => (
        <span key={name}>
          <b>{name}</b> {said}
        </span>
      ))}
      {nextTry != null && (
        <span>
          <b>next try</b> {nextTry > now.value ? `in ${span(nextTry - now.value)}` : 'now'}
        </span>
      )}
    </Cause>
  );
}

const triesAgain: ReadonlySet<string> = new Set(['connector', 'notification']);
