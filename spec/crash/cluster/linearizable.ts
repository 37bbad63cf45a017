/**
 * Does a history of one counter, as its clients saw it, have an order in which each operation takes effect at one
 * moment between its request and its answer? Just-in-time linearization: the configurations that could be so far,
 * where an operation that was asked takes effect at the latest when another one's answer needs it.
 */
export interface Operation {
  readonly what: 'add' | 'read';
  /** What it was answered: the count after it. Undefined: an addition that was asked for again, and had been done. */
  readonly n: number | undefined;
  /** Milliseconds on one clock. */
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** What cannot be, as a sentence; undefined where all can. `notLinearizable(history)` */
export function notLinearizable(history: readonly Operation[]): string | undefined {
  const moments = history
    .flatMap((operation) => [
      { at: operation.askedAt, operation, isAnswer: false },
      { at: operation.answeredAt, operation, isAnswer: true },
    ])
    .sort((one, other) => one.at - other.at || Number(one.isAnswer) - Number(other.isAnswer));
  const open = new Set<Operation>();
  let possible: Configuration[] = [{ n: 0, done: new Set() }];
  for (const { operation, isAnswer } of moments) {
    if (!isAnswer) {
      open.add(operation);
      continue;
    }
    const before = possible;
    possible = distinct(before.flatMap((configuration) => [...withDone(configuration, operation, open)]));
    open.delete(operation);
    for (const { done } of possible) done.delete(operation);
    if (possible.length === 0) {
      const counts = [...new Set(before.map(({ n }) => n))].join(' or ');
      return `${operation.what} was answered ${operation.n} where the count was ${counts} at most ${open.size} operations before`;
    }
  }
  return undefined;
}

interface Configuration {
  readonly n: number;
  /** Took effect, and is not answered yet. */
  readonly done: Set<Operation>;
}

/** All that can be once this operation has taken effect. */
function* withDone(
  { n, done }: Configuration,
  wanted: Operation,
  open: ReadonlySet<Operation>,
): Generator<Configuration> {
  if (done.has(wanted)) return yield { n, done: new Set(done) };
  for (const next of open) {
    const after = next.what === 'add' ? n + 1 : n;
    if (done.has(next) || (next.n ?? after) !== after) continue;
    yield* withDone({ n: after, done: new Set([...done, next]) }, wanted, open);
  }
}

function distinct(configurations: readonly Configuration[]): Configuration[] {
  const found: Configuration[] = [];
  for (const one of configurations)
    if (
      !found.some(
        ({ n, done }) =>
          n === one.n && done.size === one.done.size && [...one.done].every((each) => done.has(each)),
      )
    )
      found.push(one);
  return found;
}
