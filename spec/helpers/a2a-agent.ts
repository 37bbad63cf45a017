import { TaskState, type AgentCard, type Message, type Part } from '@a2a-js/sdk';
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/**
 * An agent of another house on the server of the protocol's own SDK. What it does stands in the prompt: `say WORDS`,
 * `slowly` (until it is let go), `flood` (until it is cancelled), `ask`, `fail`, `refuse`, `login`, `message WORDS`, `count`.
 */
export interface A2aAgent {
  readonly url: string;
  /** What it was told, with the context and the task that it was told in. */
  readonly told: readonly {
    readonly text: string;
    readonly contextId: string;
    readonly taskId: string;
    readonly message: Message;
  }[];
  readonly cancelled: readonly string[];
  readonly headers: readonly IncomingHttpHeaders[];
  /** Paths of the requests. */
  readonly paths: readonly string[];
  /** What works slowly comes to its end. */
  letGo(): void;
  /** Breaks every connection. */
  cut(): void;
  /** Answers so many requests with 429. */
  refuse(requests: number): void;
  close(): Promise<void>;
}

export interface A2aAgentOptions {
  readonly binding?: 'JSONRPC' | 'HTTP+JSON';
  readonly protocolVersion?: '1.0' | '0.3';
  readonly streaming?: boolean;
  readonly inputModes?: readonly string[];
  /** Without it a request gets this status. */
  readonly key?: string;
  /** Where its card says that it is. */
  readonly leadsTo?: string;
}

export async function startA2aAgent(options: A2aAgentOptions = {}): Promise<A2aAgent> {
  const app = express();
  const server: Server = createServer(app);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const told: A2aAgent['told'][number][] = [];
  const cancelled: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const paths: string[] = [];
  const slow = new Set<() => void>();
  let busy = 0;

  const executor: AgentExecutor = {
    async execute(request, bus) {
      const { userMessage, contextId, taskId } = request;
      const text = userMessage.parts
        .map(({ content }) => (content?.$case === 'text' ? content.value : ''))
        .join('');
      told.push({ text, contextId, taskId, message: userMessage });
      await act(text, request, bus);
      bus.finished();
    },
    async cancelTask(taskId, bus) {
      cancelled.push(taskId);
      bus.publish(
        AgentEvent.statusUpdate(status(taskId, contexts.get(taskId) ?? '', TaskState.TASK_STATE_CANCELED)),
      );
      for (const end of [...slow]) end();
    },
  };
  const contexts = new Map<string, string>();
  async function act(
    text: string,
    { taskId, contextId }: RequestContext,
    bus: ExecutionEventBus,
  ): Promise<void> {
    const [, verb = '', words = ''] = /^(\w+) ?([^]*)$/.exec(text.slice(text.lastIndexOf('\n') + 1)) ?? [];
    if (verb === 'message') return bus.publish(AgentEvent.message(message(words, contextId)));
    contexts.set(taskId, contextId);
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: undefined },
        artifacts: [],
        history: [],
        metadata: undefined,
      }),
    );
    const end = (state: TaskState, said?: string): void =>
      bus.publish(AgentEvent.statusUpdate(status(taskId, contextId, state, said)));
    const write = (piece: string, append: boolean): void =>
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact: {
            artifactId: 'answer',
            name: '',
            description: '',
            parts: [part(piece)],
            metadata: undefined,
            extensions: [],
          },
          append,
          lastChunk: false,
          metadata: undefined,
        }),
      );
    switch (verb) {
      case 'ask':
        return end(TaskState.TASK_STATE_INPUT_REQUIRED, 'Which colour?');
      case 'fail':
        return end(TaskState.TASK_STATE_FAILED, 'The van broke down.');
      case 'refuse':
        return end(TaskState.TASK_STATE_REJECTED, 'Not on Sundays.');
      case 'login':
        return end(TaskState.TASK_STATE_AUTH_REQUIRED, 'Who are you?');
      case 'slowly':
        end(TaskState.TASK_STATE_WORKING, 'I am on my way.');
        write('half ', false);
        await new Promise<void>((resolve) => slow.add(resolve));
        if (cancelled.includes(taskId)) return undefined;
        write('done', true);
        return end(TaskState.TASK_STATE_COMPLETED);
      case 'flood':
        for (let n = 0; n < 1_000 && !cancelled.includes(taskId); n += 1) {
          write('x'.repeat(50_000), n > 0);
          await new Promise((resolve) => setImmediate(resolve));
        }
        return end(TaskState.TASK_STATE_COMPLETED);
      default:
        for (const [index, piece] of words.split(/(?<= )/).entries()) write(piece, index > 0);
        return end(TaskState.TASK_STATE_COMPLETED);
    }
  }

  const { binding = 'JSONRPC', protocolVersion = '1.0', streaming = true, leadsTo = url } = options;
  const card: AgentCard = {
    name: 'Movers',
    description: 'moves things',
    version: '1',
    supportedInterfaces: [{ url: `${leadsTo}/a2a`, protocolBinding: binding, tenant: '', protocolVersion }],
    provider: undefined,
    capabilities: { streaming, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: [...(options.inputModes ?? ['text/plain'])],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  const legacyCompat = { enabled: protocolVersion === '0.3' };
  const shared = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat };
  app.use((request, response, next) => {
    headers.push(request.headers);
    paths.push(request.path);
    busy -= 1;
    if (busy >= 0) response.status(429).end();
    else if (options.key !== undefined && request.headers.authorization !== `Bearer ${options.key}`)
      response.status(401).end();
    else next();
  });
  app.use(
    '/.well-known/agent-card.json',
    agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }),
  );
  app.use('/a2a', binding === 'JSONRPC' ? jsonRpcHandler(shared) : restHandler(shared));
  return {
    url,
    told,
    cancelled,
    headers,
    paths,
    letGo() {
      for (const end of [...slow]) end();
      slow.clear();
    },
    cut() {
      for (const socket of [...sockets]) socket.destroy();
    },
    refuse(requests) {
      busy = requests;
    },
    async close() {
      for (const end of [...slow]) end();
      for (const socket of [...sockets]) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const part = (text: string): Part => ({
  content: { $case: 'text', value: text },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
});

const message = (text: string, contextId: string, taskId = ''): Message => ({
  messageId: `m-${text}`,
  contextId,
  taskId,
  role: 2,
  parts: [part(text)],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});

const status = (taskId: string, contextId: string, state: TaskState, said?: string) => ({
  taskId,
  contextId,
  status: {
    state,
    message: said === undefined ? undefined : message(said, contextId, taskId),
    timestamp: undefined,
  },
  metadata: undefined,
});
