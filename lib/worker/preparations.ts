import type { PreparedTurn, ToWorker, TurnPreparation } from './wire.js';

/** Of a worker on another machine. */
export interface PreparationsOptions {
  readonly name: string;
  /** How long it may take to answer. */
  readonly answerMs: number;
  /** Goes nowhere where it is away: what is open is sent again when it comes. */
  readonly send: (frame: ToWorker) => void;
}

/** What a worker was asked to judge, and has not answered: each ends with an answer, or by itself. */
export class Preparations {
  private readonly asked = new Map<string, Asked>();

  constructor(private readonly options: PreparationsOptions) {}

  /** Rejects where it does not answer in time, was given up, or where no one wants the turn any more. */
  ask(frame: TurnPreparation, signal: AbortSignal): Promise<PreparedTurn> {
    const { name, answerMs, send } = this.options;
    const { turnId } = frame;
    return new Promise((resolve, reject) => {
      const over = (): void => {
        clearTimeout(patience);
        signal.removeEventListener('abort', onAbort);
        this.asked.delete(turnId);
      };
      const fail = (error: Error): void => {
        over();
        send({ type: 'drop', turnId });
        reject(error);
      };
      const onAbort = (): void => fail(signal.reason as Error);
      const patience = setTimeout(() => fail(new Error(`The worker ${name} does not answer.`)), answerMs);
      const answer = (prepared: PreparedTurn): void => {
        over();
        resolve(prepared);
      };
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      this.asked.set(turnId, { frame, answer, fail });
      send(frame);
    });
  }

  take(prepared: PreparedTurn): void {
    this.asked.get(prepared.turnId)?.answer(prepared);
  }

  /** Over a new connection. */
  sendAgain(): void {
    for (const { frame } of this.asked.values()) this.options.send(frame);
  }

  failAll(why: string): void {
    for (const { fail } of this.asked.values()) fail(new Error(why));
  }
}

interface Asked {
  readonly frame: TurnPreparation;
  readonly answer: (prepared: PreparedTurn) => void;
  readonly fail: (error: Error) => void;
}
