import { assign, setup, type ErrorActorEvent } from 'xstate';
import { fromKernel, isTrusted, type Authority } from '../caller.js';
import { publish, effect, decidesFor, type Stamp, type Output, type Decision } from '../outputs.js';
import { refuse, type Refusal } from '../refusals.js';
import { checkShape } from '../shape.js';

/**
 * A pairing code: it makes one browser a known device, once.
 *
 * **What lives.** Its own id is the keyed hash of the code, so that it is found without the code being
 * anywhere. Until it is redeemed it lives five minutes (a grant for the browser of this machine: one), also
 * across a restart.
 *
 * **What can happen.** It is redeemed: the device, with the hash of its secret, is written to the file of
 * devices, and only then does the browser get its cookies. Or the writing fails, or time runs out.
 *
 * **What can never happen.** Two devices of one code. A secret in the log. A device of an expired code. An
 * agent that redeems one.
 */
export interface PairingCodeInput {
  /** Id of the actor; it is not the code. */
  readonly id: string;
  /** Epoch milliseconds of the creation. */
  readonly at: number;
  /** Of the device that it will make. */
  readonly deviceKind: DeviceKind;
  /** Who asked for it: `challenge`, or the name of a device. */
  readonly issuedTo: string;
  /** Milliseconds for which the code may be used. */
  readonly ttlMs: number;
}

/** Where a paired browser is: on this machine, or on another. */
export type DeviceKind = 'local' | 'remote';

/** A device as it is written to the file. */
export interface NewDevice {
  /** Its id, for the list of devices. */
  readonly id: string;
  /** As a person reads it: browser and system. */
  readonly name: string;
  /** What it is, and so how long its pairing lasts. */
  readonly kind: DeviceKind;
  /** Epoch ms. */
  readonly createdAt: number;
  /** SHA-256 of the secret, hex. */
  readonly tokenHash: string;
  /** Address that paired it; null where unknown. */
  readonly lastIp: string | null;
  /** As the browser said; null where it said nothing. */
  readonly userAgent: string | null;
}

/** What is remembered of a pairing code. */
export interface PairingCodeContext extends Omit<PairingCodeInput, 'at'> {
  /** Epoch milliseconds. */
  readonly openedAt: number;
  /** Epoch milliseconds after which the code is worth nothing. */
  readonly expiresAt: number;
  /** The device that it made; null: not yet. */
  readonly device: NewDevice | null;
  /** Why the device could not be written. */
  readonly reason: string | null;
}

/** What a pairing code takes. */
export type PairingCodeEvent = Stamp & {
  readonly type: 'code.redeem';
  /** The browser that is paired; its token is known by the hash alone. */
  readonly device: Omit<NewDevice, 'createdAt' | 'kind'>;
};

export type PairingCodeStatus = 'valid' | 'redeeming' | 'redeemed' | 'failed' | 'expired';

/**
 * Who may use a pairing code. Answers the refusal, or undefined for yes; never throws.
 * @example const policy = (event: PairingCodeEvent & Stamp) => pairingCodePolicy(event, authorityOf(event));
 */
export function pairingCodePolicy(event: PairingCodeEvent, { onBehalfOf }: Authority): Refusal | undefined {
  if (fromKernel(event)) return undefined;
  if (event.type !== 'code.redeem')
    return refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  if (!isTrusted(onBehalfOf)) return refuse('FORBIDDEN', {}, 'Agents may not pair browsers.');
  const wrong = checkDevice(event.device);
  return wrong === undefined && /^[0-9a-f]{64}$/.test(event.device.tokenHash)
    ? undefined
    : refuse('BAD_REQUEST', { path: 'device' }, 'Invalid device.');
}

/** One answer for every reason, so that it tells nothing to a caller who guesses. */
export const pairingCodeNotInState = (): Refusal => refuse('PAIRING_CODE_INVALID');

const checkDevice = checkShape({
  id: 'string',
  name: 'string',
  tokenHash: 'string',
  lastIp: 'string?',
  userAgent: 'string?',
});

/**
 * May a pairing code be made of this input? Answers the refusal, or undefined for yes; never throws.
 * @example const validateInput = (input: PairingCodeInput) => admitPairingCode(input);
 */
export function admitPairingCode(input: PairingCodeInput): Refusal | undefined {
  const fits =
    checkShape({ deviceKind: 'string', issuedTo: 'string', ttlMs: 'number' })(input) === undefined &&
    ['local', 'remote'].includes(input.deviceKind) &&
    input.ttlMs > 0 &&
    input.ttlMs <= 300_000;
  return fits ? undefined : refuse('BAD_REQUEST', {}, 'Invalid pairing code request.');
}

const decides = decidesFor<PairingCodeContext, PairingCodeEvent>();

/**
 * The statechart of a pairing code.
 * @example const chart = pairingCodeMachine.root.states;
 */
export const pairingCodeMachine = setup({
  types: {} as {
    context: PairingCodeContext;
    events: PairingCodeEvent;
    input: PairingCodeInput;
    emitted: Output;
  },
  actors: { device: effect<null, NewDevice>() },
  guards: {
    /** The timer may be a moment late. */
    inTime: ({ context, event }) => event.at < context.expiresAt,
  },
  delays: { lifetime: ({ context }) => context.ttlMs },
  actions: {
    redeem: decides('code.redeem', redeem),
    fail: assign((_, { reason }: { reason: string }) => ({ reason })),
    publishPaired: decides(publishPaired),
  },
}).createMachine({
  id: 'pairing-code',
  context: ({ input: { id, at, deviceKind, issuedTo, ttlMs } }) => ({
    id,
    deviceKind,
    issuedTo,
    ttlMs,
    openedAt: at,
    expiresAt: at + ttlMs,
    device: null,
    reason: null,
  }),
  initial: 'valid',
  states: {
    valid: {
      after: { lifetime: 'expired' },
      on: { 'code.redeem': { guard: 'inTime', target: 'redeeming', actions: 'redeem' } },
    },
    redeeming: {
      invoke: {
        id: 'device',
        src: 'device',
        input: ({ context }) => context.device as NewDevice, // set by the arrow into this state
        onDone: { target: 'redeemed', actions: 'publishPaired' },
        onError: {
          target: 'failed',
          actions: {
            type: 'fail',
            params: ({ event }: { event: ErrorActorEvent }) => ({ reason: reasonOf(event.error) }),
          },
        },
      },
    },
    redeemed: { type: 'final' },
    failed: { type: 'final' },
    expired: { type: 'final' },
  },
});

function redeem(context: PairingCodeContext, { device, at }: PairingCodeEvent): Decision<PairingCodeContext> {
  const { id, name, tokenHash, lastIp, userAgent } = device;
  return {
    set: { device: { id, name, kind: context.deviceKind, createdAt: at, tokenHash, lastIp, userAgent } },
  };
}

function publishPaired({ device }: PairingCodeContext): Decision<PairingCodeContext> {
  return device === null
    ? {}
    : { outputs: [publish('device:paired', { id: device.id, name: device.name, kind: device.kind })] };
}

const reasonOf = (error: unknown): string =>
  String((error as { message?: unknown } | null)?.message ?? 'The device could not be written.').slice(
    0,
    500,
  );
