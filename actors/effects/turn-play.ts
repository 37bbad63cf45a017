import type { EffectContext } from '../contracts.js';
import type { Engine, TurnIO, TurnRequest, TurnResult } from '../engines/engine.js';
import type { Deltas } from './turn-deltas.js';
import { boundedResult, failure, sentence } from './turn-outcome.js';
import type { Spawner } from './turn-spawner.js';

/** What an engine plays its turn with. */
export interface Play {
  readonly turnId: string;
  readonly context: EffectContext;
  readonly deltas: Deltas;
  readonly spawner: Spawner;
  /** Aborts when the turn is interrupted, stopped or late. */
  readonly signal: AbortSignal;
  /** How long the engine may take to settle after that. */
  readonly settleMs: number;
  readonly onFault: (engine: string, error: unknown) => void;
  readonly permission: NonNullable<TurnIO['permission']>;
}

/** The engine's own turn; never rejects and never hangs after an abort. */
export async function played(engine: Engine, request: TurnRequest, play: Play): Promise<TurnResult> {
  const { turnId, context, deltas, spawner, signal, settleMs, onFault, permission } = play;
  const io = {
    signal,
    permission,
    spawn: spawner.spawn,
    delta: (...[type, content, extra]: Parameters<Deltas['add']>) => deltas.add(type, content, extra),
    // an engine that does not await this must not take the process down when the session has moved on
    native: (nativeId: string) =>
      context.send({ type: 'turn.native', turnId, nativeId }).catch(() => undefined),
  };
  let timer: NodeJS.Timeout | undefined;
  let arm: () => void = () => undefined;
  const abandoned = new Promise<TurnResult>((resolve) => {
    arm = () => {
      timer = setTimeout(
        () => resolve(failure(`Engine "${engine.name}" did not end after it was asked to stop.`)),
        settleMs,
      );
    };
    if (signal.aborted) arm();
    else signal.addEventListener('abort', arm, { once: true });
  });
  const working = (async () => boundedResult(engine.name, await engine.turn(request, io)))();
  try {
    return await Promise.race([working, abandoned]);
  } catch (error) {
    if (!signal.aborted) onFault(engine.name, error);
    return failure(`Engine "${engine.name}" failed: ${sentence(error)}`);
  } finally {
    signal.removeEventListener('abort', arm);
    clearTimeout(timer);
    working.catch(() => undefined); // an abandoned engine may still reject, much later
  }
}
