import {
  createActor,
  initialTransition,
  transition,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type SnapshotFrom,
} from 'xstate';
import type { Kind } from '../../actors/contracts.js';
import { stateRefusal } from '../../lib/supervisor/draft/admission.js';
import { authorityOf, operator, system, type Authority, type Caller } from '../../machines/caller.js';
import type { Publish, WriteRow, SendTo, Output } from '../../machines/outputs.js';
import { refuse, type NotInState, type Refusal } from '../../machines/refusals.js';

/**
 * One actor, stepped by hand: what the kernel does, without a kernel. Stamps events, asks the policy first,
 * collects wishes, keeps timers and effects as data. Time moves only by `advance`.
 */
export class Life<M extends AnyStateMachine> {
  snapshot: SnapshotFrom<M>;
  at: number;
  readonly wishes: Output[] = [];
  readonly timers = new Map<string, { readonly event: { readonly type: string }; readonly due: number }>();
  readonly effects = new Map<string, { readonly src: string; readonly input: unknown }>();
  /** What running effects were told. */
  readonly signals: { readonly type: string }[] = [];
  /** Every effect ever started, in order. */
  readonly started: { readonly id: string; readonly src: string; readonly input: unknown }[] = [];

  constructor(
    readonly machine: M,
    input: Record<string, unknown>,
    readonly policy: (
      snapshot: SnapshotFrom<M>,
      event: never,
      authority: Authority,
    ) => Refusal | undefined = () => undefined,
    at = 1_700_000_000_000,
    readonly notInState?: (snapshot: SnapshotFrom<M>, event: never) => Refusal | NotInState | undefined,
  ) {
    this.at = at;
    const [snapshot, actions] = initialTransition(machine as AnyStateMachine, {
      id: 'x',
      at,
      by: operator,
      ...input,
    });
    this.snapshot = this.sound(snapshot);
    this.take(actions);
  }

  /** Send as the kernel does: the policy's refusal, the chart's, or undefined after the step. */
  send(
    event: { readonly type: string; readonly by?: Caller } & Record<string, unknown>,
  ): Refusal | undefined {
    if ((this.snapshot as AnyMachineSnapshot).status !== 'active')
      return refuse('CONFLICT', {}, 'It has ended.'); // the kernel's own answer
    const stamped = { by: operator, ...event, at: this.at };
    const refusal = this.policy(this.snapshot, stamped as never, authorityOf(stamped));
    if (refusal !== undefined) return refusal;
    const before = this.snapshot as AnyMachineSnapshot;
    if (this.machine.getTransitionData(before as never, stamped as never).length === 0) {
      const kind = { kind: this.machine.id, machine: this.machine, notInState: this.notInState };
      return stateRefusal(kind as unknown as Kind, 'x', before, stamped);
    }
    this.step(stamped);
    return undefined;
  }

  /** Step without asking the policy: what the chart alone makes of it. */
  step(event: { readonly type: string }): void {
    const [snapshot, actions] = transition(
      this.machine as AnyStateMachine,
      this.snapshot as AnyMachineSnapshot,
      event,
    );
    this.snapshot = this.sound(snapshot);
    this.take(actions);
  }

  finish(id: string, output: unknown): void {
    if (!this.effects.delete(id)) throw new Error(`no effect ${id} is running`);
    this.step({
      type: `xstate.done.actor.${id}`,
      actorId: id,
      output,
      at: this.at,
      by: system('effects'),
    } as { type: string });
  }

  fail(id: string, message: string): void {
    if (!this.effects.delete(id)) throw new Error(`no effect ${id} is running`);
    this.step({
      type: `xstate.error.actor.${id}`,
      actorId: id,
      error: { name: 'Error', message },
      at: this.at,
      by: system('effects'),
    } as { type: string });
  }

