import { createHash } from 'node:crypto';
import type { InboundMessage } from '../../actors/connectors/connector.js';
import { system } from '../../machines/caller.js';
import { isRefusal } from '../../machines/refusals.js';
import { employeeNamed, type Asking, type Desk } from './desk.js';
import { openWithin, selectFor } from './open-session.js';
import { workingFolder } from './working-folder.js';

/**
 * What somebody writes through a connector: one session per conversation (channel and thread), opened at the first
 * message and answered through the same connector. Only who stands in `allowFrom` is heard; everybody else is told
 * nothing, so that a stranger does not even learn that somebody listens. A message that the far side delivers again is
 * recognised by its id. Rejects when it could not be kept: the far side then says it again.
 */
export async function receiveMessage(desk: Desk, connector: string, message: InboundMessage): Promise<'heard' | 'ignored'> {
  const instance = desk.connectors?.instances().find(({ name }) => name === connector);
  const allowed = instance?.allowFrom ?? [];
  if (instance === undefined || !(allowed.includes('*') || allowed.includes(message.from))) {
    desk.supervisor.world.log.info({ connector, from: message.from.slice(0, 128) }, 'a message of somebody who is not in allowFrom was ignored');
    return 'ignored';
  }
  const { channel, thread } = message;
  const id = sessionIdOf(connector, channel, thread);
  const asking: Asking = { by: system(`connector:${connector}`), idempotency: { scope: `connector:${connector}`, key: message.id, hash: 'inbound' } };
  const content = message.text.slice(0, textCharsMax);
  const known = await desk.supervisor.get('session', id);
  if (known !== undefined) {
    kept(await desk.supervisor.ask('session', id, { type: 'message.post', message: { id: desk.supervisor.world.id(), content, role: 'user', kind: 'user', meta: { from: message.from } } }, { by: asking.by, ...(asking.idempotency && { idempotency: asking.idempotency }) }));
    return 'heard';
  }
  const employee = kept(employeeNamed(desk, instance.employee));
  const wish = { prompt: content, employee: instance.employee };
  const selection = kept(await selectFor(desk, wish, employee));
  const cwd = kept(await workingFolder(desk, id, undefined, false));
  kept(await desk.supervisor.transact<{ id: string }>({
    name: 'receive-message', newWork: true, actors: [], ...asking,
    decide(turns) {
      openWithin(desk, turns, id, {
        wish, employee, selection, cwd, lineage: { parentSessionId: null, ancestors: [] }, workItemId: null,
        source: 'connector', sourceRef: `${connector}:${channel}`.slice(0, 200), replyTo: { connector, channel, thread },
      });
      return { id };
    },
  }));
  return 'heard';
}

const textCharsMax = 32_000;

const sessionIdOf = (...parts: readonly (string | null)[]): string => `in-${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 32)}`;

function kept<Value>(done: Value): Exclude<Value, { readonly refused: true }> {
  if (isRefusal(done)) throw new Error(`a message could not be kept: ${done.message}`);
  return done as Exclude<Value, { readonly refused: true }>;
}
