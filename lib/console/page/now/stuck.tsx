import type { ActorSummary } from '../../../inspector/answers.js';
import type { Stuck as StuckAnswer } from '../../../inspector/stuck-answer.js';
import { ask } from '../../../page/ask.js';
import { now, span, whole } from '../../../page/clock.js';
import { useLoaded } from '../live.js';
import { waiting } from '../waiting.js';
import { Count, linkOf, More, rowsMax } from './rows.js';

/** What does not go on by itself, and is not listed under *Needs you*. */
export interface StuckList {
  readonly rows: readonly StuckRow[];
  /** Of all, however many rows were read. */
  readonly total: number;
  readonly deadLetters: number;
}

interface StuckRow {
  readonly key: string;
  readonly word: string;
  readonly title: string;
  readonly href: string;
  readonly since: number;
}

/** The inspector's own index of what is stuck: it counts all, and reads the 50 longest of each state. */
export function useStuck(): { readonly list: StuckList | undefined; readonly error: string | undefined } {
  const loaded = useLoaded('stuck', (signal) => ask<StuckAnswer>('/api/inspect/stuck', { signal }), {
    touches: ({ frames }) => frames.some(({ event }) => !/^session:(?:delta|notification)/.test(event)),
    everyMs: 30_000, // actors that halt and events that become dead letters are named by no frame
    restMs: 1_000,
  });
  const { value, error } = loaded.value;
  return { list: value === undefined ? undefined : listOf(value), error };
}

function listOf({ stopped, slow, more, deadLettersCount }: StuckAnswer): StuckList {
  const needed = new Set(waiting.value?.map(({ kind, id }) => `${kind}/${id}`));
  const rows = [
    ...stopped.map((actor) => rowOf(actor, stoppedWord(actor), actor.halted?.at ?? actor.since)),
    ...slow
      .filter(({ why }) => why !== 'long') // at work for long is no standstill
      .map((actor) => rowOf(actor, actor.why === 'queued' ? 'queued' : 'silent', actor.slowSince)),
  ]
    .filter(({ key }) => !needed.has(key))
    .sort((one, other) => one.since - other.since);
  const unread = more
    .filter(({ state }) => stopping.test(state))
    .reduce((sum, { count, read }) => sum + count - read, 0);
  return { rows, total: rows.length + unread + deadLettersCount, deadLetters: deadLettersCount };
}

const stopping = /(?:^|\.)(?:error|blocked|interrupted|failed|escalated|halted)$/;

const rowOf = (actor: ActorSummary, word: string, since: number): StuckRow => ({
  key: `${actor.kind}/${actor.id}`,
  word,
  title: actor.title ?? actor.id,
  href: linkOf(actor),
  since,
});

function stoppedWord({ value, halted }: ActorSummary): string {
  if (halted !== null) return 'halted';
  return /blocked|interrupted|escalated/.exec(JSON.stringify(value))?.[0] ?? 'failed';
}

export function Stuck({ list, error }: ReturnType<typeof useStuck>) {
  const shown = list?.rows.slice(0, rowsMax) ?? [];
  const letters = list?.deadLetters ?? 0;
  return (
    <section class="panel" aria-labelledby="stuck-title">
      <h2 id="stuck-title">
        Stuck <Count of={list?.total} />
      </h2>
      {error !== undefined && <p class="bad small">{error}</p>}
      {list?.total === 0 && <p class="empty">Nothing is blocked, has failed or was cut off.</p>}
      <ul class="rows">
        {shown.map(({ key, word, title, href, since }) => (
          <li key={key}>
            <a href={href}>
              <b class={`state ${word === 'queued' || word === 'silent' ? 'wait' : 'bad'}`}>{word}</b>
              <span class="title clip">{title}</span>
              <span class="soft num end">for {span(now.value - since)}</span>
            </a>
          </li>
        ))}
        {letters > 0 && (
          <li>
            <a href={everything}>
              <b class="state bad">dead letters</b>
              <span class="title clip">
                {letters === 1 ? 'One event' : `${whole(letters)} events`} that an actor failed to handle
              </span>
            </a>
          </li>
        )}
      </ul>
      <More count={(list?.total ?? 0) - letters - shown.length} href={everything} />
    </section>
  );
}

const everything = '/inspect#/waiting';
