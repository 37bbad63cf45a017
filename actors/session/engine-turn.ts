import type { Json } from '../../machines/outputs.js';
import type { TurnInput } from '../../machines/session/context.js';
import type { AtMostOnceEffect, EffectContext } from '../contracts.js';
import type { SlotRequest } from '../engines/pool.js';
import { readNote, reap, type Graces, type ProcessTable, type Reaped } from '../engines/process.js';
import type { EngineTurnOptions } from './turn-options.js';
import { closeRecord } from './turn-outbox.js';
import { cutOff, failure, interruption, sentence, type TurnOutput } from './turn-outcome.js';
import { partialOf } from './turn-partial.js';
import type { TurnContext } from './turn-permission.js';
import { adoptElsewhere, runElsewhere } from './turn-elsewhere.js';
import { adoptTurn, changesOf, runTurn, type TurnRun } from './turn-run.js';

/**
 * The effect of a session's turn: waits for a process slot, tells the session that it began, lets the engine
 * work, and answers only when no process of the turn is left. Fenced: a turn is never run twice; after a
 * crash `recover` takes up the turn where its process outlived the gateway; else it ends what the dead gateway left
 * running and calls the turn `interrupted`.
 *
 * Whatever an engine does wrong (throws, rejects, never settles, leaves processes behind) becomes a failed
 * outcome with a sentence for a person.
 *
 * `effects: { turn: engineTurnEffect({ registry, pool, tokens, gatewayUrl: () => gateway.url }) }`
 */
export function engineTurnEffect(options: EngineTurnOptions): AtMostOnceEffect<TurnInput, TurnOutput> {
  /** Sessions with a process that could not be ended: no turn of theirs begins beside it. */
  const lingering = new Map<string, Json>();

  /** Sessions whose dead gateway's processes are being ended right now. */
  const recovering = new Map<string, Promise<TurnOutput | undefined>>();

  async function cleared(sessionId: string, note: Json | undefined): Promise<TurnOutput | undefined> {
    // Where it worked it is ended without us, and that time is over
    if (options.remote?.workerOf(note) !== undefined) return undefined;
    const reaped = await reap(note, processOptions(options)).catch((error: unknown): Reaped => {
      options.onFault?.('process table', error); // who cannot look must not say "gone"
      return { gone: false, pid: readNote(note)?.pid ?? 0 };
    });
    if (reaped.gone) {
      lingering.delete(sessionId);
      return undefined;
    }
    // What runs elsewhere will never look gone from here: a person who resumes the queue has looked there
    if (note !== undefined && reaped.machine === undefined) lingering.set(sessionId, note);
    const where = reaped.machine === undefined ? '' : ` on another machine (${reaped.machine})`;
    const message =
      `Process ${reaped.pid} of an earlier turn may still be running${where}. End it manually, then resume ` +
      'the queue.';
    return { ...interruption(partialOf(note), message), unconfirmedPid: reaped.pid };
  }

  const runOf = (input: TurnInput, context: TurnContext): TurnRun => ({
    input,
    context,
    options,
    onLingering: (note) => lingering.set(context.actor.id, note),
    clear: (note) => cleared(context.actor.id, note),
  });

  /** A turn that outlived an earlier gateway holds its slot again; it goes on whether there is one or not. */
  async function adopt(input: TurnInput, note: Json, context: TurnContext): Promise<TurnOutput | undefined> {
    const run = runOf(input, context);
    const { remote } = options;
    const worker = remote?.workerOf(note);
    const slot = options.pool.hold({ sessionId: context.actor.id, engine: input.engine }, worker);
    try {
      const isElsewhere = worker !== undefined && remote !== undefined;
      const output = await (isElsewhere ? adoptElsewhere(run, remote, note) : adoptTurn(run, note));
      return output && (await spent(run, output));
    } catch (error) {
      options.onFault?.(input.engine, error);
      await options.hosts?.drop(note, input.turnId);
      await options.remote?.drop(note, input.turnId);
      return undefined;
    } finally {
      slot.release();
    }
  }

  return {
    guarantee: 'at-most-once',
    async run(input, context: TurnContext) {
      const sessionId = context.actor.id;
      const slot = await options.pool
        .take(slotRequest(input, sessionId, context.signal))
        .catch(() => undefined);
      if (slot === undefined) return interruption('');
      try {
        await recovering.get(sessionId); // a newer message may have started this turn meanwhile
        const left = lingering.has(sessionId)
          ? await cleared(sessionId, lingering.get(sessionId))
          : undefined;
        const output = left ?? (await paidTurn(runOf(input, context), slot.worker));
        return context.reason() === 'stopping' ? cutOff(output, options) : output;
      } catch (error) {
        if (context.signal.aborted) return interruption('');
        options.onFault?.(input.engine, error);
        return failure(`The turn could not be run: ${sentence(error)}`);
      } finally {
        slot.release();
      }
    },
    async recover(input, note, context: TurnContext) {
      const sessionId = context.actor.id;
      const adopted = await adopt(input, note, context);
      if (adopted !== undefined) return adopted;
      const clearing = cleared(sessionId, note);
      recovering.set(sessionId, clearing);
      try {
        const onFault = (error: unknown): void => options.onFault?.(input.engine, error);
        await closeRecord(input.turnId, { context, onFault }).catch(onFault);
        await (await changesOf({ input, options }, note))?.close().catch(onFault);
        const worker = options.remote?.workerOf(note);
        const away = worker === undefined ? '' : ` Its worker ${worker} has it no more.`;
        const cut = interruption(partialOf(note), `The gateway ended while this turn was running.${away}`);
        return (await clearing) ?? cutOff(cut, options);
      } finally {
        if (recovering.get(sessionId) === clearing) recovering.delete(sessionId);
      }
    },
  };
}

