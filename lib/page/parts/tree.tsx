import { useSignal } from '@preact/signals';
import type { Json } from '../../../machines/outputs.js';

/**
 * A value as a tree that opens and closes: only what is open is in the page, and long lists come a hundred at
 * a time.
 */
export function Tree({
  value,
  label,
  depth = 1,
}: {
  readonly value: Json;
  readonly label: string;
  readonly depth?: number;
}) {
  return (
    <ul class="tree" aria-label={label}>
      {membersOf(value).map(([name, inner]) => (
        <Node key={name} name={name} value={inner} open={depth} />
      ))}
      {membersOf(value).length === 0 && <li class="soft">nothing</li>}
    </ul>
  );
}

function Node({ name, value, open }: { readonly name: string; readonly value: Json; readonly open: number }) {
  const opened = useSignal(open > 0 && sizeOf(value) <= 12);
  const shown = useSignal(100);
  if (typeof value !== 'object' || value === null)
    return (
      <li>
        <span class="name">{name}</span> <Leaf value={value} />
      </li>
    );
  const members = opened.value ? membersOf(value) : [];
  const size = sizeOf(value);
  if (size === 0)
    return (
      <li>
        <span class="name">{name}</span> <span class="soft">{Array.isArray(value) ? '[ ]' : '{ }'}</span>
      </li>
    );
  return (
    <li>
      <button
        type="button"
        class="twist"
        aria-expanded={opened.value}
        onClick={() => {
          opened.value = !opened.value;
        }}
      >
        <span class="name">{name}</span>{' '}
        <span class="soft">{Array.isArray(value) ? `[${size}]` : `{${size}}`}</span>
      </button>
      {opened.value && (
        <ul>
          {members.slice(0, shown.value).map(([key, inner]) => (
            <Node key={key} name={key} value={inner} open={open - 1} />
          ))}
          {members.length > shown.value && (
            <li>
              <button
                type="button"
                class="quiet"
                onClick={() => {
                  shown.value += 100;
                }}
              >
                {members.length - shown.value} more
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

/** A single value. What the gateway blacked out is said to be hidden, and not mistaken for dots. */
export function Leaf({ value }: { readonly value: Json }) {
  if (typeof value === 'string') {
    if (value === '••••')
      return (
        <span class="leaf hidden" title="A secret, blacked out by the gateway">
          hidden
        </span>
      );
    return (
      <span class="leaf text">
        {value === '' ? '""' : value.length > 2_000 ? `${value.slice(0, 2_000)}…` : value}
      </span>
    );
  }
  if (typeof value === 'number' && value > 1_500_000_000_000 && value < 4_000_000_000_000)
    return (
      <span class="leaf" title={String(value)}>
        {new Date(value).toISOString().replace('T', ' ').slice(0, 19)}
      </span>
    );
  return <span class="leaf">{String(value)}</span>;
}

const sizeOf = (value: Json): number =>
  typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
const membersOf = (value: Json): readonly (readonly [string, Json])[] =>
  typeof value === 'object' && value !== null ? (Object.entries(value) as (readonly [string, Json])[]) : [];
