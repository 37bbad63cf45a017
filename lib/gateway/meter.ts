import type { Context, Next } from 'koa';

/** How long requests took, and how they ended. A few numbers in memory, whatever is asked; read by `/metrics`. */
export interface Meter {
  readonly middleware: (ctx: Context, next: Next) => Promise<void>;
  /** Requests answered, by the first digit of the status: `{'2': 17, '4': 1}`. */
  readonly answered: ReadonlyMap<string, number>;
  readonly durations: Durations;
}

export interface Durations {
  /** Upper bounds, seconds. */
  readonly bounds: readonly number[];
  /** How many took at most so long; the last one counts all. */
  readonly counts: readonly number[];
  readonly sumSeconds: number;
}

/** `const meter = meterOf(); app.use(meter.middleware); meter.answered.get('2') // 17` */
export function meterOf(): Meter {
  const answered = new Map<string, number>();
  const counts = bounds.map(() => 0);
  counts.push(0);
  const durations = { bounds, counts, sumSeconds: 0 };

  function note(status: number, seconds: number): void {
    const digit = String(Math.floor(status / 100));
    answered.set(digit, (answered.get(digit) ?? 0) + 1);
    durations.sumSeconds += seconds;
    for (let index = counts.length - 1; index >= 0 && (bounds[index] ?? Infinity) >= seconds; index--) counts[index] = (counts[index] ?? 0) + 1;
  }

  return {
    answered,
    durations,
    async middleware(ctx, next) {
      const began = performance.now();
      try {
        await next();
      } finally {
        note(ctx.status, (performance.now() - began) / 1_000);
      }
    },
  };
}

const bounds: readonly number[] = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10];
