import { Readable } from 'node:stream';
import { z } from 'zod';
import { missingPackage } from '../../../actors/optional-package.js';
import {
  listOffered,
  makeCredential,
  offered,
  opens,
  revokeCredential,
  type Offered,
} from '../../commands/a2a/credentials.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { Reply } from '../../commands/request.js';
import { employeeAgent } from '../a2a/agent.js';
import { cardOf } from '../a2a/card.js';
import { perMinute, type Limiter } from '../limiter.js';
import { route, type CredentialRequest, type HttpRequest, type Route } from '../route.js';
import { iso } from '../schemas.js';

const answered = z.looseObject({});
const rpc = z.looseObject({
  jsonrpc: z.literal('2.0'),
  method: z.string().max(100).optional(),
  id: z.union([z.string().max(200), z.number(), z.null()]).optional(),
});
const made = z.object({
  credential: z
    .string()
    .describe('Shown this once. The agent sends it as a bearer to the address of the card.'),
});

/**
 * Employees as agents of the Agent2Agent protocol: JSON-RPC at `/a2a/<name>`, the card below it. Without a credential
 * of that employee nothing but the card is answered, and none but one who is offered has a card.
 */
export function a2aRoutes(version: string, ending?: AbortSignal): readonly Route[] {
  const limiters = new Map<string, Limiter>();
  const calls = new Set<Call>();
  const endCalls = (name?: string): void => {
    for (const call of calls) if (name === undefined || call.name === name) call.ended.abort();
  };
  // A stream would hold the end of the gateway until it is cut
  ending?.addEventListener('abort', () => endCalls(), { once: true });

  /** Messages, and streams that are open: of each employee by itself. */
  function limited({ app }: Pick<HttpRequest, 'app'>, to: Offered, method: string): Refusal | undefined {
    const open = [...calls].filter((call) => call.isStream && call.name === to.name).length;
    if (streaming.has(method) && open >= streamsMax)
      return refuse(
        'TOO_MANY',
        {},
        `At most ${streamsMax} streams may be open. Close one, or ask for the task.`,
      );
    const clock = app.supervisor.environment.clock;
    const key = `${to.name}/${to.offer.messagesPerMinute}/${method.startsWith('Send') ? 'messages' : 'reads'}`;
    const most = to.offer.messagesPerMinute * (method.startsWith('Send') ? 1 : readsPerMessage);
    const limiter = limiters.get(key) ?? perMinute(most, () => clock.monotonic());
    limiters.set(key, limiter);
    const again = limiter.take();
    return again === undefined
      ? undefined
      : refuse(
          'TOO_MANY',
          { resetAt: clock.now() + Math.max(0, again - clock.monotonic()) },
          'Too many requests in a minute. Wait, then try again.',
        );
  }

  async function answer(request: HttpRequest<Rpc, undefined>): Promise<Reply | Refusal> {
    const { app, body } = request;
    const to = offered(app, request.params['name'] ?? '');
    if (to === undefined) return refuse('NOT_FOUND', {}, 'Not found');
    const full = limited(request, to, body.method ?? '');
    if (full !== undefined) return asRpc(full, body);
    const isStream = streaming.has(body.method ?? '');
    const call: Call = { name: to.name, isStream, ended: new AbortController() };
    calls.add(call);
    if (ending?.aborted === true) call.ended.abort();
    let stream: Readable | undefined;
    try {
      const reply = await answerCall(request, to, call.ended);
      if (!isRefusal(reply) && reply.body instanceof Readable) stream = reply.body;
      return reply;
    } finally {
      if (stream === undefined) calls.delete(call);
      else stream.once('close', () => calls.delete(call));
    }
  }

  async function answerCall(
    request: HttpRequest<Rpc, undefined>,
    to: Offered,
    ended: AbortController,
  ): Promise<Reply | Refusal> {
    const { app, body, header } = request;
    // It may have been revoked since the head of the request came; from here on that ends the call
    const unproved = await unprovedBy(request);
    if (unproved !== undefined) return unproved;
    // With the first request: few homes have an employee who is offered
    const [{ JsonRpcTransportHandler, ServerCallContext, validateVersion }, errors, { formatSSEEvent }] =
      await Promise.all([import('@a2a-js/sdk/server'), import('@a2a-js/sdk/errors'), import('@a2a-js/sdk')]);
    const requestedVersion = header('a2a-version') ?? '0.3';
    const agent = employeeAgent(app, to, { errors, signal: ended.signal, version });
    const refused = (error: unknown): Reply => ({
      body: {
        jsonrpc: '2.0',
        id: body.id ?? null,
        error: JsonRpcTransportHandler.mapToJSONRPCError(error),
      },
    });
    try {
      validateVersion(requestedVersion, await agent.getAgentCard(), 'JSONRPC');
    } catch (error) {
      return refused(error);
    }
    const answers = await new JsonRpcTransportHandler(agent).handle(
      body,
      new ServerCallContext({ requestedVersion }),
    );
    const troubled = (): Reply | undefined => {
      if (agent.trouble === undefined) return undefined;
      if ('fault' in agent.trouble) throw agent.trouble.fault;
      return asRpc(agent.trouble.refusal, body);
    };
    if (!(Symbol.asyncIterator in answers)) return troubled() ?? { body: answers };
    // A refusal is an answer, not a stream
    let first: IteratorResult<unknown, void>;
    try {
      first = await answers.next();
    } catch (error) {
      return troubled() ?? refused(error);
    }
    const frames = framed(first, answers, formatSSEEvent);
    const stream = Readable.from({
      [Symbol.asyncIterator]: () => ({
        next: () => frames.next(),
        // Who hung up: what is awaited ends first, or this would wait for the next news
        return: () => {
          ended.abort();
          return frames.return();
        },
      }),
    });
    return { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }, body: stream };
  }

  return [
    route(
      'GET',
      '/api/a2a',
      'a2a.read',
      {
        about:
          'The employees that are offered to agents of other houses, and since when each has its credential.',
        answer: z.object({
          employees: z.array(
            z.object({
              name: z.string(),
              displayName: z.string(),
              path: z.string().describe('Below the address of the gateway.'),
              credentialSince: iso.nullable().describe('Null: it has none, and no one gets in.'),
              tasksMax: z.int(),
              messagesPerMinute: z.int(),
              messageCharsMax: z.int(),
            }),
          ),
        }),
      },
      async ({ app }) => ({
        body: {
          employees: (await listOffered(app)).map(({ name, displayName, offer, credentialSince }) => {
            const { tasksMax, messagesPerMinute, messageCharsMax } = offer;
            const limits = { tasksMax, messagesPerMinute, messageCharsMax };
            return { name, displayName, path: pathOf(name), credentialSince, ...limits };
          }),
        },
      }),
    ),
    route(
      'POST',
      '/api/a2a/:name/credential',
      'a2a.manage',
      {
        about: 'Make the credential with which an agent of another house gives tasks to this employee.',
        status: 201,
        body: z.object({ replace: z.boolean().optional().describe('The one before it holds no longer.') }),
        answer: made,
        refusals: ['NOT_FOUND', 'CONFLICT'],
      },
      async (request) => {
        const install = missingPackage('@a2a-js/sdk');
        if (install !== undefined)
          return refuse('CONFLICT', {}, `The package "@a2a-js/sdk" is not installed. Install it: ${install}`);
        const { replace = false } = request.body;
        const name = request.params['name'] ?? '';
        const done = await makeCredential(request, name, { replace });
        if (isRefusal(done)) return done;
        endCalls(name);
        return { body: done };
      },
    ),
    route(
      'POST',
      '/api/a2a/:name/revoke',
      'a2a.manage',
      {
        about: 'Revoke the credential: no agent of another house reaches this employee any more.',
        body: z.object({}),
        answer: z.object({ status: z.literal('ok') }),
        refusals: ['NOT_FOUND'],
      },
      async (request) => {
        const name = request.params['name'] ?? '';
        const refusal = await revokeCredential(request, name);
        if (refusal !== undefined) return refusal;
        endCalls(name);
        return { body: { status: 'ok' } };
      },
    ),
    route(
      'GET',
      '/a2a/:name/.well-known/agent-card.json',
      'a2a.card',
      {
        about: 'The agent card of an employee that is offered over A2A (protocol 1.0).',
        answer: answered,
        refusals: ['NOT_FOUND'],
      },
      async ({ app, params, client, header }) => {
        const to = offered(app, params['name'] ?? '');
        if (to === undefined || missingPackage('@a2a-js/sdk') !== undefined)
          return refuse('NOT_FOUND', {}, 'Not found');
        const { AgentCard } = await import('@a2a-js/sdk');
        const address = `${originOf(app.settings.consoleUrl, header('host') ?? '', client.secure)}${pathOf(to.name)}`;
        return { body: AgentCard.toJSON(cardOf(to, address, version)) };
      },
    ),
    route(
      'POST',
      '/a2a/:name',
      'a2a.call',
      {
        about:
          'A2A (protocol 1.0), JSON-RPC: SendMessage, SendStreamingMessage, GetTask, SubscribeToTask, CancelTask. ' +
          "With the employee's own credential as bearer.",
        headers: { 'A2A-Version': '`1.0`.' },
        credential: unprovedBy,
        body: rpc,
        bodyBytesMax: 256 * 1024,
        answer: answered,
        refusals: ['UNAUTHENTICATED', 'NOT_FOUND', 'TOO_MANY'],
      },
      (request) => answer(request),
    ),
  ];
}

