import { createClient } from '../../client/client.js';
import { GatewayError, isRefusal, type Refusal } from '../../client/refusal.js';
import { bearer, leave } from '../../page/access.js';
import { Refused } from '../../page/ask.js';

/** The gateway that served this page. */
export const client = createClient({ url: location.origin, token: () => bearer() ?? undefined });

/**
 * The answer, or what can be shown of its refusal: `await must(client.get('/api/attention'))`. Throws a
 * `Refused`, whose message is a sentence for a person.
 */
export async function must<Value>(answer: Promise<Value>): Promise<Exclude<Value, Refusal>> {
  const value = await answer.catch((error: unknown) => {
    if (error instanceof GatewayError)
      throw new Refused(0, error.code, 'The gateway does not answer. The page reconnects automatically.');
    throw error;
  });
  if (!isRefusal(value)) return value as Exclude<Value, Refusal>;
  if (value.status === 401) leave();
  throw new Refused(value.status, value.code, value.message);
}
