import type { TurnIO, TurnRequest } from '../engine.js';

/** The turn's abort and deadline in one signal, and a word to watchers when nothing was heard for long. */
export interface Watch {
  readonly signal: AbortSignal;
  heard(): void;
  close(): void;
}

/** `const watch = watchOver(request, io, 'The model')` */
export function watchOver({ deadlineMs, silenceMs }: TurnRequest, io: TurnIO, who: string): Watch {
  const late = new AbortController();
  const deadline = setTimeout(() => late.abort(), Math.min(deadlineMs, 2 ** 31 - 1));
  const arm = (): NodeJS.Timeout =>
    setTimeout(
      () => io.report({ type: 'notice', text: `${who} has been silent for a while.` }),
      Math.min(silenceMs, 2 ** 31 - 1),
    );
  let silence = arm();
  return {
    signal: AbortSignal.any([io.signal, late.signal]),
    heard() {
      clearTimeout(silence);
      silence = arm();
    },
    close() {
      clearTimeout(deadline);
      clearTimeout(silence);
    },
  };
}
