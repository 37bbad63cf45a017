import type { Engine, TurnIO, TurnRequest, TurnResult } from '../engine.js';
import { defineEngine, imagesUnseen } from '../engine.js';
import { accessOf } from '../agent/access.js';
import { modelsOf } from '../agent/program.js';
import { limitsMemory } from '../limits.js';
import { conversationOf } from './conversation.js';
import { openEndpoint, type Endpoint } from './endpoint.js';
import { endOfFault } from './completion.js';
import { watchOver, type Watch } from '../remote/turn-watch.js';
import { probe } from './probe.js';
import { runToolLoop } from './tool-loop.js';
import type { OpenAiOptions } from './options.js';
import { openTools } from './tools.js';

/**
 * Any endpoint that speaks OpenAI's chat completions, in process: no program, no process of its own, nothing
 * to install. It keeps no conversation, so every turn is told the earlier messages; what its model may do are
 * the gateway's own tools, over the session's own token, and therefore no more than the session may.
 */
/**
 * Any endpoint that speaks the chat completions API. Throws a TypeError for a name that is none; an endpoint
 * that does not answer is what `discover` tells.
 * @example const local = openAiEngine({ name: 'local', baseUrl: 'http://127.0.0.1:11434/v1' });
 */
export function openAiEngine(options: OpenAiOptions): Engine {
  const limits = limitsMemory('x-ratelimit headers');
  const { efforts = [] } = options;
  const configured = modelsOf(
    [...new Set([...(options.model === undefined ? [] : [options.model]), ...(options.models ?? [])])],
    efforts,
  ).filter(({ id }, index, all) => all.findIndex((other) => other.id === id) === index);
  return defineEngine({
    name: options.name,
    isInProcess: true,
    seesImages: options.seesImages !== false,
    effortMechanism: efforts.length === 0 ? 'none' : 'reasoning_effort',
    limits: async () => limits.read(),
    ...(options.apiKeyEnv !== undefined && {
      access: () =>
        accessOf(
          { ...options, section: `engines.openai.${options.name}` },
          { files: [], keys: [], remedy: '' },
        ),
    }),
    async discover() {
      const { models: found, ...facts } = await probe(options);
      const models = configured.length > 0 ? configured : modelsOf(found, efforts);
      return { ...facts, models, defaultModel: options.model ?? models[0]?.id ?? null };
    },
    async turn(request, io) {
      if (io.signal.aborted) return { outcome: 'interrupted', text: '' };
      const watch = watchOver(request, io, 'The model');
      const said = { text: '' };
      try {
        const endpoint = await openEndpoint(options, limits, watch.signal);
        return await play(options, request, io, { endpoint, watch, said });
      } catch (error) {
        if (io.signal.aborted) return { outcome: 'interrupted', text: said.text };
        if (watch.signal.aborted)
          return {
            outcome: 'failed',
            text: said.text,
            error: `${options.name} did not finish within its time and was ended.`,
          };
        return endOfFault(error, options, limits, said.text);
      } finally {
        watch.close();
      }
    },
  });
}

interface Stage {
  readonly endpoint: Endpoint;
  readonly watch: Watch;
  readonly said: { text: string };
}

async function play(
  options: OpenAiOptions,
  request: TurnRequest,
  io: TurnIO,
  { endpoint, watch, said }: Stage,
): Promise<TurnResult> {
  const listed = options.models?.[0];
  const model =
    request.model ??
    options.model ??
    (typeof listed === 'object' ? listed.id : listed) ??
    (await endpoint.firstModel());
  if (model === undefined)
    return {
      outcome: 'failed',
      text: '',
      error: `${options.name} has no model. Name one under engines.openai.${options.name}.models.`,
    };
  const tools = await openTools(
    options.tools === false ? undefined : request.mcp,
    options.tools,
    watch.signal,
  );
  let isHeard = false;
  const loop = (shown: TurnRequest): Promise<TurnResult> =>
    runToolLoop({
      endpoint,
      tools,
      io,
      said,
      signal: watch.signal,
      heard() {
        isHeard = true;
        watch.heard();
      },
      model,
      effort: request.effort ?? options.effort,
      roundsMax: options.roundsMax ?? 30,
      prices: options.pricesUsdPerMillionTokens,
      name: options.name,
      messages: conversationOf(
        shown,
        [options.instructions, tools.instructions].filter((part) => part !== undefined).join('\n\n'),
      ),
    });
  try {
    return await loop(request).catch((error: unknown) => {
      if ((request.images ?? []).length === 0 || isHeard || !refusesPictures(error)) throw error;
      io.report({ type: 'notice', text: imagesUnseen });
      return loop({ ...request, images: [] });
    });
  } finally {
    await tools.close();
  }
}

/** Models for text alone refuse the whole request, each in its own way. */
function refusesPictures(error: unknown): boolean {
  const { status, message } = error as { readonly status?: unknown; readonly message?: unknown };
  if (typeof status !== 'number') return false;
  return (
    [400, 415, 422].includes(status) || (status >= 500 && /image|vision|multimodal/i.test(String(message)))
  );
}
