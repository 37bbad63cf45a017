import type { AnyEventObject, AnyMachineSnapshot } from 'xstate';
import type { Kind, Stamp } from '../../../actors/contracts.js';
import type { Caller, Causes } from '../../../machines/caller.js';
import type { Json } from '../../../machines/outputs.js';
import type { Refusal } from '../../../machines/refusals.js';

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

/** The policy, asked for each whose rights count: the narrowest decides. */
export function judge(
  kind: Kind,
  snapshot: AnyMachineSnapshot,
  event: AnyEventObject,
  { by, onBehalfOf = [by] }: Pick<Stamping, 'by' | 'onBehalfOf'>,
): Refusal | undefined {
  for (const cause of onBehalfOf) {
    const refusal = kind.policy?.(snapshot, event as never, { by, onBehalfOf: cause });
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}
