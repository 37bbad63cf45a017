import type { ClientContext } from '@agentclientprotocol/sdk';
import type { Json } from '../../../machines/outputs.js';
import { isObject, listAt, objectAt, textAt, type JsonObject } from '../agent/lines.js';
import { chosenWord } from '../agent/program.js';
import type { TurnIO, TurnRequest } from '../engine.js';
import { firstBytes } from '../process/output.js';
import { Late, within } from './wire.js';

/** An open conversation with an agent that is ready to be prompted. */
export interface Conversation {
  readonly id: string;
  /** The agent remembers what was said before. */
  readonly isResumed: boolean;
  /** Models that it offers. */
  readonly models: readonly string[];
  /** It takes pictures in a prompt. */
  readonly seesImages: boolean;
}

export interface Opening {
  readonly request: TurnRequest;
  readonly model: string | undefined;
  readonly effort: string | undefined;
  /** The model stands on the command line already. */
  readonly isModelGiven: boolean;
  readonly mode: string | undefined;
  readonly authMethod: string | undefined;
  /** False where the agent would lose the old conversation by loading it. */
  readonly mayLoad: boolean;
}

/** What the agent or its settings make impossible, as a sentence for a person. */
export class CannotOpen extends Error {
  override readonly name = 'CannotOpen';
}

const handshakeMs = 60_000;
const protocolVersion = 1;

/** initialize → authenticate (if the settings say so) → load, resume or begin → mode, model, effort. */
export async function openConversation(
  agent: ClientContext,
  opening: Opening,
  io: TurnIO,
): Promise<Conversation> {
  const { request } = opening;
  const ask = async (method: string, params: Json): Promise<JsonObject> => {
    const answer = await within(
      Math.min(handshakeMs, request.deadlineMs),
      method,
      agent.request<unknown>(method, params),
    );
    return isObject(answer) ? answer : {};
  };
  const facts = await ask('initialize', {
    protocolVersion,
    clientInfo: { name: 'troupe', title: 'Troupe', version: '1' },
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  });
  if (facts['protocolVersion'] !== protocolVersion)
    throw new CannotOpen(
      `The agent speaks version ${JSON.stringify(facts['protocolVersion'] ?? null)} of the protocol; ` +
        `this gateway speaks version ${protocolVersion}.`,
    );
  const capabilities = objectAt(facts, 'agentCapabilities');
  if (opening.authMethod !== undefined) await ask('authenticate', { methodId: opening.authMethod });
  const place: JsonObject = { cwd: request.cwd, mcpServers: toolServers(request, capabilities, io) };

  const resumed = await resume(ask, place, capabilities, opening, io);
  const session = resumed ?? (await ask('session/new', place));
  const id = resumed === undefined ? textAt(session, 'sessionId') : (request.nativeId ?? undefined);
  if (id === undefined || id === '') throw new CannotOpen('The agent began a session without naming it.');
  io.report({ type: 'conversation.named', nativeId: id });
  await settle(ask, id, session, opening, io);
  const seesImages = objectAt(capabilities, 'promptCapabilities')['image'] === true;
  return { id, isResumed: resumed !== undefined, models: offeredModels(session), seesImages };
}

type Ask = (method: string, params: Json) => Promise<JsonObject>;

/**
 * The old conversation, or undefined when a new one must be begun. An agent that only refuses can go on; one
 * that is silent cannot.
 */
async function resume(
  ask: Ask,
  place: JsonObject,
  capabilities: JsonObject,
  { request, mayLoad }: Opening,
  io: TurnIO,
): Promise<JsonObject | undefined> {
  if (request.nativeId === null) return undefined;
  const canResume = isObject(objectAt(capabilities, 'sessionCapabilities')['resume']);
  const canLoad = capabilities['loadSession'] === true;
  // programs declare the newer way without serving it (qwen 0.15.10); the older one was proved with all of
  // them
  const method = canLoad ? 'session/load' : 'session/resume';
  if (!mayLoad || !(canLoad || canResume)) {
    io.report({
      type: 'notice',
      text: 'The agent cannot resume this conversation; it continues from the stored transcript.',
    });
    return undefined;
  }
  try {
    return await ask(method, { ...place, sessionId: request.nativeId });
  } catch (error) {
    if (error instanceof Late || !isAnswer(error)) throw error;
    io.report({
      type: 'notice',
      text:
        `The agent no longer has this conversation (${firstBytes(wordsOf(error), 300)}); it continues from ` +
        'the stored transcript.',
    });
    return undefined;
  }
}

