import type OpenAI from 'openai';
import { optionalPackage } from '../../optional-package.js';
import { pause } from '../remote/pause.js';
import { boundedFetch } from '../remote/bounded-fetch.js';
import type { LimitsMemory } from '../limits.js';
import type { WireMessage } from './conversation.js';
import { reportLimits } from './completion.js';
import { keyOf } from '../remote/bounded-fetch.js';
import type { OpenAiOptions } from './options.js';
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
    fetch: boundedFetch({ sent: sentHeaders, key }),
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

/**
 * The SDK adds what OPENAI_CUSTOM_HEADERS of the gateway's environment says, and facts about this machine;
 * neither is for an endpoint.
 */
const sentHeaders: readonly string[] = ['accept', 'content-type', 'content-length', 'user-agent'];
