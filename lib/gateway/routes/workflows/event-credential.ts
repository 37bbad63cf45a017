import {
  bindingOf,
  mayBeSigned,
  readSignature,
  windowSeconds,
} from '../../../commands/workflows/triggers.js';
import { refuse, type Refusal } from '../../../../machines/refusals.js';
import type { CredentialRequest, HttpRequest } from '../../route.js';

/** What an event from outside shows: the gateway's own credential, a binding's secret, or a signature by it. */

/**
 * Before the body: without the gateway's credential, a secret that opens a binding, or the form of a signature
 * for a binding that there is, nothing is read from outsiders.
 */
export async function mayPost({
  app,
  header,
  authenticated,
  caller,
}: CredentialRequest): Promise<Refusal | undefined> {
  const signature = header('x-svc-workflow-signature');
  const token = header('x-svc-workflow-event-token');
  const name = header('x-svc-workflow-trigger') ?? '';
  const mayGoOn =
    signature !== undefined
      ? await mayBeSigned(app, { name, signature })
      : token !== undefined
        ? (await bindingOf(app, token)) !== undefined
        : authenticated && caller.type !== 'session';
  return mayGoOn ? undefined : unauthenticated();
}

const unauthenticated = (): Refusal =>
  refuse('UNAUTHENTICATED', {}, 'Workflow event authentication required');

/**
 * The binding whose secret was shown or used; no `key`: the gateway's own credential. Agents tell no events.
 */
export async function keyOf({
  app,
  header,
  bytes,
  authenticated,
  caller: by,
}: HttpRequest<unknown, unknown>): Promise<{ readonly key?: string; readonly ref?: string } | Refusal> {
  const refused = unauthenticated();
  const signature = header('x-svc-workflow-signature');
  if (signature !== undefined) {
    const name = header('x-svc-workflow-trigger') ?? '';
    const signed = bytes === undefined ? undefined : await readSignature(app, { name, signature, bytes });
    if (signed?.is === 'stale')
      return refuse(
        'UNAUTHENTICATED',
        { windowSeconds },
        `The time of the signature differs from the gateway's by more than ${windowSeconds} s.`,
      );
    return signed === undefined ? refused : { key: name, ref: signed.ref };
  }
  const token = header('x-svc-workflow-event-token');
  if (token === undefined) return authenticated && by.type !== 'session' ? {} : refused;
  const key = await bindingOf(app, token);
  return key === undefined ? refused : { key };
}