const slotRequest = (input: TurnInput, sessionId: string, signal: AbortSignal): SlotRequest => ({
  sessionId,
  rootId: input.rootSessionId ?? input.parentSessionId ?? sessionId,
  engine: input.engine,
  signal,
  ...(input.placement && { placement: input.placement }),
});

/** Where the employee may not spend, it waits as for a provider; its cost is reported before its end is. */
async function paidTurn(run: TurnRun, worker: string | undefined): Promise<TurnOutput> {
  const { employee } = run.input;
  const { remote } = run.options;
  const turn = (): Promise<TurnOutput> =>
    worker === undefined || remote === undefined ? runTurn(run) : runElsewhere(run, remote, worker);
  const budget = run.options.budget?.(run.context);
  if (budget === undefined || employee === null) return turn();
  const closed = await budget.admits(employee);
  if (closed !== undefined)
    return { outcome: 'rate-limited', text: '', error: closed.reason, resetAt: closed.resetAt };
  return spent(run, await turn());
}

async function spent({ input, context, options }: TurnRun, output: TurnOutput): Promise<TurnOutput> {
  const { employee, turnId, engine } = input;
  const costUsd = output.usage?.costUsd ?? 0;
  if (costUsd > 0 && employee !== null)
    await options
      .budget?.(context)
      .spent(employee, turnId, costUsd)
      .catch((error: unknown) => options.onFault?.(engine, error));
  return output;
}

const processOptions = ({
  graces,
  table,
}: EngineTurnOptions): { readonly graces?: Graces; readonly table?: ProcessTable } => ({
  ...(graces === undefined ? {} : { graces }),
  ...(table === undefined ? {} : { table }),
});

export type { TurnOutput } from './turn-outcome.js';

/** Nothing that an effect answers, sends or shows holds what `redact` takes out. */
export function redactedEffect<In, Out>(
  effect: AtMostOnceEffect<In, Out>,
  redact: <Value>(value: Value) => Value,
): AtMostOnceEffect<In, Out> {
  const around = (context: EffectContext): EffectContext =>
    Object.assign(Object.create(context) as EffectContext, {
      send: (event) => context.send(redact(event)),
      progress: (event, payload) => context.progress(event, redact(payload)),
      checkpoint: (data) => context.checkpoint(redact(data)),
    } satisfies Partial<EffectContext>);
  return {
    ...effect,
    run: async (input, context) => redact(await effect.run(input, around(context))),
  };
}
