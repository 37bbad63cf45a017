import { setup, type DoneActorEvent } from 'xstate';
import { fromKernel, isTrusted, type Authority } from '../caller.js';
import { effect, type Stamp, type Output } from '../outputs.js';
import { refuse, type Refusal } from '../refusals.js';
import { checkShape } from '../shape.js';

/**
 * A pairing challenge: a caller claims to own the home, and has ten seconds to prove it by writing the nonce
 * that it was given into a file there.
 *
 * **What lives.** The hash of the nonce. The nonce itself is known to that caller alone.
 *
 * **What can happen.** The one attempt to redeem it: the file is read and removed, and the challenge is
 * `proven` or `failed`. A proven one is spent in the very commit that makes a code of it. Otherwise time runs
 * out, on the monotonic clock, and the file is removed as well.
 *
 * **What can never happen.** A second attempt. Two codes of one challenge. A proof that stays on disk. An
 * agent that redeems.
 */
export interface PairingInput {
  /** Id of the challenge. */
  readonly id: string;
  /** Epoch milliseconds of the creation. */
  readonly at: number;
  /** SHA-256 of the nonce, hex. */
  readonly nonceHash: string;
}

/** What is remembered of a pairing. */
export interface PairingContext {
  /** Id of the challenge. */
  readonly id: string;
  /** SHA-256 of the nonce, hex; the nonce itself is kept nowhere. */
  readonly nonceHash: string;
  /** Epoch milliseconds. */
  readonly openedAt: number;
  /** Epoch milliseconds after which a proof comes too late. */
  readonly expiresAt: number;
}

/** What a pairing takes. */
export type PairingEvent = Stamp & { readonly type: 'challenge.redeem' | 'challenge.spend' };

/** What the effects are given. */
export interface ProofInput {
  /** Id of the challenge. */
  readonly challengeId: string;
  /** What a proof must show: SHA-256 of the nonce, hex. */
  readonly nonceHash: string;
}
/** Where the file of a proof lies. */
export interface ProofOutput {
  /** The file was there and said so. */
  readonly proven: boolean;
}

export type PairingStatus = 'open' | 'checking' | 'proven' | 'clearing' | 'spent' | 'failed' | 'expired';

export const challengeTtlMs = 10_000;

/**
 * Who may go on with a pairing. Answers the refusal, or undefined for yes; never throws.
 * @example const policy = (event: PairingEvent & Stamp) => pairingPolicy(event, authorityOf(event));
 */
export function pairingPolicy(event: PairingEvent, { onBehalfOf }: Authority): Refusal | undefined {
  if (fromKernel(event)) return undefined;
  if (event.type !== 'challenge.redeem' && event.type !== 'challenge.spend')
    return refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  return isTrusted(onBehalfOf) ? undefined : refuse('FORBIDDEN', {}, 'Agents may not pair browsers.');
}

/** One answer for every reason, so that it tells nothing to a caller who guesses. */
export const pairingNotInState = (): Refusal => refuse('CHALLENGE_FAILED');

/**
 * May a pairing begin with this input? Answers the refusal, or undefined for yes; never throws.
 * @example const validateInput = (input: PairingInput) => admitPairing(input);
 */
export const admitPairing = (input: PairingInput): Refusal | undefined =>
  checkShape({ nonceHash: 'string' })(input) === undefined && /^[0-9a-f]{64}$/.test(input.nonceHash)
    ? undefined
    : refuse('BAD_REQUEST', { path: 'nonceHash' });

/**
 * The statechart of a pairing.
 * @example const chart = pairingMachine.root.states;
 */
export const pairingMachine = setup({
  types: {} as { context: PairingContext; events: PairingEvent; input: PairingInput; emitted: Output },
  actors: { proof: effect<ProofOutput, ProofInput>(), clearing: effect<null, ProofInput>() },
  guards: {
    /** The timer may be a moment late. */
    inTime: ({ context, event }) => event.at < context.expiresAt,
    isProven: (_, { output }: { output: ProofOutput }) => output.proven === true,
  },
  delays: { lifetime: challengeTtlMs, spending: challengeTtlMs },
}).createMachine({
  id: 'pairing',
  context: ({ input }) => ({
    id: input.id,
    nonceHash: input.nonceHash,
    openedAt: input.at,
    expiresAt: input.at + challengeTtlMs,
  }),
  initial: 'open',
  states: {
    open: {
      after: { lifetime: 'clearing' },
      on: { 'challenge.redeem': { guard: 'inTime', target: 'checking' } },
    },
    checking: {
      invoke: {
        id: 'proof',
        src: 'proof',
        input: ({ context }) => ({ challengeId: context.id, nonceHash: context.nonceHash }),
        onDone: [
          {
            guard: {
              type: 'isProven',
              params: ({ event }: { event: DoneActorEvent<ProofOutput> }) => ({ output: event.output }),
            },
            target: 'proven',
          },
          { target: 'failed' },
        ],
        onError: 'failed',
      },
    },
    proven: {
      after: { spending: 'expired' },
      on: { 'challenge.spend': 'spent' },
    },
    clearing: {
      invoke: {
        id: 'clearing',
        src: 'clearing',
        input: ({ context }) => ({ challengeId: context.id, nonceHash: context.nonceHash }),
        onDone: 'expired',
        onError: 'expired',
      },
    },
    spent: { type: 'final' },
    failed: { type: 'final' },
    expired: { type: 'final' },
  },
});
