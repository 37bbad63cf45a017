import { setup } from 'xstate';
import { fromKernel, isPerson, isTrusted, type Authority, type Caller } from '../caller.js';
import { publish, decidesFor, type Output, type Stamp, type Decision } from '../outputs.js';
import { refuse, type Refusal } from '../refusals.js';
import { checkShape } from '../shape.js';
import { excerpt } from '../text.js';
import { titleCharsMax, type Waiting } from '../waiting.js';

/**
 * A worker on another machine: what it may do here, and until when.
 *
 * **What lives.** The hash of the code by which it joins, for ten minutes; then the hash of its token. What it said
 * of itself when it connected last, and how often it has connected: the number of a connection is its epoch, so that
 * a gateway that no longer owns the home, which can commit nothing, cannot speak to a worker.
 *
 * **What can happen.** A person invites it, it joins with the code and connects; it is drained, taken back into
 * service, removed, and invited again under its name. It is reported while turns wait for it that it cannot take.
 *
 * **What can never happen.** Two workers of one code. A connection of one that was removed. A secret in the log. An
 * agent that invites, drains or removes one.
 */
export interface WorkerInput {
  /** Its name: `gpu1`. */
  readonly id: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly by?: Caller;
  /** Keyed hash of the code by which it joins. */
  readonly codeHash: string;
}

/** What a worker says of itself when it connects. */
export type WorkerOffer = {
  /** Names its machine, and that machine's start. */
  readonly machine: string;
  /** Turns at once. */
  readonly slots: number;
  readonly labels: readonly string[];
  /** Engines that it has. */
  readonly engines: readonly string[];
  /** Folders in which its agents may work, absolute paths there. */
  readonly roots: readonly string[];
  /** Where sessions work that name no folder. */
  readonly work: string;
};

/** What is remembered of a worker. */
export interface WorkerContext {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly invitedAt: number;
  /** Keyed hash; null: the code was used, or its time is over. */
  readonly codeHash: string | null;
  /** SHA-256, hex; null: it has not joined, or was removed. */
  readonly tokenHash: string | null;
  /** Connections so far. */
  readonly epoch: number;
  /** Epoch milliseconds of the last one; null: it never connected. */
  readonly connectedAt: number | null;
  readonly offer: WorkerOffer | null;
  /** Turns wait for it that it cannot take: since when, and what it is or lacks. Null: none do. */
  readonly missed: { readonly since: number; readonly why: string } | null;
}

/** What a worker's actor takes. */
export type WorkerEvent = Stamp &
  (
    | { readonly type: 'worker.invite'; readonly codeHash: string }
    | { readonly type: 'worker.join'; readonly codeHash: string; readonly tokenHash: string }
    | { readonly type: 'worker.connect'; readonly tokenHash: string; readonly offer: WorkerOffer }
    | { readonly type: 'worker.missed'; readonly why: string | null }
    | { readonly type: 'worker.drain' }
    | { readonly type: 'worker.resume' }
    | { readonly type: 'worker.remove' }
  );

export type WorkerStatus = 'invited' | 'serving' | 'draining' | 'removed';

export const workerLimits = {
  inviteMs: 600_000,
  slotsMax: 64,
  labelsMax: 16,
  enginesMax: 64,
  rootsMax: 32,
  pathCharsMax: 1_024,
} as const;

/** 1 to 32 of a-z, 0-9 and dashes; names that begin with `worker-` are those of this machine. */
export const isWorkerName = (name: string): boolean =>
  /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/.test(name) && !name.startsWith('worker-');

/** A word by which workers are chosen: `gpu`, `linux`, `eu-west`. */
export const isWorkerLabel = (label: string): boolean =>
  /^[a-z0-9](?:[a-z0-9._-]{0,30}[a-z0-9])?$/.test(label);

/**
 * Who may do what with a worker. Answers the refusal, or undefined for yes; never throws.
 * @example const refused = workerPolicy(context, event, authorityOf(event));
 */
