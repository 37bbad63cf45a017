import type { Effect, EffectContext, Json } from '../../../actors/contracts.js';
import type { Effect6, Machine6, XState6 } from './library.js';

/**
 * The effects that a machine of XState 6 brings itself: the async logic that it invokes or spawns, and the actions
 * that its transitions enqueue by name. Both start after the commit and run again after a crash, under the same key;
 * what a kind declares itself under the same name goes before.
 */
export function effectsOf(
  xstate: XState6,
  { sources }: Pick<Machine6, 'sources'>,
): Readonly<Record<string, Effect>> {
  const actors = Object.entries(sources.actors ?? {})
    .filter(([, logic]) => isAsync(xstate, logic))
    .map(([src, logic]) => [src, asyncEffect(xstate, logic)]);
  const actions = Object.entries(sources.actions ?? {}).map(([name, action]) => [name, actionEffect(action)]);
  return Object.fromEntries([...actions, ...actors]) as Record<string, Effect>;
}

/** Under which name a machine's own action is known; an action without one could not be run after a crash. */
export function nameOfAction({ sources }: Pick<Machine6, 'sources'>, { type, params }: Effect6): string {
  const known = Object.entries(sources.actions ?? {}).find(([, action]) => action === params?.action);
  if (known !== undefined) return known[0];
  throw new TypeError(
    `a transition enqueues the action "${type === '' ? 'anonymous' : type}", which setup({ actions }) does not ` +
      'define: what has no name cannot run after a crash',
  );
}

/** By its first snapshot, which notes that a body is to run: what runs it comes as an effect, so that nothing does. */
export function isAsync(xstate: XState6, logic: unknown): boolean {
  if (!('run' in ((logic as Logic).config ?? {}))) return false;
  try {
    const [snapshot] = xstate.initialTransition(logic, undefined);
    return (snapshot as Begun).effects?.async !== undefined;
  } catch {
    return false; // other logic, which minds that it has no input
  }
}
interface Logic {
  readonly config?: object;
}
interface Begun {
  readonly effects?: { readonly async?: unknown };
}

const actionEffect = (action: (...args: unknown[]) => unknown): Effect<unknown> => ({
  guarantee: 'at-least-once',
  run: async (args) => {
    await action(...(args as readonly unknown[]));
    return null;
  },
});

const asyncEffect = (xstate: XState6, logic: unknown): Effect<unknown> => ({
  guarantee: 'at-least-once',
  run: (input, context) => runLogic(xstate, logic, input, context),
});

/**
 * Run the body of async logic in an actor of XState's own, its steps journaled. Settles when the body has: what was
 * aborted may still have something to clean up.
 */
async function runLogic(
  xstate: XState6,
  logic: unknown,
  input: unknown,
  context: EffectContext,
): Promise<unknown> {
  const actor = xstate.createActor(logic, { input: input ?? undefined });
  let body: Promise<unknown> = Promise.resolve();
  actor.system.runtime = {
    runLogic: (_actor: unknown, run: () => PromiseLike<unknown>) => (body = Promise.resolve(run())),
    runStep: (_actor: unknown, key: string, run: () => unknown) => context.step(key, run as () => Json),
    emitEvent: (_source: unknown, event: { readonly type: string }) =>
      context.progress(event.type, event as Parameters<EffectContext['progress']>[1]),
  };
  try {
    return await new Promise((resolve, reject) => {
      actor.subscribe({ error: reject, complete: () => resolve(actor.getSnapshot().output) });
      const abort = (): void => {
        actor.stop();
        reject(context.signal.reason as Error);
      };
      if (context.signal.aborted) return abort();
      context.signal.addEventListener('abort', abort, { once: true });
      actor.start();
    });
  } finally {
    await body.then(undefined, () => undefined);
  }
}
