import type { ActionCall } from '../../../actors/workflow-run/ports.js';
import type { Json } from '../../../machines/outputs.js';
import type { StepOutcome } from '../../../machines/workflow-run/context.js';
import { fetchBytes } from '../../records/fetch/fetch-bytes.js';
import type { App } from '../app.js';
import { expected } from '../request.js';
import { causesOfRun, refuseAgents } from '../authority/workflow-authority.js';

/**
 * A step that is a request. It goes through the same fetcher as every address that someone gave: only to
 * public addresses, each judged and pinned. What is not a success fails the attempt.
 */
export async function request(
  app: App,
  { action, runId, key, signal }: ActionCall<'http'>,
): Promise<StepOutcome> {
  refuseAgents(await causesOfRun(app, runId), 'A request to an address');
  const { method, url, headers, body } = action;
  const sent =
    body === null || method === 'GET' ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const fetched = expected(
    await fetchBytes(url, {
      bytesMax,
      signal,
      method,
      headers: {
        ...(sent === undefined || typeof body === 'string' ? {} : { 'content-type': 'application/json' }),
        ...(method === 'GET' ? {} : { 'idempotency-key': key }),
        ...headers,
      },
      ...(sent === undefined ? {} : { content: sent }),
    }),
  );
  const chunks: Uint8Array[] = [];
  for await (const chunk of fetched.body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  const { fields, message } = readBody(text);
  return {
    summary: `${method} ${fetched.url.origin} answered ${fetched.status}`,
    fields: { status: fetched.status, ...fields },
    ...(message === undefined ? {} : { finalMessage: message }),
  };
}

const bytesMax = 256 * 1024;

/** A JSON object lends its members to the outcome, under `body`; anything else is text. */
function readBody(text: string): {
  readonly fields: Readonly<Record<string, Json>>;
  readonly message?: string;
} {
  try {
    return { fields: { body: JSON.parse(text) as Json } };
  } catch {
    // not JSON
    return text === '' ? { fields: {} } : { fields: {}, message: text };
  }
}
