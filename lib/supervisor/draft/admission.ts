import type { AnyEventObject, AnyMachineSnapshot, AnyStateMachine, AnyStateNode } from 'xstate';
import type { ActorKey, Kind, Stamp } from '../../../actors/contracts.js';
import type { Caller, Causes } from '../../../machines/caller.js';
import type { Json } from '../../../machines/outputs.js';
import { isRefusal, type NotInState, type Refusal, refuse } from '../../../machines/refusals.js';
import { stateNames } from '../../../machines/state-names.js';
import { isPlain } from './codec.js';
import type { EventObject } from '../contract.js';

/** What one commit stamps on the events and inputs in it. */
interface Stamping {
  /** Epoch ms. */
  readonly at: number;
  readonly by: Caller;
  readonly onBehalfOf?: Causes | undefined;
}

/**
 * With time, caller, cause and facts. They stand before the spread, and are set again behind it: to V8 a member
 * that is new behind a spread costs half a microsecond, one that is there already nothing.
 */
export function stamped<Members extends object>(
  { at, by, onBehalfOf }: Stamping,
  members: Members,
  facts?: Json,
): Members & Stamp {
  const all = facts === undefined ? { at, by, ...members } : { at, by, facts, ...members };
  all.at = at;
  all.by = by;
  if (facts !== undefined) (all as { facts?: Json }).facts = facts;
  if (onBehalfOf !== undefined) (all as { onBehalfOf?: Caller }).onBehalfOf = onBehalfOf[0];
  // No event says so of itself
  else if ('onBehalfOf' in all) delete (all as { onBehalfOf?: Caller }).onBehalfOf;
  return all;
}

/** May an actor be made of this input? Asked for each whose rights count, as the policy is. */
export function judgeInput(
  kind: Kind,
  given: Stamp & { readonly id: string },
  causes: Causes | undefined,
): Refusal | undefined {
  for (const cause of causes ?? [undefined]) {
    const refusal = kind.validateInput?.(cause === undefined ? given : { ...given, onBehalfOf: cause });
    if (refusal !== undefined) return ruled(refusal, kind, 'validateInput');
  }
  return undefined;
}

/** The policy, asked for each whose rights count: the narrowest decides. */
export function judge(
  kind: Kind,
  snapshot: AnyMachineSnapshot,
  event: AnyEventObject,
  { by, onBehalfOf = [by] }: Pick<Stamping, 'by' | 'onBehalfOf'>,
): Refusal | undefined {
  for (const cause of onBehalfOf) {
    const refusal = kind.policy?.(snapshot, event as never, { by, onBehalfOf: cause });
    if (refusal !== undefined) return ruled(refusal, kind, 'policy');
  }
  return undefined;
}

/** A rule that no compiler has seen may answer `true` or a promise: neither may pass for an answer to a caller. */
function ruled(answer: Refusal, kind: Kind, rule: string): Refusal {
  if (isRefusal(answer)) return answer;
  throw new TypeError(`${rule} of the kind "${kind.kind}" must answer a refusal or undefined, and at once`);
}

/**
 * The answer to an event that its policy allows and that no state takes now, read from the chart: an event of other
 * states is a conflict and names them; one that the machine takes nowhere is unknown. What it would have done is the
 * kind's to say, as is another code.
 */
export function stateRefusal(
  kind: Kind,
  id: string,
  snapshot: AnyMachineSnapshot,
  event: { readonly type: string },
): Refusal {
  const own: Refusal | NotInState<string> = kind.notInState?.(snapshot, event as never) ?? {};
  if (isRefusal(own)) return own;
  const state = snapshot.value as Json;
  const { states, conditions } = takenBy(kind.machine, event.type);
  const { code = 'CONFLICT', action, remedy } = own;
  const not = action === undefined ? `does not accept "${event.type}"` : `cannot ${action}`;
  const what = `The ${kind.kind} ${id} ${not}`;
  if (states.length === 0)
    return refuse(
      'UNKNOWN_EVENT',
      { event: event.type, state },
      `${what} in its state ${JSON.stringify(state)}.`,
    );
  const here = stateNames(state);
  const isHere = here.some((name) => states.includes(name));
  const can = action === undefined ? 'does' : 'can';
  const sentence = isHere
    ? `${what} now: its statechart allows it in ${here.join(', ')} only if a guard passes` +
      `${conditions.length === 0 ? '' : ` (${conditions.join(', ')})`}.`
    : `${what} while ${placed(kind, beside(here, states))}; it ${can} while ${placed(kind, states)}.`;
  return refuse(
    code,
    { kind: kind.kind, id, event: event.type, state, states, ...(isHere && { conditions }), ...own.details },
    remedy === undefined ? sentence : `${sentence} ${remedy}`,
  );
}

