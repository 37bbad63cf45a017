import type { Json } from '../../../machines/ground.js';
import { listAt, objectAt, textAt, type JsonObject } from '../agent/lines.js';
import { permit } from '../agent/permission.js';
import type { PermissionRequest, TurnIO } from '../engine.js';
import { firstBytes } from '../process/output.js';
import type { CodexReading } from './reading.js';
import { toolServer } from './settings.js';

/**
 * Codex asks before it runs a command or changes a file; the answer is a word, so a no has no reason that the agent could
 * read. What asks for words of a person, or for more rights for good, is answered with nothing.
 */
export async function answerApproval(method: string, params: JsonObject, allow: readonly string[], reading: CodexReading, io: TurnIO): Promise<JsonObject | undefined> {
  const asked = questionOf(method, params, reading);
  if (asked !== undefined) return { decision: (await permit(asked, allow, io)).allow ? 'accept' : 'decline' };
  switch (method) {
    case 'mcpServer/elicitation/request': return elicited(params, allow, io);
    case 'item/permissions/requestApproval': return { permissions: {}, scope: 'turn' };
    case 'item/tool/requestUserInput': return { answers: {} };
    default: return undefined;
  }
}

function questionOf(method: string, params: JsonObject, reading: CodexReading): PermissionRequest | undefined {
  const item = reading.item(textAt(params, 'itemId') ?? '') ?? {};
  const reason = textAt(params, 'reason');
  const why = reason === undefined ? {} : { reason };
  switch (method) {
    case 'item/commandExecution/requestApproval': {
      const command = textAt(params, 'command') ?? textAt(item, 'command') ?? '';
      return { tool: 'commandExecution', title: firstBytes(command, 200), input: { command, cwd: textAt(params, 'cwd') ?? textAt(item, 'cwd') ?? '', ...why } };
    }
    case 'item/fileChange/requestApproval': {
      const changes = listAt(item, 'changes').map((change): Json => ({ path: textAt(change, 'path') ?? '', diff: firstBytes(textAt(change, 'diff') ?? '', 4_096) }));
      const paths = changes.map((change) => textAt(change, 'path')).join(', ');
      return { tool: 'fileChange', title: firstBytes(`Change ${paths === '' ? 'files' : paths}`, 200), input: { changes, ...why } };
    }
    default: return undefined;
  }
}

/** Tools of servers are asked for in this way; those of the gateway judge for themselves who may do what. */
async function elicited(params: JsonObject, allow: readonly string[], io: TurnIO): Promise<JsonObject> {
  const isTool = textAt(objectAt(params, '_meta'), 'codex_approval_kind') === 'mcp_tool_call';
  const server = textAt(params, 'serverName') ?? '';
  const title = firstBytes(textAt(params, 'message') ?? server, 200);
  const isAllowed = isTool && (server === toolServer || (await permit({ tool: server, title, input: {} }, allow, io)).allow);
  return { action: isAllowed ? 'accept' : 'decline', content: isAllowed ? {} : null, _meta: null };
}
