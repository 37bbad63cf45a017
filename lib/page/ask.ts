import { credentials, leave } from './access.js';
import { base } from './base.js';

/**
 * The gateway's REST as the page asks it. A refusal is an `Asked` with a sentence that can be shown as it is.
 */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** `await ask<Fleet>('/api/inspect/fleet')` */
export async function ask<Body>(
  path: string,
  options: { readonly signal?: AbortSignal; readonly post?: unknown } = {},
): Promise<Body> {
  const answer = await reach(path, options);
  return (await answer.json()) as Body;
}

/** Save what a path answers as a file. */
export async function download(path: string, name: string): Promise<void> {
  const answer = await reach(path, {});
  const address = URL.createObjectURL(await answer.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

async function reach(
  path: string,
  { signal, post }: { readonly signal?: AbortSignal; readonly post?: unknown },
): Promise<Response> {
  const answer = await fetch(`${base}${path}`, {
    method: post === undefined ? 'GET' : 'POST',
    credentials: 'same-origin',
    redirect: 'error',
    cache: 'no-store',
    headers: { ...credentials(), ...(post !== undefined && { 'content-type': 'application/json' }) },
    ...(post !== undefined && { body: JSON.stringify(post) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new Refused(0, 'UNREACHABLE', 'The gateway does not answer. The page reconnects automatically.');
  });
  if (answer.ok) return answer;
  const { code = 'ERROR', error = answer.statusText } = (await answer.json().catch(() => ({}))) as {
    code?: string;
    error?: string;
  };
  if (answer.status === 401) leave();
  throw new Refused(answer.status, code, error);
}

/** What went wrong, as a sentence. */
export const said = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** May the same be answered in a while? Not where the gateway has understood it and says no. */
export const isTemporary = (error: unknown): boolean =>
  !(error instanceof Refused) || error.status === 0 || error.status === 429 || error.status >= 500;
export const retryMs = 2_000;

/** The path of an actor, whatever stands in its id. */
export const actorPath = ({ kind, id }: { readonly kind: string; readonly id: string }, more = ''): string =>
  `/api/inspect/actors/${encodeURIComponent(kind)}/${encodeURIComponent(id)}${more}`;
