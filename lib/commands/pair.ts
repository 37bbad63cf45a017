import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { App } from './app.js';
import { proofPath } from '../../actors/pairing/proof.js';
import { homeId } from '../../actors/home/kind.js';
import { system } from '../../machines/caller.js';
import { challengeTtlMs } from '../../machines/pairing/machine.js';
import type { DeviceKind, NewDevice } from '../../machines/pairing-code/machine.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/**
 * How a browser becomes a known device: a challenge proves that someone owns the home, a code carries that
 * to the browser, and the browser gets a secret. Secrets are minted here; only hashes go into events.
 */
export interface Challenge {
  readonly challengeId: string;
  readonly nonce: string;
  readonly path: string;
  readonly expiresAt: string;
  readonly ttlSeconds: number;
}

export async function openChallenge({ supervisor, settings }: App): Promise<Challenge | Refusal> {
  const { environment } = supervisor;
  const challengeId = environment.random.secret(32);
  const nonce = environment.random.secret(32);
  const made = await supervisor.spawn('pairing', {
    id: challengeId,
    input: { nonceHash: createHash('sha256').update(nonce).digest('hex') },
    by,
  });
  if (isRefusal(made)) return made;
  const { expiresAt } = made.view as { expiresAt: string };
  return {
    challengeId,
    nonce,
    path: proofPath(settings.home, challengeId),
    expiresAt,
    ttlSeconds: challengeTtlMs / 1_000,
  };
}

export interface MintedCode {
  readonly code: string;
  readonly expiresAt: string;
  readonly ttlSeconds: number;
}

/**
 * A code for a browser (`remote`, five minutes, to be typed) or a grant for the browser of this machine
 * (`local`, one minute, never typed).
 */
export interface CodeInput {
  readonly deviceKind: DeviceKind;
  /** Must be proven first; without it the caller's own credential has to do. */
  readonly challengeId: string | undefined;
  readonly issuedTo: string;
}

/**
 * One code per proof: the challenge is spent in the commit that makes the code. CHALLENGE_FAILED when the
 * proof is not one.
 */
export async function mintCode(
  { supervisor }: App,
  key: string,
  { deviceKind, challengeId, issuedTo }: CodeInput,
): Promise<MintedCode | Refusal> {
  const { environment } = supervisor;
  if (challengeId !== undefined) {
    if (!challengeShape.test(challengeId)) return refuse('CHALLENGE_FAILED');
    const judged = await supervisor.ask(
      'pairing',
      challengeId,
      { type: 'challenge.redeem' },
      { by, until: ({ value }) => value !== 'checking' },
    );
    if (isRefusal(judged)) return isOurs(judged) ? judged : refuse('CHALLENGE_FAILED');
    if (judged.value !== 'proven') return refuse('CHALLENGE_FAILED');
  }
  const code =
    deviceKind === 'local' ? environment.random.secret(32) : typable(environment.random.secret(24));
  const id = codeId(key, deviceKind, code);
  const made = await supervisor.transact<{ expiresAt: string }>({
    name: 'mint-pairing-code',
    by,
    actors: [
      ...(challengeId === undefined ? [] : [{ kind: 'pairing', id: challengeId }]),
      { kind: 'pairing-code', id },
    ],
    run(turns) {
      if (challengeId !== undefined)
        turns.send({ kind: 'pairing', id: challengeId }, { type: 'challenge.spend' });
      const { view } = turns.create('pairing-code', id, {
        input: { deviceKind, issuedTo, ttlMs: ttlMs[deviceKind] },
      });
      return { expiresAt: (view as { expiresAt: string }).expiresAt };
    },
  });
  if (isRefusal(made)) return made;
  const { expiresAt } = made.result;
  return {
    code,
    expiresAt,
    ttlSeconds: Math.max(0, Math.floor((Date.parse(expiresAt) - environment.clock.now()) / 1_000)),
  };
}

/** What a browser that redeems a code says of itself. */
export interface Newcomer {
  readonly name: string;
  readonly address: string | null;
  readonly userAgent: string | null;
}

export interface Paired {
  readonly id: string;
  readonly secret: string;
}

/**
 * The device is on disk when this answers. PAIRING_CODE_INVALID for a wrong, used or expired code, without
 * saying which.
 */