type Rpc = z.output<typeof rpc>;

/** A call that is under way, or a stream that is open. */
interface Call {
  /** Of the employee. */
  readonly name: string;
  readonly isStream: boolean;
  readonly ended: AbortController;
}

const unprovedBy = async ({ app, params, header }: CredentialRequest): Promise<Refusal | undefined> =>
  (await opens(app, params['name'] ?? '', header('authorization')))
    ? undefined
    : refuse('UNAUTHENTICATED', {}, 'The credential is missing or wrong.');

const pathOf = (name: string): string => `/a2a/${name}`;

/** As the asker sees this gateway: a proxy in front of it is known by `notify.url` alone, and named only to its own. */
function originOf(consoleUrl: string | undefined, host: string, secure: boolean): string {
  const known = consoleUrl === undefined ? undefined : new URL(consoleUrl);
  return known?.host === host ? known.origin : `${secure ? 'https' : 'http'}://${host}`;
}

/** A limit has a status that clients wait by, and says its sentence where they look for it. */
const asRpc = ({ status, message, details }: Refusal, { id }: Rpc): Reply => ({
  status,
  headers: {
    ...(typeof details['resetAt'] === 'number' && {
      'retry-after': String(Math.max(1, Math.ceil((details['resetAt'] - Date.now()) / 1_000))),
    }),
  },
  body: { jsonrpc: '2.0', id: id ?? null, error: { code: limitCode, message } },
});

async function* framed(
  first: IteratorResult<unknown, void>,
  rest: AsyncGenerator<unknown, void, undefined>,
  format: (event: unknown) => string,
): AsyncGenerator<string, void, undefined> {
  if (first.done === true) return;
  yield format(first.value);
  for await (const event of rest) yield format(event);
}

const streaming: ReadonlySet<string> = new Set(['SendStreamingMessage', 'SubscribeToTask']);
const streamsMax = 16;
/** So many times as often as it may send, an agent may ask for its tasks. */
const readsPerMessage = 20;
/** Of the range that JSON-RPC leaves to servers; the protocol has none for a limit. */
const limitCode = -32_029;
