import type { Json } from '../../machines/outputs.js';
import { runVersion1 } from '../fixtures/run-version-1.js';
import type { Census } from './quiet.js';
import type { Reading } from './reading.js';

/**
 * What builds since 0.1 show otherwise on purpose: each change of a kind that shows in what is read of old homes has
 * its line here, and nothing else may differ.
 */

/** Session 2: the four resting states moved into one around them. Sleeping actors keep the old names until they wake. */
const state = (name: string): string => name.replace(/^(session )?resting\./, '$1');

/** A census in the names of 0.1. */
export function censusOf01(census: Census): Census {
  const counted: Record<string, number> = {};
  for (const [name, count] of Object.entries(census))
    counted[state(name)] = (counted[state(name)] ?? 0) + count;
  return counted;
}

/** Kinds that the build which made the home did not know: nothing of them was expected. */
export function newKinds(expected: Reading): ReadonlySet<string> {
  const { body } = expected['/api/inspect/fleet'] as {
    readonly body: { readonly kinds: readonly { readonly kind: string }[] };
  };
  const known = new Set(body.kinds.map(({ kind }) => kind));
  return new Set(['notifier', 'held-decision', 'worker'].filter((kind) => !known.has(kind)));
}

/** A reading in the names of 0.1, without what is shown of `added` kinds. */
export function readingOf01(reading: Reading, added: ReadonlySet<string>): Reading {
  const text = JSON.stringify(reading).replaceAll(/\{"resting":("\w+")\}/g, '$1');
  return JSON.parse(text, (name, value: unknown) =>
    name === 'states' && typeof value === 'object'
      ? censusOf01(value as Census)
      : name === 'retentionHeldMs' || name === 'confinement' || added.has(pageOf(name))
        ? undefined // how long the machine took over it, and what it can confine (as \`sandbox\`)
        : name === 'sandbox'
          ? askedOf(value)
          : name === 'view'
            ? viewOf01(value)
            : name === 'normalizedPreview'
              ? placesOf(value)
              : name === 'perGroup'
                ? 50 // whatever `limit` was asked for
                : asShownNow(runOf01(withoutGate(besideRun(movesOf01(value)))), added),
  ) as Reading;
}

/** Of which kind an address is the first page. */
const pageOf = (address: string): string =>
  /^\/api\/inspect\/actors\?kind=([a-z-]+)&limit=100$/.exec(address)?.[1] ?? '';

/** Which sandbox a turn gets that begins at the opening is up to the machine; which was asked for is not. */
function askedOf(sandbox: unknown): unknown {
  const { asked } = (sandbox ?? {}) as Readonly<Record<string, unknown>>;
  return asked === undefined ? sandbox : { asked };
}

/** What may be done with a work item was a list of `deeds`. */
function movesOf01(value: unknown): unknown {
  const { operations, ...rest } = (value ?? {}) as {
    readonly operations?: readonly { readonly operation?: string }[];
  };
  if (!Array.isArray(operations) || !('moves' in rest)) return value;
  return { ...rest, deeds: operations.map(({ operation, ...judged }) => ({ deed: operation, ...judged })) };
}

/** Sessions of a run's steps stand beneath it in the inspector; they stood beside it. */
function besideRun(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { kind, parent, children } = value as Readonly<Record<string, unknown>>;
  if (kind === 'workflow-run' && Array.isArray(children)) return { ...value, children: [] };
  const { kind: above } = (parent ?? {}) as Readonly<Record<string, unknown>>;
  return kind === 'session' && above === 'workflow-run' ? { ...value, parent: null } : value;
}

/** What the inspector shows of a run names its steps as such. */
function viewOf01(view: unknown): unknown {
  const { runId, steps, ...rest } = (view ?? {}) as Readonly<Record<string, unknown>>;
  return runId === undefined || steps === undefined ? view : { runId, spots: steps, ...rest };
}

/**
 * What existing clients read otherwise: triggers are no steps of a run, its trigger always names an event, and rows of
 * work items name their session as a reference.
 */
