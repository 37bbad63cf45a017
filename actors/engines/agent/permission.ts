import type { PermissionAnswer, PermissionRequest, TurnIO } from '../engine.js';

/**
 * An agent asks before it uses a tool: the allow-list of its engine answers first, then whoever listens for
 * this turn, and without anyone the answer is no, with a sentence that tells the agent what to do instead.
 */
export async function permit(
  request: PermissionRequest,
  allow: readonly string[],
  io: TurnIO,
): Promise<PermissionAnswer> {
  if (allow.includes('*') || allow.includes(request.tool)) return { allow: true };
  try {
    return await io.permission(request);
  } catch {
    return { allow: false, message: denial(request.tool) };
  }
}

const denial = (tool: string): string =>
  `The tool ${tool} is not allowed in this session, and no person is there to allow it. Go on without it, or ` +
  `ask for an approval with the gateway's tools.`;
