import { createHash } from 'node:crypto';
import type { InboundMessage } from '../../actors/connectors/connector.js';
import type { ConnectorInstance } from '../../actors/connectors/registry.js';
import { system } from '../../machines/caller.js';
import { asked, employeeNamed, expected, type Asking, type Desk } from './desk.js';
import { inTurn } from './in-turn.js';
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
  // two first messages at once are one conversation
  return inTurn(desk.supervisor, `conversation/${sessionIdOf(connector, channel, thread)}`, () => hear(desk, instance, message));
}

async function hear(desk: Desk, { name: connector, employee: name }: ConnectorInstance, message: InboundMessage): Promise<'heard'> {
  const { channel, thread } = message;
  const asking: Asking = { by: system(`connector:${connector}`), idempotency: { scope: `connector:${connector}`, key: message.id, hash: 'inbound' } };
  const content = message.text.slice(0, textCharsMax);
  const { id, isThere } = await conversation(desk, connector, channel, thread);
  if (isThere) {
    expected(await desk.supervisor.ask('session', id, { type: 'message.post', message: { id: desk.supervisor.world.id(), content, role: 'user', kind: 'user', meta: { from: message.from } } }, asked(asking)));
    return 'heard';
  }
  const employee = expected(employeeNamed(desk, name));
  const wish = { prompt: content, employee: name };
  const selection = expected(await selectFor(desk, wish, employee));
  const cwd = expected(await workingFolder(desk, id, undefined, false));
  expected(await desk.supervisor.transact<{ id: string }>({
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

/** The session of a conversation. Ids are never given out again: after one that was deleted comes another. */
async function conversation(desk: Desk, ...parts: readonly [connector: string, channel: string, thread: string | null]): Promise<{ readonly id: string; readonly isThere: boolean }> {
  for (let deleted = 0; ; deleted += 1) {
    const id = sessionIdOf(...parts, ...(deleted === 0 ? [] : [String(deleted)]));
    const known = await desk.supervisor.get('session', id);
    if (known?.value !== 'deleted') return { id, isThere: known !== undefined };
  }
}

const sessionIdOf = (...parts: readonly (string | null)[]): string => `in-${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 32)}`;
