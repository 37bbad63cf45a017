import { createHash, timingSafeEqual } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProofInput, ProofOutput } from '../../machines/pairing/machine.js';
import type { AtLeastOnceEffect } from '../contracts.js';

/**
 * The look at a proof: a file in the home that only someone who may write there, as the user who runs the
 * gateway, can have made. Everything is asked of the opened handle, so that nothing can be put in its place
 * in between; and the file is gone afterwards, whatever was found. After a crash in the middle it is gone,
 * too, and the answer is no.
 */
export function proofEffect({ home }: ProofOptions): AtLeastOnceEffect<ProofInput, ProofOutput> {
  return {
    guarantee: 'at-least-once',
    async run({ challengeId, nonceHash }) {
      const path = proofPath(home, challengeId);
      try {
        return { proven: await isProof(path, home, nonceHash) };
      } finally {
        // A folder in its place is no proof, and nothing that may be swept away
        await rm(path, { force: true }).catch(() => undefined);
      }
    },
  };
}

/** Removes the file of a challenge that no one redeemed. */
export function clearingEffect({ home }: ProofOptions): AtLeastOnceEffect<ProofInput, null> {
  return {
    guarantee: 'at-least-once',
    async run({ challengeId }) {
      await rm(proofPath(home, challengeId), { force: true }).catch(() => undefined);
      return null;
    },
  };
}

export interface ProofOptions {
  readonly home: string;
}

/** Where the asker of a challenge must write its nonce. */
export const proofPath = (home: string, challengeId: string): string =>
  join(home, `pair-challenge-${challengeId}`);

/** 32 bytes in base64url. */
const nonceBytes = 43;

async function isProof(path: string, home: string, nonceHash: string): Promise<boolean> {
  // O_NONBLOCK: a pipe put there would hold the opening for ever
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (file === undefined) return false;
  try {
    const [facts, house] = await Promise.all([file.stat(), stat(home)]);
    const owner = process.getuid?.() ?? facts.uid;
    const fits =
      facts.isFile() &&
      (facts.mode & 0o7777) === 0o600 &&
      facts.uid === owner &&
      facts.uid === house.uid &&
      facts.nlink === 1 &&
      facts.size === nonceBytes;
    if (!fits) return false;
    const content = Buffer.alloc(nonceBytes + 1); // one more than there may be: it might have grown
    const { bytesRead } = await file.read(content, 0, content.length, 0);
    const found = createHash('sha256').update(content.subarray(0, bytesRead)).digest();
    const wanted = Buffer.from(nonceHash, 'hex');
    return bytesRead === nonceBytes && found.length === wanted.length && timingSafeEqual(found, wanted);
  } catch {
    return false; // what cannot be read proves nothing
  } finally {
    await file.close();
  }
}
