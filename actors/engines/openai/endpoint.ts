import type OpenAI from 'openai';
import { optionalPackage } from '../../optional-package.js';
import type { LimitsMemory } from '../limits.js';
import type { WireMessage } from './conversation.js';
import { reportLimits } from './completion.js';
import { keyOf, type OpenAiOptions } from './options.js';
import type { OfferedTool } from './tools.js';

/** The endpoint of one turn, over the official SDK. */
export interface Endpoint {
  /** Begins an answer. Rejects with the SDK's errors; what may pass by itself was tried again before. */
  stream(request: StreamRequest): Promise<AsyncIterable<Chunk>>;
  /** The first model that the endpoint names. */
  firstModel(): Promise<string | undefined>;
}

export type Chunk = OpenAI.Chat.Completions.ChatCompletionChunk;

export interface StreamRequest {
  readonly model: string;
  readonly effort: string | undefined;
  readonly messages: readonly WireMessage[];
  readonly tools: readonly OfferedTool[];
}

/** All that one answer may weigh on the wire: a stream that never ends must not fill the gateway's memory. */
const answerBytesMax = 16 * 1024 * 1024;
/** And one event of it: the SDK copies an unfinished event with every piece that arrives. */
const eventBytesMax = 512 * 1024;
const retriesMax = 2;

/**
 * Everything that the SDK would take from the environment is given here: keys of other programs, another
 * address, a log that tells requests. Redirects are not followed, so nothing but the configured address is
 * ever called.
 */
export async function openEndpoint(
  options: Pick<OpenAiOptions, 'baseUrl' | 'apiKeyEnv' | 'retryMs'>,
  limits: LimitsMemory,
  signal: AbortSignal,
): Promise<Endpoint> {
  // With the first turn: it takes a third of a second to load
  const { default: Client } = await optionalPackage('openai', () => import('openai'));
  const key = keyOf(options);
  const client = new Client({
    baseURL: options.baseUrl,
    apiKey: key ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: 2 ** 31 - 1,
    logLevel: 'off',
    fetch: boundedFetch(key),
    fetchOptions: { redirect: 'error' },
  });
  return {
    stream: ({ model, effort, messages, tools }) =>
      patiently(options.retryMs ?? 1_000, signal, async () => {
        const { data, response } = await client.chat.completions
          .create(
            {
              model,
              // Ours are some of theirs, read-only
              messages: messages as OpenAI.Chat.Completions.ChatCompletionMessageParam[],
              stream: true,
              stream_options: { include_usage: true },
              ...(tools.length === 0
                ? {}
                : {
                    tools: tools.map(({ name, about, schema }) => ({
                      type: 'function' as const,
                      function: { name, description: about, parameters: { ...schema } },
                    })),
                  }),
              // The operator's list says which there are
              ...(effort === undefined ? {} : { reasoning_effort: effort as OpenAI.ReasoningEffort }),
            },
            { signal },
          )
          .withResponse();
        reportLimits(response.headers, limits);
        return data;
      }),
    async firstModel() {
      const page = await client.models.list({ signal });
      return page.data[0]?.id;
    },
  };
}

/**
 * An overloaded server or a line that broke before the answer began is met again; a refusal or a limit is
 * not.
 */
async function patiently<Answer>(
  ms: number,
  signal: AbortSignal,
  attempt: () => Promise<Answer>,
): Promise<Answer> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const status = (error as { readonly status?: unknown }).status;
      const isPassing =
        status === undefined
          ? (error as Error).name === 'APIConnectionError' ||
            /connection error/i.test((error as Error).message)
          : typeof status === 'number' && status >= 500;
      if (!isPassing || retries >= retriesMax || signal.aborted) throw error;
      await pause(ms * 2 ** retries, signal);
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
    signal.addEventListener('abort', end, { once: true });
  });
}

/** The request without what no one asked for, the answer within its bounds. */
const boundedFetch =
  (key: string | undefined) =>
  async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const headers = new Headers(init?.headers);
    for (const name of [...headers.keys()]) if (!sentHeaders.includes(name)) headers.delete(name);
    if (key !== undefined) headers.set('authorization', `Bearer ${key}`);
    const response = await fetch(input, { ...init, headers });
    if (response.body === null) return response;
    let bytes = 0;
    let eventBytes = 0;
    let isAfterLine = false;
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.byteLength;
          const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
          const end = Math.max(
            text.lastIndexOf('\n\n'),
            text.lastIndexOf('\n\r\n'),
            isAfterLine && /^\r?\n/.test(text.toString('latin1', 0, 2)) ? 0 : -1,
          );
          isAfterLine = text.at(-1) === newline;
          eventBytes = end === -1 ? eventBytes + text.length : text.length - end;
          if (bytes > answerBytesMax || eventBytes > eventBytesMax) controller.error(new Flood());
          else controller.enqueue(chunk);
        },
      }),
    );
    return new Response(counted, {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
  };

const newline = 0x0a;

/**
 * The SDK adds what OPENAI_CUSTOM_HEADERS of the gateway's environment says, and facts about this machine;
 * neither is for an endpoint.
 */
const sentHeaders: readonly string[] = ['accept', 'content-type', 'content-length', 'user-agent'];

export class Flood extends Error {
  override readonly name = 'Flood';
  constructor() {
    super('The endpoint exceeded the output limit.');
  }
}
