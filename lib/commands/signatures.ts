import { createHmac, timingSafeEqual } from 'node:crypto';
import { sortableText } from '../../machines/sortable.js';
import type { BindingFields } from '../../machines/trigger/machine.js';
import { recordOf, type Desk } from './desk.js';

/**
 * Events that come signed instead of with a secret: `t=<seconds>,v1=<hex>`, where the hex is HMAC-SHA256 of
 * `<seconds>.<body as it was sent>` under the binding's secret. What is seen on the way can be used for nothing else,
 * and only for a few minutes.
 *
 * A signature is checked with the secret itself, which no hash of it replaces. So that it is kept nowhere, it is made
 * anew each time, of the gateway's own token and a number that the binding keeps: a new token makes new secrets.
 */
export const signatureAlgorithm = 'hmac-sha256';

/** The secret of a signed binding; undefined where the gateway has nothing to make it of. */
export function signingSecret(desk: Desk, name: string, salt: string): string | undefined {
  const key = desk.keyFor?.(`workflow-trigger ${sortableText(name)} ${salt}`);
  return key === undefined ? undefined : `svcwk_${key}`;
}

export interface SignedEvent {
  /** The binding that the sender names. */
  readonly name: string;
  /** `t=<seconds>,v1=<hex>` */
  readonly signature: string;
  readonly bytes: Buffer;
}

/** `fresh`: the binding has signed exactly these bytes, not long ago; `ref` names this signature. `stale`: too long ago, or in the future. Undefined: it has not. */
export async function readSignature(desk: Desk, { name, signature, bytes }: SignedEvent): Promise<{ readonly is: 'fresh'; readonly ref: string } | { readonly is: 'stale' } | undefined> {
  const [, seconds = '', given = ''] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (seconds === '' || !soundName.test(name)) return undefined;
  const binding = await desk.supervisor.get('trigger', name);
  const salt = binding === undefined || binding.value !== 'active' ? undefined : (recordOf(binding) as unknown as Pick<BindingFields, 'signingSalt'>).signingSalt;
  // where there is no such binding as much is counted as where there is one
  const secret = signingSecret(desk, name, salt ?? '');
  const same = timingSafeEqual(Buffer.from(given, 'hex'), sign(secret ?? '', seconds, bytes));
  if (!same || salt == null || secret === undefined) return undefined; // what anybody can compute is no signature
  const awayMs = Math.abs(desk.supervisor.world.now() - Number(seconds) * 1000);
  return awayMs <= windowSeconds * 1000 ? { is: 'fresh', ref: `signature ${given}` } : { is: 'stale' };
}

/** How far a signature's time may lie from the gateway's. */
export const windowSeconds = 300;

const sign = (secret: string, seconds: string, bytes: Buffer): Buffer => createHmac('sha256', secret).update(`${seconds}.`).update(bytes).digest();
const soundName = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
