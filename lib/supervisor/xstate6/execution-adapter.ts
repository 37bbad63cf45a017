import type { Json } from '../../../machines/outputs.js';
import type { Supervisor } from '../contract.js';
import { errorData } from '../draft/actions.js';
import { carried } from '../draft/codec.js';
import { isAsync } from './effects.js';
import { ExecutionJournal, type Occurrence } from './execution-journal.js';
import type { Outcome } from './execution-kind.js';
import type { LiveAction6, LiveActor6, XState6 } from './library.js';

/** Which execution an adapter keeps, and of which machine. */
export interface ExecutionOptions {
  /** Of the actor that is its journal: `[A-Za-z0-9._:-]{1,200}`. The same one after a crash. */
  readonly id: string;
  /** The machine that is given to `createDurable`; a journal of another `id`, or of another `version`, is refused. */
  readonly logic: { readonly id: string; readonly version?: string | undefined };
  /** Ends the adapter: what waits for an event rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** What `createDurable` of XState 6 takes: every member is bound, so that a host may spread it and put its own beside. */
export interface ExecutionAdapter {
  /** Id of the execution, as in the options. */
  readonly executionId: string;
  /** Runs an action unless the journal says that it was done; resolves once that is noted. */
  executeAction(action: LiveAction6, metadata: { readonly id: string }, runtime: object): Promise<void>;
  /** The next event for the root, of a `type` and its members; rejects where the execution's signal aborts. */
  waitForEvent(): Promise<{ readonly type: string; readonly [member: string]: Json }>;
  /** Queues an event of the machine's own. Throws a TypeError in the middle of async work. */
  enqueueRootEvent(source: unknown, event: { readonly type: string }): void;
  /** Starts a child. Throws a TypeError for logic that cannot be replayed. */
  startActor(actor: LiveActor6): void;
  /** Stops a child; the end of its work is not noted any more. */
  stopActor(actor: LiveActor6): void;
  /** Ends an actor; of the root, output or error is journaled. */
  terminateActor(actor: LiveActor6, termination: object): Promise<void>;
  /** Sets a durable timer, `delay` in milliseconds; resolves once it is kept. */
  scheduleTimer(source: LiveActor6, id: string, delay: number): Promise<void>;
  /** Takes a timer back; resolves once that is kept. */
  cancelTimer(source: LiveActor6, id: string): Promise<void>;
  /** Takes all timers of an actor back. */
  cancelAllTimers(source: LiveActor6): Promise<void>;
  /** The end of async work as journaled; work without one is run. */
  runLogic(actor: LiveActor6, run: () => PromiseLike<unknown>): Promise<unknown>;
  /** A step's value from the journal; runs it where there is none, and notes what came. */
  runStep(actor: LiveActor6, key: string, run: () => unknown): Promise<unknown>;
}

/**
 * The adapter of one execution. Whatever happens to the execution is committed to its journal and then applied, one
 * occurrence after another, each with all that follows from it: so a replay, which reads the same occurrences in the
 * same order, comes to the same snapshots, effects and ids, and what is noted under those ids is not done again.
 */
export async function openExecution(
  xstate: XState6,
  supervisor: Supervisor,
  { id, logic, signal }: ExecutionOptions,
): Promise<ExecutionAdapter> {
  const journal = await ExecutionJournal.open(supervisor, id, logic, signal);
  const rootSession = `${id}:0`;
  /** Ends of async work that are not applied yet. */
  const bodies = new Map<string, { resolve(output: unknown): void; reject(error: unknown): void }>();
  const sources = new Map<string, LiveActor6>();
  const timers = new Map<string, Set<string>>();
  const stopped = new Set<string>();
  /** Events for the root that follow from what was applied. */
  const mailbox: { readonly type: string }[] = [];
  /** Operations of actors while the execution waits: nothing else waits for them. */
  let operations: Promise<unknown>[] = [];
  let isApplying = false;
  let timerOperations = 0;

  const tracked = <Value>(operation: Promise<Value>): Promise<Value> => {
    operations.push(operation);
    operation.catch(() => undefined); // the wait rejects with it
    return operation;
  };
  const timerOperation = (source: LiveActor6, timer: string, delayMs?: number): Promise<void> => {
    timerOperations += 1;
    const name = `timer ${timerOperations}`;
    const address = { name, session: sessionOf(source), timer };
    if (journal.noted(name) !== undefined) return Promise.resolve();
    return journal.write(
      delayMs === undefined
        ? { type: 'timer.cancelled', ...address }
        : { type: 'timer.set', ...address, delayMs },
    );
  };
  const noting = async (name: string, work: () => unknown): Promise<unknown> => {
    let outcome = journal.noted(name);
    if (outcome === undefined) {
      outcome = await outcomeOf(work, name);
      await journal.note(name, outcome);
    }
    return valueOf(outcome);
  };
  const work = async (session: string, run: () => PromiseLike<unknown>): Promise<void> => {
    if (journal.hasEnded(session)) return; // its end is still to be applied
    await journal.caughtUp;
    if (stopped.has(session)) return;
    const outcome = await outcomeOf(run, `the work of ${session}`);
    if (!stopped.has(session)) await journal.write({ type: 'actor.ended', session, outcome });
  };
  const apply = (occurrence: Occurrence): void => {
    switch (occurrence.type) {
      case 'event':
        mailbox.push(occurrence.event as never);
        break;
      case 'ended': {
        const { output, error } = occurrence.outcome;
        const body = bodies.get(occurrence.session);
        if (error === undefined) body?.resolve(output);
        else body?.reject(Object.assign(new Error(error.message), error));
        break;
      }
      case 'timer': {
        const { session, timer } = occurrence;
        timers.get(session)?.delete(timer);
        const due = { type: 'xstate.timer', id: timer };
        if (session === rootSession) mailbox.push(due);
        else xstate.deliverEvent(sources.get(session), sources.get(session), due);
      }
    }
  };

  return {
    executionId: id,
    executeAction: async (action, metadata, runtime) => {
      await noting(`action ${metadata.id}`, async () => void (await action.exec(runtime)));
    },
    async waitForEvent() {
      for (;;) {
        await Promise.all(operations);
        operations = [];
        const event = mailbox.shift();
        if (event !== undefined) return event as never;
        const occurrence = await journal.next();
        isApplying = true;
        apply(occurrence);
        await turn(); // what follows from it
        isApplying = false;
      }
    },
    enqueueRootEvent(_source, event) {
      if (!isApplying)
        throw new TypeError(
          `"${event.type}" was sent in the middle of async work, where a replay would not send it: answer it as output`,
        );
      mailbox.push(event);
    },
    startActor(actor) {
      const { logic = {} } = actor;
      if (!('root' in logic) && !isAsync(xstate, logic))
        throw new TypeError(
          `${actor.address} runs logic that cannot be replayed: invoke a machine or async logic, and send what ` +
            'comes from outside with event.send',
        );
      actor.start();
    },
    stopActor(actor) {
      stopped.add(sessionOf(actor));
      xstate.stopActor(actor);
    },
    async terminateActor(actor, termination) {
      if (actor.sessionId !== rootSession) return xstate.terminateActor(actor, termination);
      const { output, error } = termination as { readonly output?: unknown; readonly error?: unknown };
      const outcome = await outcomeOf(() => {
        if (error === undefined) return output;
        throw error;
      }, 'the output');
      if (journal.noted('end') === undefined) await journal.write({ type: 'execution.ended', outcome });
    },
    scheduleTimer(source, timer, delay) {
      sources.set(sessionOf(source), source);
      timers.set(sessionOf(source), (timers.get(sessionOf(source)) ?? new Set()).add(timer));
      return tracked(timerOperation(source, timer, delay));
    },
    cancelTimer(source, timer) {
      timers.get(sessionOf(source))?.delete(timer);
      return tracked(timerOperation(source, timer));
    },
    async cancelAllTimers(source) {
      const set = [...(timers.get(sessionOf(source)) ?? [])];
      timers.delete(sessionOf(source));
      await tracked(Promise.all(set.map((timer) => timerOperation(source, timer))));
    },
    runLogic: (actor, run) =>
      new Promise((resolve, reject) => {
        bodies.set(sessionOf(actor), { resolve, reject });
        work(sessionOf(actor), run).catch((error: unknown) => journal.fail(error));
      }),
    runStep: (actor, key, run) => noting(`step ${sessionOf(actor)} ${key}`, run),
  };
}

const sessionOf = ({ sessionId }: LiveActor6): string => String(sessionId);

/** Until all that was set off has happened: XState's own reactions take no time. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function outcomeOf(work: () => unknown, what: string): Promise<Outcome> {
  let output: unknown;
  try {
    output = await work();
  } catch (error) {
    return { error: errorData(error) };
  }
  return output === undefined ? {} : { output: carried(output, what) };
}

function valueOf({ output, error }: Outcome): unknown {
  if (error !== undefined) throw Object.assign(new Error(error.message), error);
  return output;
}
