import { mayUse } from '../../../machines/session/tool-policy.js';
import { anchoredRule } from '../../../machines/session/tool-rule.js';
import type { PermissionAnswer, PermissionRequest, TurnIO } from '../engine.js';
import { resolve } from 'node:path';
import { isInside } from '../../sandbox/mounts.js';
import { resolvedUse } from './tool-use.js';

/**
 * An agent asks before it uses a tool: the rules of its engine answer first, then anyone who listens for this turn,
 * and without anyone the answer is no, with a sentence that tells the agent what to do instead.
 */
export async function permit(
  request: PermissionRequest,
  { allow, cwd }: { readonly allow: readonly string[]; readonly cwd: string },
  io: TurnIO,
): Promise<PermissionAnswer> {
  const uses = await resolvedUse(request.uses, cwd);
  const rules = allow.map((rule) => anchoredRule(rule, cwd));
  if (mayUse({ mode: 'allow-list', allow: rules }, { tool: request.tool, uses })) return { allow: true };
  try {
    return await io.permission(request);
  } catch {
    return { allow: false, message: denial(request.tool) };
  }
}

const denial = (tool: string): string =>
  `The tool ${tool} is not allowed in this session, and no person is there to allow it. Go on without it, or ` +
  `ask for an approval with the gateway's tools.`;

/** What an agent may read without permission: its working folder, and the files that came with the messages. */
export interface Reach {
  readonly cwd: string;
  readonly files: readonly string[];
}

/**
 * Does everything in a tool's input that looks like a path lie within reach? Best effort: links are not
 * followed, and an agent that runs commands needs no such tool. What holds is a sandbox.
 */
export function isWithinReach(input: unknown, { cwd, files }: Reach): boolean {
  return textsOf(input)
    .filter((text) => /^[/~]|(?:^|\/)\.\.(?:\/|$)|^file:/.test(text))
    .map((text) => text.replace(/^file:\/\//, ''))
    .every((text) => {
      if (text.startsWith('~')) return false;
      const path = resolve(cwd, text);
      return isInside(path, cwd) || files.includes(path);
    });
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}
