import type { SilenceRule } from '../../machines/session/context.js';
import type { TurnContext } from './turn-permission.js';

/**
 * Hears whether a turn still says something and reports that to its session, which has the timer: at once after a
 * pause, else with all that came meanwhile, so that even a turn that never stops talking costs one commit a minute at
 * most (more often only where less than two minutes of silence are allowed).
 */
export interface Hearing {
  /** Something was said, or a person answered; `quietMs` ago. */
  heard(quietMs?: number): void;
  close(): void;
}

export interface HearingOptions {
  readonly turnId: string;
  readonly rule: SilenceRule;
  readonly context: Pick<TurnContext, 'send' | 'onEvent'>;
  /** It was silent for as long as it may be, and its rule is to end it. Gets a sentence that says so. */
  readonly onOver: (why: string) => void;
  /** An earlier gateway began it: what is heard first is reported at once. */
  readonly isAdopted: boolean;
}

/** `const hearing = hearTurn({turnId, rule: {ms: 600_000, action: 'show'}, …}); hearing.heard(); … hearing.close()` */
export function hearTurn({ turnId, rule, context, onOver, isAdopted }: HearingOptions): Hearing {
  const everyMs = Math.max(rule.ms / 4, Math.min(rule.ms / 2, 60_000));
  let heardAt = performance.now();
  let reportedAt = isAdopted ? -Infinity : heardAt;
  let timer: NodeJS.Timeout | undefined;
  const quietMs = (): number => Math.round(performance.now() - heardAt);

  function report(): void {
    timer = undefined;
    reportedAt = performance.now();
    context.send({ type: 'turn.heard', turnId, quietMs: quietMs() }).catch(() => undefined); // the next one is
  }

  context.onEvent(({ type }) => {
    // The session's timer began a little before this did
    if (type === 'silence.over' && rule.action === 'end' && quietMs() >= rule.ms - everyMs)
      onOver(`The turn said nothing for ${inWords(rule.ms)} and was ended.`);
  });

  return {
    heard(agoMs = 0) {
      heardAt = performance.now() - agoMs;
      if (timer !== undefined) return;
      const waitMs = Math.min(reportedAt + everyMs - performance.now(), 2 ** 31 - 1);
      if (waitMs <= 0) report();
      else timer = setTimeout(report, waitMs).unref();
    },
    close: () => clearTimeout(timer),
  };
}

/** `9 minutes`, `30 seconds`. */
function inWords(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  const [count, unit] = seconds < 120 ? [seconds, 'second'] : [Math.round(seconds / 60), 'minute'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