function asShownNow(value: unknown, added: ReadonlySet<string>): unknown {
  if (Array.isArray(value))
    return value.filter((one: unknown) => {
      if (one === 'queue.move') return false; // an operator could not send it
      const { kind, id, nodeId, type, receipt, attempt } = (one ?? {}) as Readonly<Record<string, unknown>>;
      if (typeof kind === 'string' && added.has(kind)) return false; // there were none
      if (kind === 'workflow' && id === 'unwritable') return false; // tries again each minute
      return !(typeof nodeId === 'string' && type === 'trigger' && (receipt ?? attempt) !== undefined);
    });
  const { event, source, fireRef, sessionRef, createdAt } = (value ?? {}) as Readonly<
    Record<string, unknown>
  >;
  if (event === null && typeof source === 'string' && fireRef !== undefined)
    return { ...(value as object), event: source };
  return typeof sessionRef === 'string' && createdAt === undefined
    ? { ...(value as object), sessionRef: { sessionId: sessionRef, ref: `session:${sessionRef}` } }
    : value;
}

/** The preview of a plan is the whole definition; once it was the places of its nodes. */
function placesOf(preview: unknown): unknown {
  const { nodes } = preview as { readonly nodes: object };
  return Array.isArray(nodes)
    ? {
        nodes: Object.fromEntries(
          nodes.map(({ id, position }: Json & { id: string; position: Json }) => [id, position]),
        ),
      }
    : preview;
}

/** Workflow run 2: its status is its state, its steps are machines; both once stood in the context by other names. */
function runOf01(value: unknown): unknown {
  const { value: state, context } = (value ?? {}) as {
    readonly value?: Json;
    readonly context?: Record<string, Json>;
  };
  if (context?.['edgeStates'] === undefined || state === undefined) return value;
  return { ...(value as object), context: runVersion1(state, context).context };
}

/** A step that has left its gate says no more which it was: version 1 did so where it was rejected. */
function withoutGate(value: unknown): unknown {
  const { status, round, gate, ...rest } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof gate === 'number' && round !== undefined && status !== 'parked'
    ? { status, round, ...rest }
    : value;
}

/** Versions of kinds rise. */
const rising = new Set(['version']);

/**
 * Where an answer is not what was expected, as sentences. Members that later builds added are welcome; an element
 * more or less in a list is not.
 */
export function differences(expected: unknown, found: unknown, where: string): readonly string[] {
  if (typeof expected !== 'object' || expected === null || typeof found !== 'object' || found === null)
    return Object.is(expected, found)
      ? []
      : [
          `${where}: ${JSON.stringify(expected)?.slice(0, 200)} became ${JSON.stringify(found)?.slice(0, 200)}`,
        ];
  // In which order an instance lists its kinds says nothing.
  if (where === '/api/inspect/supervision body kinds')
    return differences(byKind(expected), byKind(found), `${where} by name`);
  // Nor does the order of connectors and engines.
  if (where === circuits) return differences(byCircuit(expected), byCircuit(found), `${where} by name`);
  if (Array.isArray(expected) && expected.length !== (found as readonly unknown[]).length)
    return [`${where}: ${expected.length} elements became ${(found as readonly unknown[]).length}`];
  const members = found as Readonly<Record<string, unknown>>;
  // A refusal is its code; its sentence is written for people, made at each answer, and may be bettered.
  const { code } = expected as { readonly code?: unknown };
  const sameRefusal = typeof code === 'string' && code === members['code'];
  return Object.entries(expected).flatMap(([name, value]) =>
    (sameRefusal && name === 'reason' && typeof members[name] === 'string') ||
    (name === 'reason' && where.startsWith(circuits) && isLonger(members[name], value)) ||
    (rising.has(name) && where.startsWith('/api/inspect/') && Number(members[name]) >= Number(value))
      ? []
      : differences(value, members[name], `${where} ${name}`),
  );
}

const circuits = '/api/inspect/supervision body circuits';
/** Why an engine is not there is said at each answer, since 0.1 with what repairs it. */
const isLonger = (found: unknown, expected: unknown): boolean =>
  typeof found === 'string' && typeof expected === 'string' && found.startsWith(`${expected} `);

const byKind = (kinds: object): object =>
  Object.fromEntries((kinds as readonly { readonly kind: string }[]).map((one) => [one.kind, one]));

const byCircuit = (circuits: object): object =>
  Object.fromEntries(
    (circuits as readonly { readonly type: string; readonly name: string }[]).map((one) => [
      `${one.type} ${one.name}`,
      one,
    ]),
  );
