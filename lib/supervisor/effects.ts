import type { ActorKey, Effect, EffectContext, Kind } from '../../actors/contracts.js';
import { untilWritten } from '../../actors/until-written.js';
import { system } from '../../machines/caller.js';
import type { Json } from '../../machines/outputs.js';
import { StoreError } from '../store/contract.js';
import { keys } from '../store/keys.js';
import type { Commits } from './commit.js';
import type { Supervisor } from './contract.js';
import type { Dispatch } from './delivery/dispatch.js';
import { errorData, type Start } from './draft/actions.js';
import { assertJson, carried, carriedOutcome } from './draft/codec.js';
import type { Kernel } from './kernel.js';
import { youngestRows } from './queries.js';
import { rowsBelow, StepJournal } from './step-journal.js';

/**
 * Runs the effects whose start is committed, and brings their results back as events. A result is
 * one commit: the outbox row goes and the machine steps in the same batch.
 */
export interface OutboxRow {
  readonly callId: string;
  readonly src: string;
  readonly input: Json;
  /** The durable intent of a fenced effect; once it is there the effect may have acted. */
  readonly note?: Json;
}

type AbortReason = 'left' | 'stopping' | 'restarting' | 'lost';
const sentences: Record<AbortReason, string> = {
  left: 'the actor left the state',
  stopping: 'the supervisor is stopping',
  restarting: 'the actor is restarted',
  lost: 'the home has another owner',
};

interface Running {
  readonly controller: AbortController;
  readonly listeners: ((event: { readonly type: string }) => void)[];
  reason: AbortReason | undefined;
  /** A fenced effect with a note may have acted. */
  noted: boolean;
  /** There from the first step on, or where an earlier run may have left some. */
  steps: StepJournal | undefined;
  isDetached: boolean;
  readonly settled: Promise<void>;
}

export class Effects {
  private readonly running = new Map<string, Running>();
  private stopping = false;

  constructor(
    private readonly kernel: Kernel,
    private readonly commits: Commits,
    private readonly dispatch: Dispatch,
    /** What effects act through: it stands above all parts, and none starts before it is there. */
    private readonly supervisor: () => Supervisor,
  ) {
    commits.released.effects.add(({ actor, left, started, signals }) => {
      for (const call of left) this.leave(actor, call.key);
      if (started.length > 0) {
        const kind = kernel.kinds.of(actor.kind);
        for (const start of started) void this.start(kind, actor, start);
      }
      for (const { call, event } of signals) this.signal(actor, call.key, event);
    });
  }

  get inFlight(): number {
    return this.running.size;
  }

  isRunning(actor: ActorKey, key: string): boolean {
    return this.running.has(keys.outbox(actor.kind, actor.id, key));
  }

  /**
   * Start an effect. `earlier` is what an earlier process or generation left of it; with a `note` that one may have
   * acted already: then it recovers instead.
   */
  start(kind: Kind, actor: ActorKey, start: Start, earlier?: Pick<OutboxRow, 'note'>): Promise<void> {
    const effect = kind.effects?.[start.src];
    // Its row stays; the next boot takes it up
    if (effect === undefined || this.stopping) return Promise.resolve();
    return this.launch(effect, actor, start, earlier, false);
  }

  /** Clean up after an effect whose state was left while the process that ran it died. */
  sweep(kind: Kind, actor: ActorKey, start: Start, note: Json | undefined): Promise<void> {
    const effect = kind.effects?.[start.src];
    if (effect?.guarantee === 'at-most-once' && note !== undefined)
      return this.launch(effect, actor, start, { note }, true);
    return this.commits.remove([keys.outbox(actor.kind, actor.id, start.key)]);
  }

  /** Clean up the steps of effects that are no more: their process died after it had left their states. */
  sweepSteps(rows: readonly string[]): void {
    if (rows.length === 0) return;
    this.commits
      .remove(rows)
      .catch((error: unknown) => this.kernel.fault(`the steps ${rows[0]} … could not be removed`, error));
  }

  /** The machine left the invoking state. */
  leave(actor: ActorKey, key: string): void {
    this.abort(this.running.get(keys.outbox(actor.kind, actor.id, key)), 'left');
  }

  /** Abort an effect that is to run again, and wait until it has settled. */
  async halt(actor: ActorKey, key: string): Promise<void> {
    const running = this.running.get(keys.outbox(actor.kind, actor.id, key));
    this.abort(running, 'restarting');
    await running?.settled;
  }