export async function redeemCode(
  { supervisor }: App,
  key: string,
  input: { readonly deviceKind: DeviceKind; readonly code: string },
  newcomer: Newcomer,
): Promise<Paired | Refusal> {
  const { environment } = supervisor;
  const code = input.deviceKind === 'local' ? input.code : typed(input.code);
  if (code === undefined || !(input.deviceKind === 'local' ? challengeShape : codeShape).test(code))
    return refuse('PAIRING_CODE_INVALID');
  const id = `d_${environment.random.secret(12)}`;
  const secret = environment.random.secret(32);
  const device: Omit<NewDevice, 'createdAt' | 'kind'> = {
    id,
    name: newcomer.name,
    tokenHash: createHash('sha256').update(secret).digest('hex'),
    lastIp: newcomer.address,
    userAgent: newcomer.userAgent,
  };
  const judged = await supervisor.ask(
    'pairing-code',
    codeId(key, input.deviceKind, code),
    { type: 'code.redeem', device },
    { by, until: ({ value }) => value !== 'redeeming' },
  );
  if (isRefusal(judged)) return isOurs(judged) ? judged : refuse('PAIRING_CODE_INVALID');
  if (judged.value === 'redeemed') return { id, secret };
  return refuse(
    'DEVICES_DAMAGED',
    {},
    String(
      (judged.view as { reason?: unknown }).reason ?? 'The device could not be stored. Request a new code.',
    ),
  );
}

/**
 * Tell watchers that a browser is let in no more. The file is the truth: that no one could be told undoes
 * nothing.
 */
export async function announceRevoked({ supervisor }: App, id: string): Promise<void> {
  const published = await supervisor
    .ask('home', homeId, { type: 'fact.recorded', event: 'device:revoked', payload: { id } }, { by })
    .catch((error: unknown) => error as Error);
  if (published instanceof Error || isRefusal(published))
    supervisor.environment.log.warn({ event: 'device:revoked' }, 'could not publish an event');
}

const by = system('pairing');
const challengeShape = /^[\w-]{43}$/;
const ttlMs: Readonly<Record<DeviceKind, number>> = { remote: 300_000, local: 60_000 };

/** A refusal that says nothing of the code: the store cannot write, we are shutting down. */
const isOurs = ({ status }: Refusal): boolean => status >= 500;

/** Codes are found by their keyed hash: anyone who reads the store cannot even try them. */
const codeId = (key: string, deviceKind: DeviceKind, code: string): string =>
  createHmac('sha256', key).update(`pairing-${deviceKind}\0${code}`).digest('base64url');

/**
 * Letters and digits that no one takes for another: no I, O, 0, 1. 32 of them, so that a byte's low five bits
 * choose without a bias.
 */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const codeShape = new RegExp(`^[${alphabet}]{4}(?:-[${alphabet}]{4}){2}$`);

export function typable(secret: string): string {
  const letters = [...Buffer.from(secret, 'base64url').subarray(0, 12)]
    .map((byte) => alphabet[byte & 31])
    .join('');
  return letters.replace(/(.{4})(?=.)/g, '$1-');
}

/** As people type: any case, with or without blanks and dashes. */
export function typed(text: string): string | undefined {
  const letters = text.toUpperCase().replace(/[\s-]/g, '');
  return letters.length === 12 ? letters.replace(/(.{4})(?=.)/g, '$1-') : undefined;
}

/**
 * A word by which the gateway knows, before any challenge, that its own home can be read by who asks: so that
 * any number of outsiders at the gate cannot keep the owner out. It is made of the operator's token without
 * telling it, holds for a minute or two, and opens nothing: the challenge must be met as always.
 */
export const ownerProofHeader = 'x-svc-owner-proof';

/** `headers: {[ownerProofHeader]: ownerProof(token, Date.now())}` */
export const ownerProof = (token: string, now: number): string =>
  createHmac('sha256', token)
    .update(`owner of the home\n${Math.floor(now / 60_000)}`)
    .digest('base64url');

export function isOwnerProof(given: string | undefined, token: string, now: number): boolean {
  if (given?.length !== 43) return false;
  return [0, -60_000, 60_000].some((away) =>
    timingSafeEqual(Buffer.from(ownerProof(token, now + away)), Buffer.from(given.replace(/[^\w-]/g, '*'))),
  );
}
