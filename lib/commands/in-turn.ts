/**
 * One after the other: deeds under the same key of the same owner wait for each other, in this process. For the few
 * commands whose decision rests on rows that no actor's turn guards.
 * @example await inTurn(supervisor, `relay/${sender}`, () => supervisor.transact(…))
 */
export async function inTurn<Result>(owner: object, key: string, deed: () => Promise<Result>): Promise<Result> {
  const waiting = waitingOf.get(owner) ?? new Map<string, Promise<void>>();
  waitingOf.set(owner, waiting);
  const before = waiting.get(key) ?? Promise.resolve();
  const mine = before.then(deed);
  const settled = mine.then(() => undefined, () => undefined);
  waiting.set(key, settled);
  try {
    return await mine;
  } finally {
    if (waiting.get(key) === settled) waiting.delete(key);
  }
}

const waitingOf = new WeakMap<object, Map<string, Promise<void>>>();