  signal(actor: ActorKey, key: string, event: { readonly type: string }): void {
    const running = this.running.get(keys.outbox(actor.kind, actor.id, key));
    for (const listener of running?.listeners ?? []) {
      try {
        listener(event);
      } catch (error) {
        this.kernel.fault(`an effect of ${actor.kind} ${actor.id} threw in its listener`, error);
      }
    }
  }

  /** Abort everything and wait until all have settled, or for the deadline. */
  async stop(deadline: Promise<void>): Promise<void> {
    this.stopping = true;
    const all = [...this.running.values()];
    for (const running of all) this.abort(running, 'stopping');
    await Promise.race([Promise.all(all.map((running) => running.settled)), deadline]);
  }

  /** The home has another owner, whose business they are now: nothing of theirs is settled or swept here. */
  lose(): void {
    this.stopping = true;
    for (const running of this.running.values()) this.abort(running, 'lost');
  }

  private abort(running: Running | undefined, reason: AbortReason): void {
    if (running === undefined || (running.reason !== undefined && reason !== 'lost')) return;
    running.reason = reason;
    running.controller.abort(new Error(sentences[reason]));
  }

  private launch(
    effect: Effect,
    actor: ActorKey,
    start: Start,
    earlier: Pick<OutboxRow, 'note'> | undefined,
    left: boolean,
  ): Promise<void> {
    const note = earlier?.note;
    const outboxKey = keys.outbox(actor.kind, actor.id, start.key);
    const row: OutboxRow = { callId: start.callId, src: start.src, input: start.input };
    const controller = new AbortController();
    const listeners: Running['listeners'] = [];
    const finished = (event: { type: string }): void | Promise<void> => {
      const { steps } = this.running.get(outboxKey) as Running;
      if (steps === undefined) return this.finished(actor, start, outboxKey, effect, event, []);
      return steps.close().then((rows) => this.finished(actor, start, outboxKey, effect, event, rows));
    };
    const steps = (): StepJournal => this.stepsOf(effect, outboxKey, context);
    const context = this.contextOf(actor, start, outboxKey, row, note, controller, listeners, steps);
    const settled = this.kernel.ownership
      .whenHeld() // no one acts for a home that may be another's
      .then((held) => {
        if (!held) return undefined;
        const carryOut = async (): Promise<unknown> =>
          note !== undefined && effect.guarantee === 'at-most-once'
            ? effect.recover(start.input, note, context)
            : effect.run(start.input, context);
        const { causality } = this.kernel.environment;
        return causality?.within(`effect=${context.key}`, carryOut) ?? carryOut();
      })
      .then(carriedOutcome) // what is no data is the effect's error
      .then(
        (output) =>
          finished({ type: `xstate.done.actor.${start.callId}`, output, actorId: start.callId } as {
            type: string;
          }),
        (error: unknown) =>
          finished({
            type: `xstate.error.actor.${start.callId}`,
            error: errorData(error),
            actorId: start.callId,
          } as { type: string }),
      )
      .catch((error: unknown) => {
        this.kernel.fault(`the effect ${outboxKey} could not be settled`, error);
      });
    this.running.set(outboxKey, {
      controller,
      listeners,
      reason: undefined,
      noted: note !== undefined,
      steps: undefined,
      isDetached: false,
      settled,
    });
    if (earlier !== undefined && effect.guarantee === 'at-least-once') steps();
    if (left) this.abort(this.running.get(outboxKey), 'left');
    return settled;
  }

  private finished(
    actor: ActorKey,
    start: Start,
    outboxKey: string,
    effect: Effect,
    event: { type: string },
    steps: readonly string[],
  ): void {
    const { reason, noted, isDetached } = this.running.get(outboxKey) as Running;
    this.running.delete(outboxKey);
    if (reason === 'left') {
      // A checkpoint that came late has written the row again
      const rows = effect.guarantee === 'at-most-once' || noted ? [outboxKey, ...steps] : steps;
      if (rows.length > 0)
        this.commits
          .remove(rows)
          .catch((error: unknown) => this.kernel.fault(`the row ${rows[0]} could not be removed`, error));
      return;
    }
    if (reason === 'restarting' || reason === 'lost') return;
    // What was cut off by the stop and may run again does so at the next boot, under the same key.
    if (
      reason === 'stopping' &&
      (isDetached || (effect.guarantee === 'at-most-once' ? !noted : event.type.startsWith('xstate.error.')))
    )
      return;
    this.settle(actor, start, [outboxKey, ...steps], event);
  }