export function workerPolicy(
  { codeHash, tokenHash }: WorkerContext,
  event: WorkerEvent,
  { onBehalfOf }: Authority,
): Refusal | undefined {
  if (fromKernel(event)) return undefined;
  switch (event.type) {
    case 'worker.join':
      if (!isTrusted(onBehalfOf)) return refuse('FORBIDDEN');
      return codeHash !== null && codeHash === event.codeHash && isHash(event.tokenHash)
        ? undefined
        : refuse('PAIRING_CODE_INVALID');
    case 'worker.connect':
      if (!isTrusted(onBehalfOf) || tokenHash === null || tokenHash !== event.tokenHash)
        return refuse('UNAUTHENTICATED');
      return isOffer(event.offer) ? undefined : refuse('BAD_REQUEST', { path: 'offer' }, 'Invalid worker.');
    case 'worker.missed':
      return isTrusted(onBehalfOf) && (event.why === null || isSentence(event.why))
        ? undefined
        : refuse('FORBIDDEN');
    case 'worker.invite':
    case 'worker.drain':
    case 'worker.resume':
    case 'worker.remove':
      return isPerson(onBehalfOf) ? undefined : refuse('PERSON_REQUIRED');
    default:
      return refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

/** The same for who knows the code and for who guesses. */
export const workerNotInState = ({ value }: { readonly value: unknown }, event: WorkerEvent): Refusal =>
  event.type === 'worker.join'
    ? refuse('PAIRING_CODE_INVALID')
    : event.type === 'worker.connect'
      ? refuse('UNAUTHENTICATED')
      : refuse('CONFLICT', { status: String(value) }, conflicts[String(value)] ?? conflicts['removed']);

const conflicts: Readonly<Record<string, string>> = {
  invited: 'The worker has not joined yet.',
  serving: 'The worker is in service. Remove it before it is added again.',
  draining: 'The worker is drained already.',
  removed: 'The worker was removed. Add it again.',
};

/**
 * May a worker be made of this input? Answers the refusal, or undefined for yes; never throws.
 * @example const validateInput = (input: WorkerInput) => admitWorker(input);
 */
export function admitWorker({ id, by, codeHash }: WorkerInput): Refusal | undefined {
  if (!isWorkerName(id))
    return refuse(
      'BAD_REQUEST',
      { path: 'name' },
      'A name has 1 to 32 of a-z, 0-9 and inner dashes, and does not begin with "worker-".',
    );
  if (by !== undefined && !isPerson(by)) return refuse('PERSON_REQUIRED');
  return isHash(codeHash) ? undefined : refuse('BAD_REQUEST', {}, 'Invalid worker.');
}

const isSentence = (why: unknown): boolean => typeof why === 'string' && why.length <= 200;

const isHash = (text: unknown): boolean => typeof text === 'string' && /^[\w-]{43,64}$/.test(text);

function isOffer(offer: WorkerOffer): boolean {
  const isList = (list: readonly string[], most: number, fits: (one: string) => boolean): boolean =>
    Array.isArray(list) && list.length <= most && list.every((one) => typeof one === 'string' && fits(one));
  const isPath = (path: string): boolean =>
    path.startsWith('/') && path.length <= workerLimits.pathCharsMax && !path.includes('\0');
  return (
    checkShape({ machine: 'string', slots: 'number', work: 'string' })(offer) === undefined &&
    offer.machine.length <= 100 &&
    Number.isInteger(offer.slots) &&
    offer.slots >= 1 &&
    offer.slots <= workerLimits.slotsMax &&
    isPath(offer.work) &&
    isList(offer.labels, workerLimits.labelsMax, isWorkerLabel) &&
    isList(offer.engines, workerLimits.enginesMax, (name) => /^[\w.-]{1,64}$/.test(name)) &&
    isList(offer.roots, workerLimits.rootsMax, isPath)
  );
}

/**
 * What of a worker waits for a person: turns that it cannot take. Never throws.
 * @example const waitingFor = ({ context }: SnapshotFrom<typeof workerMachine>) => workerWaiting(context);
 */
export const workerWaiting = ({ id, missed }: WorkerContext): readonly Waiting[] =>
  missed === null
    ? []
    : [
        {
          id: 'missed',
          what: 'worker',
          title: excerpt(`Worker ${id} ${missed.why}, and turns wait for it`, titleCharsMax),
          on: 'operator',
          since: missed.since,
          until: null,
        },
      ];

const decides = decidesFor<WorkerContext, WorkerEvent>();

/**
 * The statechart of a worker on another machine.
 * @example const chart = workerMachine.root.states;
 */
export const workerMachine = setup({
  types: {} as { context: WorkerContext; events: WorkerEvent; input: WorkerInput; emitted: Output },
  delays: { invitation: () => workerLimits.inviteMs },
  actions: {
    invite: decides('worker.invite', (_, { codeHash, at }) => ({ set: { codeHash, invitedAt: at } })),
    join: decides('worker.join', (_, { tokenHash }) => ({ set: { codeHash: null, tokenHash } })),
    connect: decides('worker.connect', (context, { offer, at }) => ({
      set: { epoch: context.epoch + 1, connectedAt: at, offer, missed: null },
    })),
    miss: decides('worker.missed', ({ missed }, { why, at }) => ({
      set: { missed: why === null ? null : { since: missed?.since ?? at, why } },
    })),
    forget: decides((): Decision<WorkerContext> => ({
      set: { codeHash: null, tokenHash: null, missed: null },
    })),
    publish: decides((context) => ({ outputs: [publish('worker:updated', { name: context.id })] })),
  },
}).createMachine({
  id: 'worker',
  context: ({ input: { id, at, codeHash } }) => ({
    id,
    invitedAt: at,
    codeHash,
    tokenHash: null,
    epoch: 0,
    connectedAt: null,
    offer: null,
    missed: null,
  }),
  initial: 'invited',
  states: {
    invited: {
      after: { invitation: { target: 'removed', actions: ['forget', 'publish'] } },
      on: {
        'worker.invite': { target: 'invited', reenter: true, actions: 'invite' },
        'worker.join': { target: 'serving', actions: ['join', 'publish'] },
        'worker.missed': { actions: ['miss', 'publish'] },
        'worker.remove': { target: 'removed', actions: ['forget', 'publish'] },
      },
    },
    serving: {
      on: {
        'worker.connect': { actions: ['connect', 'publish'] },
        'worker.missed': { actions: ['miss', 'publish'] },
        'worker.drain': { target: 'draining', actions: 'publish' },
        'worker.remove': { target: 'removed', actions: ['forget', 'publish'] },
      },
    },
    draining: {
      on: {
        'worker.connect': { actions: ['connect', 'publish'] },
        'worker.missed': { actions: ['miss', 'publish'] },
        'worker.resume': { target: 'serving', actions: 'publish' },
        'worker.remove': { target: 'removed', actions: ['forget', 'publish'] },
      },
    },
    removed: {
      on: {
        'worker.missed': { actions: ['miss', 'publish'] },
        'worker.invite': { target: 'invited', actions: ['invite', 'publish'] },
      },
    },
  },
});
