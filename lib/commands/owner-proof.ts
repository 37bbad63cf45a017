import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * A word by which the gateway knows, before any challenge, that its own home can be read by who asks: so that a crowd
 * of strangers at the door cannot keep the owner out. It is made of the operator's token without telling it, holds for
 * a minute or two, and opens nothing: the challenge must be met as always.
 */
export const ownerProofHeader = 'x-svc-owner-proof';

/** `headers: {[ownerProofHeader]: ownerProof(token, Date.now())}` */
export const ownerProof = (token: string, now: number): string => createHmac('sha256', token).update(`owner at the door\n${Math.floor(now / 60_000)}`).digest('base64url');

export function isOwnerProof(given: string | undefined, token: string, now: number): boolean {
  if (given?.length !== 43) return false;
  return [0, -60_000, 60_000].some((away) => timingSafeEqual(Buffer.from(ownerProof(token, now + away)), Buffer.from(given.replace(/[^\w-]/g, '*'))));
}
