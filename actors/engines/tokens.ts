import { createHash, randomBytes } from 'node:crypto';
import { markOf } from './process/agent-mark.js';

/**
 * The tokens by which agents speak to the gateway as their own session. Minted per turn, kept only as hashes
 * and only in memory: after a crash none is valid but those of turns that are found alive, whose notes hold the hash.
 */
export interface SessionTokens {
  /** A new token, 43 characters (256 bits), valid until revoked. */
  mint(sessionId: string): string;
  /** The token of an agent that has outlived the gateway that minted it. */
  restore(sessionId: string, hash: string): void;
  /** Whose token this is; undefined for an unknown or revoked one. */
  resolve(token: string): string | undefined;
  /** By token or by its hash. */
  revoke(tokenOrHash: string): void;
  /** All tokens of a session that was stopped or deleted. */
  revokeSession(sessionId: string): void;
  /** Whose agent carries this mark (`process/agent-mark.ts`), also after its turn. */
  sessionOfMark(mark: number): string | undefined;
  /** How many are valid now. */
  readonly size: number;
  /** How many there have been. */
  readonly minted: number;
}

/** SHA-256, hex: what is written down in a token's place. Looking up by hash leaks nothing by its timing. */
export const tokenHash = (token: string): string => createHash('sha256').update(token).digest('hex');

/** `const tokens = createSessionTokens(); tokens.resolve(tokens.mint('s1')) // 's1'` */
export function createSessionTokens(random: (bytes: number) => Buffer = randomBytes): SessionTokens {
  const sessions = new Map<string, string>();
  const marks = new Map<number, string>();
  let minted = 0;
  function know(sessionId: string, hash: string): void {
    const mark = markOf(sessionId);
    marks.delete(mark); // so that the oldest stands first
    marks.set(mark, sessionId);
    const [oldest = mark] = marks.keys();
    if (marks.size > marksMax) marks.delete(oldest);
    sessions.set(hash, sessionId);
  }
  return {
    mint(sessionId) {
      minted += 1;
      const token = random(32).toString('base64url');
      know(sessionId, tokenHash(token));
      return token;
    },
    restore: know,
    resolve: (token) => sessions.get(tokenHash(token)),
    revoke(tokenOrHash) {
      sessions.delete(tokenOrHash);
      sessions.delete(tokenHash(tokenOrHash));
    },
    revokeSession(sessionId) {
      for (const [hash, owner] of sessions) if (owner === sessionId) sessions.delete(hash);
    },
    sessionOfMark: (mark) => marks.get(mark),
    get size() {
      return sessions.size;
    },
    get minted() {
      return minted;
    },
  };
}

const marksMax = 10_000;
