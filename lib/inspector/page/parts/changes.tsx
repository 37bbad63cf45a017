import { useSignal } from '@preact/signals';
import { To } from '../../../page/parts/to.js';
import { Leaf, Tree } from '../../../page/parts/tree.js';
import type { InspectEntry } from '../../../client/inspector-frames.js';
import type { Json } from '../../../../machines/outputs.js';

export type Values = Readonly<Record<string, Json>>;

/** What the members that a step set were before it, by its position: as far as the steps at hand tell. */
export function valuesBefore(entries: readonly InspectEntry[]): ReadonlyMap<number, Values> {
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

/** What a step changed and what its event said; drawn when it is opened. */
export function Details({
  entry: { diff, event },
  before = {},
}: {
  readonly entry: InspectEntry;
  readonly before: Values | undefined;
}) {
  const open = useSignal(false);
  const set = Object.entries(diff?.set ?? {});
  const unset = diff?.unset ?? [];
  const { type: _type, ...members } = event;
  if (set.length + unset.length === 0 && Object.keys(members).length === 0) return null;
  return (
    <details
      onToggle={(event) => {
        open.value = event.currentTarget.open;
      }}
    >
      <summary>
        {set.length + unset.length === 0
          ? 'event'
          : diff?.whole
            ? 'all of its context'
            : `${set.length + unset.length} changed`}
      </summary>
      {open.value && <Changes set={set} unset={unset} members={members as Json} before={before} />}
    </details>
  );
}

function Changes({
  set,
  unset,
  members,
  before,
}: {
  readonly set: readonly (readonly [string, Json])[];
  readonly unset: readonly string[];
  readonly members: Json;
  readonly before: Values;
}) {
  return (
    <>
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
      {Object.keys(members as object).length > 0 && (
        <>
          <p class="soft small">Event</p>
          <Tree value={members} label="Event" depth={1} />
        </>
      )}
    </>
  );
}

const isLeaf = (value: Json | undefined): boolean =>
  value !== undefined && (typeof value !== 'object' || value === null);
