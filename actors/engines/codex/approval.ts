import type { Json } from '../../../machines/outputs.js';
import { listAt, objectAt, textAt, type JsonObject } from '../agent/lines.js';
import { permit } from '../agent/permission.js';
import { codexCommand } from '../agent/tool-use.js';
import type { PermissionRequest, TurnIO } from '../engine.js';
import { firstBytes } from '../process/output.js';
import type { CodexParser } from './parser.js';
import { toolServer } from './settings.js';

/**
 * Codex asks before it runs a command or changes a file; the answer is a word. Why it was no, the agent is
 * told by `explain`, as something that its user says meanwhile. What asks for words of a person, or for more
 * rights for good, is answered with nothing.
 */
export async function answerApproval(
  method: string,
  params: JsonObject,
  rules: { readonly allow: readonly string[]; readonly cwd: string },
  parser: CodexParser,
  io: TurnIO,
  explain: (params: JsonObject, message: string) => void,
): Promise<JsonObject | undefined> {
  const judged = async (asked: PermissionRequest): Promise<boolean> => {
    const answer = await permit(asked, rules, io);
    if (!answer.allow) explain(params, answer.message);
    return answer.allow;
  };
  const asked = questionOf(method, params, parser);
  if (asked !== undefined) return { decision: (await judged(asked)) ? 'accept' : 'decline' };
  switch (method) {
    case 'mcpServer/elicitation/request':
      return elicited(params, judged);
    case 'item/permissions/requestApproval':
      return { permissions: {}, scope: 'turn' };
    case 'item/tool/requestUserInput':
      return { answers: {} };
    default:
      return undefined;
  }
}

function questionOf(method: string, params: JsonObject, parser: CodexParser): PermissionRequest | undefined {
  const item = parser.item(textAt(params, 'itemId') ?? '') ?? {};
  const reason = textAt(params, 'reason');
  const why = reason === undefined ? {} : { reason };
  switch (method) {
    case 'item/commandExecution/requestApproval': {
      const command = textAt(params, 'command') ?? textAt(item, 'command') ?? '';
      const host = textAt(objectAt(params, 'networkApprovalContext'), 'host');
      const reach = host === undefined ? {} : { network: host };
      return {
        tool: 'commandExecution',
        title: firstBytes(
          host === undefined ? command : `Reach ${host}${command === '' ? '' : `: ${command}`}`,
          200,
        ),
        input: { command, cwd: textAt(params, 'cwd') ?? textAt(item, 'cwd') ?? '', ...reach, ...why },
        uses:
          host === undefined
            ? { tool: 'Bash', command: codexCommand(command) }
            : { tool: 'WebFetch', host: host.toLowerCase() },
      };
    }
    case 'item/fileChange/requestApproval': {
      const changes = listAt(item, 'changes').map((change): Json => ({
        path: textAt(change, 'path') ?? '',
        diff: firstBytes(textAt(change, 'diff') ?? '', 4_096),
      }));
      const root = textAt(params, 'grantRoot'); // it asks for a whole folder
      const paths = changes.map((change) => textAt(change, 'path')).join(', ');
      return {
        tool: 'fileChange',
        title: firstBytes(`Change ${paths === '' ? 'files' : paths}`, 200),
        input: { changes, ...why },
        uses: { tool: 'Edit', paths: root === undefined ? pathsOf(listAt(item, 'changes')) : [] },
      };
    }
    default:
      return undefined;
  }
}

/** Also where a file is moved to. One without a name makes the list one that no rule fits. */
function pathsOf(changes: readonly Json[]): readonly string[] {
  const paths = changes.flatMap((change) => {
    const moved = textAt(objectAt(change, 'kind'), 'move_path');
    return [textAt(change, 'path') ?? '', ...(moved === undefined ? [] : [moved])];
  });
  return paths.includes('') ? [] : paths;
}

/** Tools of servers are asked for in this way; those of the gateway judge for themselves who may do what. */
async function elicited(
  params: JsonObject,
  judged: (asked: PermissionRequest) => Promise<boolean>,
): Promise<JsonObject> {
  const isTool = textAt(objectAt(params, '_meta'), 'codex_approval_kind') === 'mcp_tool_call';
  const server = textAt(params, 'serverName') ?? '';
  const title = firstBytes(textAt(params, 'message') ?? server, 200);
  const isAllowed = isTool && (server === toolServer || (await judged({ tool: server, title, input: {} })));
  return { action: isAllowed ? 'accept' : 'decline', content: isAllowed ? {} : null, _meta: null };
}