  /** Its rows go with the step that its outcome makes. */
  private settle(actor: ActorKey, start: Start, rows: readonly string[], event: { type: string }): void {
    this.dispatch.deliver(actor, {
      event,
      by: system(`effect:${start.src}`),
      cause: `effect:${start.key}`,
      consume: rows.map((key) => [key, null]),
      ended: { call: start.callId },
      fresh: (state) => state.calls[start.callId]?.key === start.key,
    });
  }

  /** An event on the way, without a row: resolves after its commit. */
  private send(actor: ActorKey, event: { readonly type: string }, cause: string): Promise<void> {
    return new Promise((resolve, reject) =>
      this.dispatch.deliver(actor, {
        event,
        by: system(cause),
        cause,
        answer: (outcome) =>
          outcome.type === 'failed'
            ? reject(outcome.error instanceof Error ? outcome.error : new Error(String(outcome.error)))
            : resolve(),
      }),
    );
  }

  private stepsOf(effect: Effect, outboxKey: string, context: EffectContext): StepJournal {
    if (effect.guarantee === 'at-most-once')
      throw new TypeError('Steps are of at-least-once effects: one that a crash cuts off is run again.');
    const running = this.running.get(outboxKey);
    if (running === undefined) throw new TypeError('A step began after its effect had ended.');
    const { signal } = context;
    running.steps ??= new StepJournal(
      {
        read: (start) => this.outlast(() => rowsBelow(this.kernel.store, start), signal),
        write: (ops) => this.outlast(() => this.commits.write(ops), signal),
      },
      (name) => keys.step(outboxKey, name),
      context,
    );
    return running.steps;
  }

  /** A store that is away for a moment costs an effect time and no more. */
  private outlast<Done>(ask: () => Promise<Done>, signal: AbortSignal): Promise<Done> {
    const pause = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        const over = (): void => {
          cancel();
          signal.removeEventListener('abort', over);
          resolve();
        };
        const cancel = this.kernel.environment.clock.timeout(ms, over);
        signal.addEventListener('abort', over);
      });
    return untilWritten(ask, signal, pause);
  }

  private async note(outboxKey: string, text: string): Promise<void> {
    const running = this.running.get(outboxKey);
    if (running === undefined) return; // it has ended, and its row with it
    const { noted } = running;
    running.noted = true;
    try {
      await this.commits.write([[outboxKey, text]]);
    } catch (error) {
      // Nothing was written, so it has not acted either
      if (error instanceof StoreError && error.code === 'STORE_UNAVAILABLE') running.noted = noted;
      throw error;
    }
  }

  private contextOf(
    actor: ActorKey,
    start: Start,
    outboxKey: string,
    row: OutboxRow,
    checkpointed: Json | undefined,
    controller: AbortController,
    listeners: Running['listeners'],
    steps: () => StepJournal,
  ): EffectContext {
    const { signal } = controller;
    let noting = Promise.resolve(); // one after the other: the last one counts
    return {
      key: outboxKey.slice(2),
      actor,
      supervisor: this.supervisor(),
      signal,
      reason: () => this.running.get(outboxKey)?.reason,
      send: async (event) => this.send(actor, carried(event, 'event') as typeof event, `effect:${start.src}`),
      checkpoint: async (note) => {
        assertJson(note, 'note');
        const text = JSON.stringify({ ...row, note });
        noting = noting
          .catch(() => undefined)
          .then(() => this.outlast(() => this.note(outboxKey, text), signal));
        return noting;
      },
      checkpointed,
      step: async (name, run) => steps().run(name, run) as Promise<never>, // what it answered, as it was stored
      detach: () => void Object.assign(this.running.get(outboxKey) ?? {}, { isDetached: true }),
      progress: (event, payload) => this.kernel.progress(actor, event, payload),
      onEvent: (listener) => {
        listeners.push(listener);
      },
      rows: (collection, options) =>
        this.outlast(() => youngestRows(this.kernel.store, actor, collection, options), signal),
    };
  }
}
