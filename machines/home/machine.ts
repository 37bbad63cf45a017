import { setup } from 'xstate';
import { isTrusted, type Authority } from '../caller.js';
import { publish, decidesFor, type Json, type Stamp, type Output, type Decision } from '../outputs.js';
import { excerpt, jsonBytes } from '../text.js';
import { refuse, type Refusal } from '../refusals.js';

/**
 * The home: through it what happens to files (roster, skills, configuration, uploads) enters the log.
 *
 * **What lives.** How many facts were recorded, and when the last one; how its backups by schedule stand, because a
 * person must hear when they fail. The files themselves are the truth.
 *
 * **What can happen.** A fact is recorded and published, in the order of the log; a client that resumes later gets
 * it as well.
 *
 * **What can never happen.** An agent that records a fact; a fact without a name, or one that is too large to
 * publish.
 */
export interface HomeContext {
  /** Id of the actor. */
  readonly id: string;
  /** Facts recorded so far. */
  readonly facts: number;
  /** Epoch milliseconds of the last; null: none. */
  readonly lastAt: number | null;
  /** Of the schedule. */
  readonly backup: BackupState;
}

/** How backups by schedule stand. */
export type BackupState = {
  /** When the last was made, epoch milliseconds; null: none since this is noted. */
  readonly madeAt: number | null;
  /** Since when each try has failed, and why the last one did; null: it did not. */
  readonly failing: { readonly since: number; readonly reason: string } | null;
};

/** No backup was made, and none failed. */
export const noBackup: BackupState = { madeAt: null, failing: null };

/** `{type: 'fact.recorded', event: 'org:changed', payload: {}}` */
export type HomeEvent = Stamp & {
  readonly type: 'fact.recorded';
  /** What happened, `noun:verb` of at most 32 letters each. */
  readonly event: string;
  /** What is to be said of it, of a few KiB; it is sent to watchers as it is. */
  readonly payload: Json;
};

/**
 * Who may say this of the home. Answers the refusal, or undefined for yes; never throws.
 * @example const policy = (event: HomeEvent & Stamp) => homePolicy(event, authorityOf(event));
 */
export function homePolicy(event: HomeEvent, { onBehalfOf }: Authority): Refusal | undefined {
  if (event.type !== 'fact.recorded')
    return refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  if (!isTrusted(onBehalfOf)) return refuse('FORBIDDEN', {}, 'Agents may not record facts about the home.');
  if (typeof event.event !== 'string' || !/^[a-z][a-z-]{0,31}:[a-z][a-z-]{0,31}$/.test(event.event))
    return refuse('BAD_REQUEST', { path: 'event' }, 'Invalid name of a fact; use a form like org:changed.');
  if (event.payload === undefined || jsonBytes(event.payload) > payloadBytesMax)
    return refuse(
      'BAD_REQUEST',
      { path: 'payload' },
      `A fact has a payload of at most ${payloadBytesMax} bytes.`,
    );
  return undefined;
}

const payloadBytesMax = 8_192;

/**
 * The statechart of the home, whose log tells of its files.
 * @example const chart = homeMachine.root.states;
 */
export const homeMachine = setup({
  types: {} as { context: HomeContext; events: HomeEvent; input: { readonly id: string }; emitted: Output },
  actions: { record: decidesFor<HomeContext, HomeEvent>()('fact.recorded', record) },
}).createMachine({
  id: 'home',
  context: ({ input }) => ({ id: input.id, facts: 0, lastAt: null, backup: noBackup }),
  initial: 'open',
  states: { open: { on: { 'fact.recorded': { actions: 'record' } } } },
});

function record(context: HomeContext, event: HomeEvent): Decision<HomeContext> {
  return {
    set: { facts: context.facts + 1, lastAt: event.at, backup: backupAfter(context.backup, event) },
    outputs: [publish(event.event, event.payload)],
  };
}

function backupAfter(backup: BackupState, { event, payload, at }: HomeEvent): BackupState {
  if (event === 'backup:made') return { madeAt: at, failing: null };
  if (event === 'backup:off') return { ...backup, failing: null };
  if (event !== 'backup:failed') return backup;
  const { reason } = (payload ?? {}) as { readonly reason?: unknown };
  return {
    ...backup,
    failing: { since: backup.failing?.since ?? at, reason: excerpt(String(reason ?? ''), reasonCharsMax) },
  };
}

const reasonCharsMax = 500;
