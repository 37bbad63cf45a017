import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ownerProof, ownerProofHeader } from '../commands/pair.js';
import type { Announcement } from '../home/announce.js';
import type { Layout } from '../home/layout.js';
import { CommandError, exitCodes } from './failure.js';

/**
 * Prove to the gateway that we own its home, without its token: write the nonce that it gives us to where
 * only the owner can. The place is our own reckoning, never the gateway's word: anyone who listens on its port
 * must not choose what we write.
 */
export async function prove<Minted>(
  layout: Layout,
  announcement: Announcement,
  route: '/api/auth/pairing-codes' | '/api/auth/bootstrap-grants',
): Promise<Minted> {
  const { challengeId, nonce } = (await post(
    announcement,
    '/api/auth/pairing-challenges',
    {},
    { [ownerProofHeader]: ownerProof(announcement.token, Date.now()) },
  )) as { challengeId?: unknown; nonce?: unknown };
  if (!isToken(challengeId) || !isToken(nonce))
    throw new CommandError(exitCodes.failed, `The gateway at ${announcement.url} sent an invalid challenge.`);
  const path = join(layout.home, `pair-challenge-${challengeId}`);
  try {
    const file = await open(
      path,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o600,
    );
    try {
      await file.chmod(0o600); // whatever the umask
      await file.writeFile(nonce);
    } finally {
      await file.close();
    }
    return (await post(announcement, route, { challengeId })) as Minted;
  } finally {
    await rm(path, { force: true });
  }
}

const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\w-]{43}$/.test(value);

async function post(
  { url }: Announcement,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const response = await fetch(new URL(path, url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.timeout(answerMsMax),
  }).catch((cause: unknown) => {
    throw new CommandError(
      exitCodes.notRunning,
      `The gateway at ${url} does not answer. "troupe status" shows details.`,
      { cause },
    );
  });
  const answer = (await response.json().catch(() => ({}))) as { error?: unknown };
  if (!response.ok)
    throw new CommandError(
      exitCodes.refused,
      typeof answer.error === 'string' ? answer.error : `${path} answered ${response.status}.`,
    );
  return answer;
}

const answerMsMax = 30_000;
