import { createHash } from 'node:crypto';
import type { Kind, Persisted } from '../../actors/contracts.js';
import type { Json } from '../../machines/outputs.js';
import { activeStates } from '../../machines/state-names.js';
import { decodeState, encodeState } from '../supervisor/draft/codec.js';
import type { Step } from '../../actors/driver.js';
import { xstate5 } from '../supervisor/draft/driver.js';
import type { BundledActor, BundledEntry } from './bundle.js';
import { chartOf } from './chart/chart-of.js';
import type { ChartState } from './chart/definition.js';

/**
 * One actor's events, decided once more. Pure: machines decide, and nothing of what they ask for is done.
 * What the kernel did beside the machine (a dead letter, a halt, a resumption) leaves the state as it was,
 * here as there.
 */
export class Replay {
  private snapshot: Step['snapshot'] | undefined;

  constructor(
    private readonly kind: Pick<Kind, 'machine' | 'driver'>,
    start: BundledActor['start'],
  ) {
    if (start !== null) this.snapshot = this.revived(decodeState(start.state));
  }

  /** The state after the entry. Throws what the machine throws. */
  next({ event, at, by }: Pick<BundledEntry, 'event' | 'at' | 'by'>): Persisted {
    const { machine } = this.kind;
    if (event.type === 'kernel.created')
      this.snapshot = (this.kind.driver ?? xstate5).begin(machine, event['input']).snapshot;
    else if (this.snapshot === undefined) throw new RangeError('it does not begin with its creation event');
    else if (event.type === 'xstate.stop')
      this.snapshot = { ...this.snapshot, status: 'stopped' } as Step['snapshot'];
    else if (!event.type.startsWith('kernel.'))
      this.snapshot = (this.kind.driver ?? xstate5).step(machine, this.snapshot, {
        ...event,
        at,
        by,
      }).snapshot;
    return this.state();
  }

  /** Go on from a state that was recorded, after one that was not met. */
  resume(state: Persisted): void {
    this.snapshot = this.revived(state);
  }

  private state(): Persisted {
    return JSON.parse(
      encodeState(
        (this.kind.driver ?? xstate5).persist(this.kind.machine, this.snapshot as Step['snapshot']),
      ),
    ) as Persisted;
  }

  private revived(state: Persisted): Step['snapshot'] {
    return (this.kind.driver ?? xstate5).restore(
      this.kind.machine,
      structuredClone(state),
      effectsIn(chartOf(this.kind.machine).root, activeStates(state.value)),
    );
  }
}

/**
 * The effects that run in these states: a machine that is brought back must know them, to hear of their end.
 */
function effectsIn(state: ChartState, active: readonly string[]): Readonly<Record<string, string>> {
  const own =
    state.path === '' || active.includes(state.path)
      ? state.invokes.map(({ id, src }) => [id, src] as const)
      : [];
  return Object.assign(
    Object.fromEntries(own),
    ...state.states.map((inner) => effectsIn(inner, active)),
  ) as Record<string, string>;
}

/** SHA-256 over value, context, status and output, whatever the order of their members. */
export const stateHash = (state: Persisted): string => hashOf(essence(state));

/** A short hash for one member of a context. */
export const memberHash = (value: Json | undefined): string => hashOf(value ?? null).slice(0, 12);

/** What a state is, without what merely goes with it; members that are undefined are none. */
function essence(state: Persisted): Json {
  const enveloped = state as Persisted & { readonly '~'?: { readonly json?: Persisted } };
  const { value, context, status, output } = enveloped['~']?.json ?? state;
  return {
    value,
    context,
    ...(status === undefined || status === 'active' ? {} : { status }),
    ...(output === undefined ? {} : { output }),
  };
}

const hashOf = (value: Json): string => createHash('sha256').update(canonical(value)).digest('hex');

function canonical(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map((element: Json) => canonical(element)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([member, inner]) => `${JSON.stringify(member)}:${canonical(inner as Json)}`).join(',')}}`;
}
