/**
 * Long work as a generator that yields between small steps. Who must have the result at once runs it through;
 * who shares the process with others lets them on after every few milliseconds.
 */
export function atOnce<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** `await unhurried(index.finding(fragments, 20))` */
export async function unhurried<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (let began = performance.now(); ;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - began < sliceMs) continue;
    await breath();
    began = performance.now();
  }
}

/** Let everything that waits go first. */
export const breath = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

const sliceMs = 4;
