import type { TurnInput } from '../../machines/session/context.js';
import type { TurnRequest } from '../engines/engine.js';

/** What the programs of a turn learn of their session and its gateway. */
export function environment(
  input: TurnInput,
  sessionId: string,
  token: string,
  url: string | undefined,
): Record<string, string> {
  return {
    SVC_SESSION_ID: sessionId,
    SVC_SESSION_CAPABILITY: token,
    ...(url === undefined ? {} : { SVC_GATEWAY_URL: url, SVC_GATEWAY_TOKEN: token }),
    ...(input.workItemId === null ? {} : { SVC_WORK_ITEM_ID: input.workItemId }),
  };
}

/** The gateway's tools, with the token of the session. */
export function toolsOf(token: string, url: string | undefined): Pick<TurnRequest, 'mcp'> {
  return url === undefined ? {} : { mcp: { url: `${url}/mcp`, token } };
}
