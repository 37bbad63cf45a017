import { useMemo } from 'preact/hooks';
import { timeOfDay } from '../../../page/clock.js';
import { linkTo } from '../place.js';
import type { Steps } from '../steps.js';
import { Step } from './step.js';
import { To } from '../../../page/parts/to.js';
import { Leaf, Tree } from '../../../page/parts/tree.js';
import type { InspectEntry } from '../../frames.js';
import type { Json } from '../../../../machines/outputs.js';

/** What happened to an actor, newest first, and what each step changed. A click goes back to that moment. */
export function History({
  steps: { entries, error, whole, busy },
  earlier,
  at,
  travel,
}: {
  readonly steps: Steps;
  readonly earlier: () => void;
  readonly at: number | undefined;
  readonly travel: (seq: number | undefined) => void;
}) {
  const before = useMemo(() => valuesBefore(entries), [entries]);
  const steps = `${whole ? '' : 'the last '}${entries.length} ${entries.length === 1 ? 'step' : 'steps'}`;
  const current = at === undefined ? entries[0]?.seq : entries.find(({ seq }) => seq <= at)?.seq;
  return (
    <section class="panel" aria-labelledby="history-title">
      <h2 id="history-title">
        History
        <span class="soft">{steps}</span>
      </h2>
      {error !== undefined && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
      <ol class="history">
        {entries.map((entry) => (
          <li
            key={entry.seq}
            data-seq={entry.seq}
            class={entry.seq === current ? 'at' : at !== undefined && entry.seq > at ? 'later' : ''}
          >
            <button
              type="button"
              class="when"
              aria-current={entry.seq === current ? 'step' : undefined}
              onClick={() => travel(entry.seq)}
              aria-label={`Go to ${entry.seq}`}
              title={`Go to ${entry.seq}`}
            >
              <span class="num">{entry.seq}</span>
            </button>
            <div class="what">
              <Step entry={entry} />
              <small>
                <time>{timeOfDay(entry.at)}</time> by {entry.by}
                {entry.cause !== null && (
                  <>
                    ,{' '}
                    <a href={linkTo({ view: 'time', at: entry.seq })}>
                      because of {typeof entry.cause === 'number' ? `step ${entry.cause}` : entry.cause}
                    </a>
                  </>
                )}
                {entry.effects.length > 0 && (
                  <>
                    ,{' '}
                    {entry.effects
                      .map((name) => (name.startsWith('-') ? `left ${name.slice(1)}` : `started ${name}`))
                      .join(', ')}
                  </>
                )}
              </small>
              <Details entry={entry} before={before.get(entry.seq)} />
            </div>
          </li>
        ))}
      </ol>
      {!whole && (
        <button type="button" class="earlier" onClick={earlier} aria-disabled={busy}>
          {busy ? 'Loading …' : 'Earlier steps'}
        </button>
      )}
    </section>
  );
}

type Values = Readonly<Record<string, Json>>;

/** What the members that a step set were before it, by its position: as far as the steps at hand tell. */
function valuesBefore(entries: readonly InspectEntry[]): ReadonlyMap<number, Values> {
  const now = new Map<string, Json>();
  const before = new Map<number, Values>();
  for (const { seq, diff } of [...entries].reverse()) {
    const touched = [...Object.keys(diff?.set ?? {}), ...(diff?.unset ?? [])];
    before.set(
      seq,
      Object.fromEntries(
        touched.flatMap((name) => {
          const value = now.get(name);
          return value === undefined ? [] : [[name, value]];
        }),
      ),
    );
    for (const [name, value] of Object.entries(diff?.set ?? {})) now.set(name, value);
    for (const name of diff?.unset ?? []) now.delete(name);
  }
  return before;
}

function Details({
  entry: { diff, event },
  before = {},
}: {
  readonly entry: InspectEntry;
  readonly before: Values | undefined;
}) {
  const set = Object.entries(diff?.set ?? {});
  const unset = diff?.unset ?? [];
  const { type: _type, ...members } = event;
  if (set.length + unset.length === 0 && Object.keys(members).length === 0) return null;
  return (
    <details>
      <summary>
        {set.length + unset.length === 0
          ? 'event'
          : diff?.whole
            ? 'all of its context'
            : `${set.length + unset.length} changed`}
      </summary>
      {set.length > 0 && (
        <ul class="diff" aria-label="Changed">
          {set.map(([name, value]) => (
            <li key={name} class="set">
              <span class="name">{name}</span>
              {isLeaf(before[name]) && (
                <>
                  <del>
                    <Leaf value={before[name] ?? null} />
                  </del>
                  <To says="became" />
                </>
              )}
              {typeof value === 'object' && value !== null ? (
                <Tree value={value} label={name} depth={0} />
              ) : (
                <Leaf value={value} />
              )}
            </li>
          ))}
        </ul>
      )}
      {unset.length > 0 && (
        <ul class="diff" aria-label="Gone">
          {unset.map((name) => (
            <li key={name} class="unset">
              <s class="name">{name}</s>
              {isLeaf(before[name]) && (
                <del>
                  <Leaf value={before[name] ?? null} />
                </del>
              )}
            </li>
          ))}
        </ul>
      )}
      {Object.keys(members).length > 0 && (
        <>
          <h3>Event</h3>
          <Tree value={members as Json} label="Event" depth={1} />
        </>
      )}
    </details>
  );
}

const isLeaf = (value: Json | undefined): boolean =>
  value !== undefined && (typeof value !== 'object' || value === null);
