import type { TurnInput } from '../../machines/session/context.js';
import type { Engine, TurnRequest } from '../engines/engine.js';
import { tokenHash } from '../engines/tokens.js';
import type { Conversation } from './turn-conversation.js';
import { environment, toolsOf } from './turn-folder.js';
import type { HostedTurn } from './turn-hosts.js';
import type { EngineTurnOptions } from './turn-options.js';
import type { TurnContext } from './turn-permission.js';

interface AskedTurn {
  readonly input: TurnInput;
  readonly context: TurnContext;
  readonly options: EngineTurnOptions;
}

/** What is not the same on every machine, and what the agent is told. */
interface TurnPlace extends Conversation, Pick<TurnRequest, 'cwd' | 'files' | 'project'> {
  /** Address at which the agent reaches this gateway. */
  readonly url: string | undefined;
}

/** What its host needs to begin: the request for its engine, with a token of the session's own made for it. */
export async function hostedTurn(
  { input, context, options }: AskedTurn,
  engine: Engine,
  { url, ...place }: TurnPlace,
): Promise<HostedTurn> {
  const sessionId = context.actor.id;
  const traceparent = await options.traceparent?.(context).catch(() => undefined); // only watching suffers
  const token = options.tokens.mint(sessionId);
  return {
    engine,
    request: {
      sessionId,
      turnId: input.turnId,
      ...(input.isResumed && { isResumed: true }),
      ...place,
      nativeId: input.nativeId,
      model: input.model,
      effort: input.effort,
      env: environment(input, sessionId, { token, url, traceparent }),
      deadlineMs: input.deadlineMs,
      silenceMs: options.silence?.().ms ?? 120_000,
      ...toolsOf(token, url),
    },
    tokenHash: tokenHash(token),
    settleMs: options.settleMs ?? 15_000,
    ...(options.graces === undefined ? {} : { graces: options.graces }),
  };
}