  /** Let time pass; due timers fire in their order, at their time. */
  advance(ms: number): void {
    const end = this.at + ms;
    for (let fired = 0; fired < 1_000; fired += 1) {
      const [id, next] =
        [...this.timers].filter(([, timer]) => timer.due <= end).sort(([, a], [, b]) => a.due - b.due)[0] ??
        [];
      if (id === undefined || next === undefined) break;
      this.timers.delete(id);
      this.at = Math.max(this.at, next.due);
      this.step({ by: system('timers'), ...next.event, at: this.at } as { type: string });
    }
    this.at = end;
  }

  /** As after a crash: through JSON and back. */
  revive(): void {
    const persisted = JSON.parse(
      JSON.stringify(this.machine.getPersistedSnapshot(this.snapshot as AnyMachineSnapshot)),
    );
    this.snapshot = createActor(this.machine as AnyStateMachine, {
      snapshot: persisted,
      input: undefined,
    }).getSnapshot() as SnapshotFrom<M>;
  }

  /** Another life that begins where this one is; neither knows of the other. */
  fork(): Life<M> {
    const twin = Object.create(Life.prototype) as Life<M>;
    return Object.assign(twin, {
      machine: this.machine,
      policy: this.policy,
      notInState: this.notInState,
      snapshot: this.snapshot,
      at: this.at,
      wishes: [...this.wishes],
      timers: new Map(this.timers),
      effects: new Map(this.effects),
      started: [...this.started],
      signals: [...this.signals],
    });
  }

  /** Let the next timer fire. */
  wait(): void {
    const due = Math.min(...[...this.timers.values()].map((timer) => timer.due));
    if (Number.isFinite(due)) this.advance(Math.max(0, due - this.at));
  }

  get json(): string {
    return JSON.stringify(this.machine.getPersistedSnapshot(this.snapshot as AnyMachineSnapshot));
  }
  get value(): unknown {
    return (this.snapshot as AnyMachineSnapshot).value;
  }
  rows(collection: string): WriteRow[] {
    return this.wishes.filter(
      (wish): wish is WriteRow => wish.type === 'kernel.write-row' && wish.collection === collection,
    );
  }
  tells(type: string): SendTo[] {
    return this.wishes.filter(
      (wish): wish is SendTo => wish.type === 'kernel.send' && wish.event.type === type,
    );
  }
  frames(event: string): Publish[] {
    return this.wishes.filter(
      (wish): wish is Publish => wish.type === 'kernel.publish' && wish.event === event,
    );
  }

  private take(actions: readonly { readonly type: string; readonly params?: unknown }[]): void {
    for (const action of actions) {
      const params = (action.params ?? {}) as {
        id?: string;
        src?: string;
        input?: unknown;
        event?: unknown;
        delay?: number;
        sendId?: string;
      };
      if (action.type === 'xstate.emit') this.wishes.push(params.event as Output);
      else if (action.type === 'xstate.spawnChild')
        this.begin(params.id ?? '', params.src ?? '', params.input);
      else if (action.type === 'xstate.stopChild')
        this.effects.delete((action.params as { id?: string } | undefined)?.id ?? '');
      else if (action.type === 'xstate.cancel') this.timers.delete(params.sendId ?? '');
      else if (action.type === 'xstate.raise' && params.delay !== undefined)
        this.timers.set(params.id ?? '', {
          event: params.event as { type: string },
          due: this.at + params.delay,
        });
      else if (action.type === 'xstate.sendTo') this.signals.push(params.event as { type: string });
      else if (action.type !== 'xstate.raise')
        throw new Error(`the machine wants ${action.type}, which no kernel does`);
    }
  }

  private begin(id: string, src: string, input: unknown): void {
    this.effects.set(id, { src, input });
    this.started.push({ id, src, input });
  }

  private sound(snapshot: unknown): SnapshotFrom<M> {
    const state = snapshot as AnyMachineSnapshot;
    if (state.status === 'error') throw state.error;
    return snapshot as SnapshotFrom<M>;
  }
}
