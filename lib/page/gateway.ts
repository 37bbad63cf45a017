import { createClient } from '../client/client.js';
import { GatewayError, isRefusal, type Refusal } from '../client/refusal.js';
import { bearer, leave } from './access.js';
import { base } from './base.js';

/** Origin of the gateway that served this page, and the path before its API. */
export const url = `${location.origin}${base}`;
export const token = (): string | undefined => bearer() ?? undefined;
/** Answers are read fresh: what a page shows is what is committed. */
export const client = createClient({
  url,
  token,
  fetch: (request) => fetch(request, { cache: 'no-store' }),
});

/** A no that can be shown as it is: its message is a sentence for a person. `status` 0: nothing answered. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** `path`, `issues` … */
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }
}

/** The answer; throws a `Refused` where there is none: `await must(client.get('/api/attention'))`. */
export async function must<Value>(answer: Promise<Value>): Promise<Exclude<Value, Refusal>> {
  const value = await answer.catch((error: unknown) => {
    if (isIntercepted(error))
      throw new Refused(
        0,
        error.code,
        'A proxy between this browser and the gateway wants you to sign in. Sign in there, then reload this page.',
      );
    if (error instanceof GatewayError)
      throw new Refused(0, error.code, 'The gateway does not answer. The page reconnects automatically.');
    throw error;
  });
  if (!isRefusal(value)) return value as Exclude<Value, Refusal>;
  if (value.status === 401) leave();
  throw new Refused(value.status, value.code, value.message, value.details);
}

/** A proxy answered with its login: a page of HTML with 401 or 403, or a redirect. */
export const isIntercepted = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && [401, 403, 302].includes(error.status ?? 0);

/** What went wrong, as a sentence. */
export const said = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** May the same be answered in a while? Not where the gateway has understood it and says no. */
export const isTemporary = (error: unknown): boolean =>
  !(error instanceof Refused) || error.status === 0 || error.status === 429 || error.status >= 500;
export const retryMs = 2_000;
