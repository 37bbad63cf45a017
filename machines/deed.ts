import type { Wish } from './ground.js';

/**
 * What one event does: members of the context that change, and wishes. Machines read like tables because their
 * actions are only names of functions `(context, event) → Deed`, which a test may call without any machine.
 */
export interface Deed<Context> {
  readonly set?: Partial<Context>;
  readonly wishes?: readonly Wish[];
}

/** Carry a deed out inside `enqueueActions`: `post: enqueueActions(({context, event, enqueue}) => perform(enqueue, post(context, event)))`. */
export function perform<Context>(enqueue: Doer<Context>, deed: Deed<Context>): void {
  if (deed.set) enqueue.assign(deed.set);
  for (const wish of deed.wishes ?? []) enqueue.emit(wish);
}

/** The two verbs of XState's `enqueue` that a deed needs. */
interface Doer<Context> {
  assign(set: Partial<Context>): void;
  emit(wish: Wish): void;
}

/** One deed after another: the second decides on what the first left. */
export function afterwards<Context>(context: Context, first: Deed<Context>, next: (context: Context) => Deed<Context>): Deed<Context> {
  const second = next({ ...context, ...first.set });
  return { set: { ...first.set, ...second.set } as Partial<Context>, wishes: [...(first.wishes ?? []), ...(second.wishes ?? [])] };
}