/** Of the regions of a chart, those in which an event is taken. */
function beside(here: readonly string[], states: readonly string[]): readonly string[] {
  const regionOf = (name: string): string => name.slice(0, name.indexOf('.') + 1);
  const same = here.filter((name) => states.some((other) => regionOf(other) === regionOf(name)));
  return same.length === 0 ? here : same;
}

/** `it is idle, error or stopped`; of a chart of regions `its approval is approved or none`. The details have the paths. */
function placed({ machine }: Kind, names: readonly string[]): string {
  const regions = new Map<string, string[]>();
  for (const name of names) {
    const path = name.split('.');
    const region = machine.root.type === 'parallel' ? `its ${path[0]}` : 'it';
    regions.set(region, [...(regions.get(region) ?? []), path.at(-1) ?? name]);
  }
  return [...regions].map(([region, inner]) => `${region} is ${either(inner)}`).join(' and ');
}

const either = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;

/** Where a machine takes an event: its innermost states by path, and the guards that stand before it. */
interface Taken {
  readonly states: readonly string[];
  readonly conditions: readonly string[];
}

/** Read from the chart once per machine and event: charts do not change. */
const known = new WeakMap<AnyStateMachine, Map<string, Taken>>();

function takenBy(machine: AnyStateMachine, type: string): Taken {
  let events = known.get(machine);
  if (events === undefined) known.set(machine, (events = new Map<string, Taken>()));
  let taken = events.get(type);
  // Names that a caller made up are not remembered
  if (taken === undefined && (taken = read(machine.root, type)).states.length > 0) events.set(type, taken);
  return taken;
}

function read(node: AnyStateNode, type: string): Taken {
  const own = node.transitions.get(type);
  const below = Object.values(node.states as Record<string, AnyStateNode>).map((child) => read(child, type));
  return {
    states: [...new Set(own === undefined ? below.flatMap(({ states }) => states) : innermost(node))],
    conditions: [
      ...new Set([
        ...(own ?? []).flatMap(({ guard }) => nameOf(guard) ?? []),
        ...below.flatMap(({ conditions }) => conditions),
      ]),
    ],
  };
}

/** What ends an actor takes nothing more. */
function innermost(node: AnyStateNode): readonly string[] {
  const children = Object.values(node.states as Record<string, AnyStateNode>);
  if (children.length > 0) return children.flatMap(innermost);
  return node.type === 'final' ? [] : [node.path.join('.')];
}

const nameOf = (guard: unknown): string | undefined =>
  typeof guard === 'string' ? guard : (guard as { readonly type?: string } | undefined)?.type;

/** The address alone of what a host gives as one: a handle is one, too, and holds all of its supervisor. */
export function addressOf(actor: ActorKey, member: string): ActorKey {
  const { kind, id } = Object(actor) as Partial<ActorKey>;
  if (typeof kind !== 'string' || typeof id !== 'string')
    throw new TypeError(`${member} must be an actor: { kind, id }`);
  return { kind, id };
}

/** A caller that is a name would pass for no one whom a policy knows. */
export function assertCaller(by: unknown, member: string): void {
  if (typeof (Object(by) as { readonly type?: unknown }).type === 'string') return;
  throw new TypeError(`${member} must be a caller like { type: 'operator' }, not a name`);
}

/** Records are composed by hand around an id, and keys and addresses hold it. */
export function invalidId(id: string): Refusal | undefined {
  // No compiler may have seen the caller: `test` takes undefined for the text "undefined"
  return typeof id === 'string' && /^[A-Za-z0-9._:-]{1,200}$/.test(id)
    ? undefined
    : refuse('BAD_REQUEST', { id }, `Invalid id "${id}": 1 to 200 of A–Z a–z 0–9 . _ : - are allowed.`);
}

/**
 * Names that only the kernel and XState may use: the end of an effect, a stop, a resumption are never
 * anybody's request.
 */
export function reserved(event: EventObject): Refusal | undefined {
  const type: unknown = (event as EventObject | null | undefined)?.type; // no compiler may have seen the caller
  if (typeof type === 'string' && type !== '' && !/^(xstate|kernel)\.|^\*$/.test(type)) {
    return isPlain(event, true)
      ? undefined
      : refuse(
          'BAD_REQUEST',
          { event: type },
          'An event must be plain JSON: null, booleans, finite numbers, strings, arrays and objects.',
        );
  }
  return refuse(
    'BAD_REQUEST',
    { event: String(type) },
    'Invalid event type: it must not be empty or begin with "xstate." or "kernel.".',
  );
}

export const notFound = (kind: string, id: string): Refusal =>
  refuse('NOT_FOUND', { kind, id }, `There is no ${kind} ${id}.`);
