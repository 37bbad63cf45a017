import type { Json } from '../../../machines/outputs.js';
import { listAt, objectAt, textAt, type JsonObject } from '../agent/lines.js';
import { permit, isWithinReach, type Reach } from '../agent/permission.js';
import { acpUse } from '../agent/tool-use.js';
import type { TurnIO } from '../engine.js';
import { firstBytes } from '../process/output.js';
import { toolName } from './parser.js';
import type { PermissionOutcome } from './wire.js';

/** Reading is allowed without permission; whatever changes something is asked for. Kinds of the protocol. */
export const allowedByDefault: readonly string[] = ['read', 'search', 'think'];

/**
 * What the gateway's tools look like when the agent asks for them: the gateway judges each of their calls by
 * itself.
 */
export interface OwnTool {
  readonly kind: string;
  readonly title: RegExp;
}

export interface Rules {
  /** Kinds of tools, and rules, that need not be asked for. */
  readonly allow: readonly string[];
  readonly cwd: string;
  readonly ownTool: OwnTool | undefined;
  /** Where readers are free. Absent: anywhere, as the settings name them. */
  readonly reach?: Reach | undefined;
}

const inputBytesMax = 16 * 1024;

/**
 * `session/request_permission` → the gateway's own question. Of the answers that the agent offers only those
 * for this one call are given: what stands for "always" is remembered by the session here, never by the
 * program.
 */
export async function answerPermission(
  params: JsonObject,
  known: JsonObject,
  { allow, cwd, ownTool, reach }: Rules,
  io: TurnIO,
): Promise<PermissionOutcome> {
  const call = { ...known, ...objectAt(params, 'toolCall') };
  const options = listAt(params, 'options');
  const tool = toolName(call);
  const kind = textAt(call, 'kind');
  // some programs take the model's own description for a title; what will run is what a person must see
  const title = firstBytes(
    textAt(objectAt(call, 'rawInput'), 'command') ?? textAt(call, 'title') ?? tool,
    1_024,
  );
  const isOwn = ownTool !== undefined && kind === ownTool.kind && ownTool.title.test(title);
  const { rawInput = null, locations = null } = call;
  const isNear = reach === undefined || isWithinReach([rawInput, locations], reach);
  const uses = acpUse(kind, call);
  const isFree = isOwn || (kind !== undefined && allow.includes(kind) && isNear);
  const decision = isFree
    ? { allow: true }
    : await permit(
        { tool, title, input: inputOf(call), ...(uses && { uses }) },
        { allow: isNear ? allow : [], cwd },
        io,
      );
  if (io.signal.aborted) return { outcome: 'cancelled' };
  const option = decision.allow
    ? choose(options, ['allow_once', 'allow_always'])
    : choose(options, ['reject_once', 'reject_always']);
  // to an agent that offers no such answer a cancelled question is the only no there is
  return option === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option };
}

function choose(options: readonly Json[], kinds: readonly string[]): string | undefined {
  for (const kind of kinds) {
    const option = options.find((offered) => textAt(offered, 'kind') === kind);
    if (option !== undefined) return textAt(option, 'optionId');
  }
  return undefined;
}

/** What a person should see before they decide: the arguments, else the files. */
function inputOf(call: JsonObject): Json {
  const { rawInput, locations, content } = call;
  const input: Json = rawInput ?? {
    ...(locations === undefined ? {} : { locations }),
    ...(content === undefined ? {} : { content }),
  };
  const text = JSON.stringify(input);
  return Buffer.byteLength(text) <= inputBytesMax ? input : { cut: firstBytes(text, inputBytesMax) };
}
