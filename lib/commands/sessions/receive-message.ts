import { createHash } from 'node:crypto';
import type { InboundMessage } from '../../../actors/connectors/connector.js';
import type { ConnectorInstance } from '../../../actors/connectors/registry.js';
import { operator, system } from '../../../machines/caller.js';
import { employeeNamed, type App } from '../app.js';
import { optionsOf, expected, type Request, inTurn } from '../request.js';
import { causesOf } from '../authority/causes.js';
import { rightsOf } from '../authority/session-rights.js';
import { openWithin, selectFor } from './open-session.js';
import { ownPlace } from '../workers.js';

/**
 * What someone writes through a connector: one session per conversation (channel and thread), opened at the
 * first message and answered through the same connector. Only who stands in `allowFrom` is heard; everybody
 * else is told nothing, so that an outsider does not even learn that someone listens. A message that the far
 * side delivers again is recognised by its id. Rejects when it could not be kept: the far side then says it
 * again.
 */
export async function receiveMessage(
  app: App,
  connector: string,
  message: InboundMessage,
): Promise<'heard' | 'ignored'> {
  const instance = app.connectors?.instances().find(({ name }) => name === connector);
  const allowed = instance?.allowFrom ?? [];
  if (instance === undefined || !(allowed.includes('*') || allowed.includes(message.from))) {
    app.supervisor.environment.log.info(
      { connector, from: message.from.slice(0, 128) },
      'a message of a sender not in allowFrom was ignored',
    );
    return 'ignored';
  }
  const { channel, thread } = message;
  // two first messages at once are one conversation
  return inTurn(app.supervisor, `conversation/${sessionIdOf(connector, channel, thread)}`, () =>
    hear(app, instance, message),
  );
}

async function hear(
  app: App,
  { name: connector, employee: name }: ConnectorInstance,
  message: InboundMessage,
): Promise<'heard'> {
  const { channel, thread } = message;
  const request: Request = {
    app,
    caller: system(`connector:${connector}`),
    onBehalfOf: [operator], // who set the connector up and said who is heard
    idempotency: { scope: `connector:${connector}`, key: message.id, hash: 'inbound' },
  };
  const content = message.text.slice(0, textCharsMax);
  const { id, isThere } = await conversation(app, connector, channel, thread);
  if (isThere) {
    expected(
      await app.supervisor.ask(
        'session',
        id,
        {
          type: 'message.post',
          message: {
            id: app.supervisor.environment.ids.next(),
            content,
            role: 'user',
            kind: 'user',
            meta: { from: message.from },
          },
        },
        optionsOf(request),
      ),
    );
    return 'heard';
  }
  const employee = expected(employeeNamed(app, name));
  const input = { prompt: content, employee: name };
  const selection = expected(await selectFor(app, input, employee));
  const { cwd, placement } = expected(await ownPlace(app, id, employee));
  const rights = expected(
    await rightsOf(app, { causes: causesOf(request), parentSessionId: null, employee }),
  );
  expected(
    await app.supervisor.transact<{ id: string }>({
      name: 'receive-message',
      startsWork: true,
      actors: [],
      ...optionsOf(request),
      run(turns) {
        openWithin(app, turns, id, {
          input,
          employee,
          selection,
          cwd,
          placement,
          rights,
          lineage: { parentSessionId: null, ancestors: [] },
          workItemId: null,
          source: 'connector',
          sourceRef: `${connector}:${channel}`.slice(0, 200),
          replyTo: { connector, channel, thread },
        });
        return { id };
      },
    }),
  );
  return 'heard';
}

const textCharsMax = 32_000;

/** The session of a conversation. Ids are never given out again: after one that was deleted comes another. */
async function conversation(
  app: App,
  ...parts: readonly [connector: string, channel: string, thread: string | null]
): Promise<{ readonly id: string; readonly isThere: boolean }> {
  for (let deleted = 0; ; deleted += 1) {
    const id = sessionIdOf(...parts, ...(deleted === 0 ? [] : [String(deleted)]));
    const known = await app.supervisor.get('session', id);
    if (known?.value !== 'deleted') return { id, isThere: known !== undefined };
  }
}

const sessionIdOf = (...parts: readonly (string | null)[]): string =>
  `in-${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 32)}`;
