import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { optionalPackage } from '../../../actors/optional-package.js';
import { HomeError } from '../home-error.js';

/**
 * What is written to a destination goes through here, and comes back through here. `digest` names contents and proves
 * them: with a key it is an HMAC, so that no one without the key can learn by a name whether a known file is in it, or
 * put something in its place.
 */
export interface Seal {
  readonly encrypted: boolean;
  /** 64 characters of hex. */
  digest(content: Uint8Array): string;
  close(content: Uint8Array): Promise<Uint8Array>;
  /** Rejects where it is not what `close` made, or was made with another key. */
  open(sealed: Uint8Array): Promise<Uint8Array>;
}

/** Contents as they are. */
export const noSeal: Seal = {
  encrypted: false,
  digest: (content) => createHash('sha256').update(content).digest('hex'),
  close: (content) => Promise.resolve(content),
  open: (sealed) => Promise.resolve(sealed),
};

/** Files in the format of age (age-encryption.org), for the identity alone: `age --decrypt -i` opens each. */
export async function ageSeal(identity: string): Promise<Seal> {
  const age = await loadAge();
  const recipient = await age.identityToRecipient(identity).catch((cause: unknown) => {
    throw new HomeError(
      'BAD_HOME',
      'TROUPE_BACKUP_KEY is not an age identity.',
      'Make one with: troupe backup key',
      { cause },
    );
  });
  const encrypter = new age.Encrypter();
  encrypter.addRecipient(recipient);
  const decrypter = new age.Decrypter();
  decrypter.addIdentity(identity);
  const secret = createHash('sha256').update('troupe backup digest\0').update(identity).digest();
  return {
    encrypted: true,
    digest: (content) => createHmac('sha256', secret).update(content).digest('hex'),
    close: (content) => encrypter.encrypt(content),
    open: (sealed) => decrypter.decrypt(sealed),
  };
}

/** A new identity for `TROUPE_BACKUP_KEY`. */
export const newKey = async (): Promise<string> => (await loadAge()).generateX25519Identity();

const loadAge = () => optionalPackage('age-encryption', () => import('age-encryption'));

export const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