/** An error that the agent gave as its answer, rather than one of the wire. */
export const isAnswer = (
  error: unknown,
): error is Error & { readonly code: number; readonly data?: unknown } =>
  error instanceof Error && typeof (error as { readonly code?: unknown }).code === 'number';

const wordsOf = ({ message, data }: { readonly message: string; readonly data?: unknown }): string =>
  [message, textAt(data, 'details') ?? textAt(data, 'message')]
    .filter((part) => part !== undefined)
    .join(': ');

function toolServers({ mcp }: TurnRequest, capabilities: JsonObject, io: TurnIO): Json {
  if (mcp === undefined) return [];
  if (objectAt(capabilities, 'mcpCapabilities')['http'] === true) {
    return [
      {
        type: 'http',
        name: 'troupe',
        url: mcp.url,
        headers: [{ name: 'Authorization', value: `Bearer ${mcp.token}` }],
      },
    ];
  }
  io.report({
    type: 'notice',
    text:
      "This agent takes no tools over HTTP, so it works without the gateway's tools; SVC_GATEWAY_URL and " +
      'SVC_GATEWAY_TOKEN are in its environment.',
  });
  return [];
}

/**
 * A request for a model that cannot be met ends the turn: no one should pay for another one. A mode is the
 * operator's, an effort only advice.
 */
async function settle(
  ask: Ask,
  sessionId: string,
  session: JsonObject,
  opening: Opening,
  io: TurnIO,
): Promise<void> {
  const { model, effort, mode, isModelGiven } = opening;
  if (mode !== undefined) await chooseMode(ask, sessionId, session, mode);
  if (model !== undefined && !isModelGiven) await chooseModel(ask, sessionId, session, model);
  if (effort === undefined) return;
  const option = selectOf(session, 'thought_level');
  const fault =
    option === undefined
      ? 'no choice'
      : await ask('session/set_config_option', { sessionId, configId: option.id, value: effort }).then(
          () => undefined,
          (error: unknown) => {
            if (!isAnswer(error)) throw error;
            return error.message;
          },
        );
  if (fault !== undefined)
    io.report({
      type: 'notice',
      text: `The agent did not take the effort "${effort}" (${fault}); it uses its own.`,
    });
}

async function chooseMode(ask: Ask, sessionId: string, session: JsonObject, mode: string): Promise<void> {
  const option = selectOf(session, 'mode');
  const modes = listAt(objectAt(session, 'modes'), 'availableModes').map(
    (offered) => textAt(offered, 'id') ?? '',
  );
  if (modes.includes(mode)) await ask('session/set_mode', { sessionId, modeId: mode });
  else if (option?.values.includes(mode) === true)
    await ask('session/set_config_option', { sessionId, configId: option.id, value: mode });
  else
    throw new CannotOpen(
      `The agent has no mode "${mode}" (it has: ${[...modes, ...(option?.values ?? [])].join(', ') || 'none'}).`,
    );
}

async function chooseModel(ask: Ask, sessionId: string, session: JsonObject, model: string): Promise<void> {
  const option = selectOf(session, 'model');
  try {
    if (option !== undefined)
      await ask('session/set_config_option', { sessionId, configId: option.id, value: model });
    else await ask('session/set_model', { sessionId, modelId: model });
  } catch (error) {
    if (!isAnswer(error)) throw error;
    const offered = offeredModels(session);
    throw new CannotOpen(
      `The agent does not take the model "${model}"` +
        `${offered.length === 0 ? '' : ` (it offers: ${offered.slice(0, 30).join(', ')})`}.`,
      { cause: error },
    );
  }
}

interface Select {
  readonly id: string;
  readonly values: readonly string[];
}

/** A choice of the agent's by its meaning. */
function selectOf(session: JsonObject, category: string): Select | undefined {
  const option = listAt(session, 'configOptions').find(
    (offered) => textAt(offered, 'category') === category && textAt(offered, 'type') === 'select',
  );
  const id = textAt(option, 'id');
  return id === undefined
    ? undefined
    : {
        id,
        values: listAt(option, 'options')
          .flatMap((entry) => [entry, ...listAt(entry, 'options')])
          .flatMap((entry) => textAt(entry, 'value') ?? []),
      };
}

/** Models by configuration option, or by the older list of models; only words that may be used as such. */
function offeredModels(session: JsonObject): readonly string[] {
  const listed = listAt(objectAt(session, 'models'), 'availableModels').flatMap(
    (offered) => textAt(offered, 'modelId') ?? [],
  );
  return [...(selectOf(session, 'model')?.values ?? []), ...listed].filter((model) => isWord(model));
}

function isWord(model: string): boolean {
  try {
    return chosenWord(model) !== undefined;
  } catch {
    return false;
  }
}
