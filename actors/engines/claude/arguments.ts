import type { Json } from '../../../machines/outputs.js';
import type { TurnRequest } from '../engine.js';
import { apiKey, chosenWord, type AgentProgram } from '../agent/program.js';
import type { ClaudeProject } from './project.js';

/** Name under which the gateway's tools stand beside the agent's own: `mcp__troupe__list_todos`. */
export const toolServer = 'troupe';

/**
 * Its readers are not named: it uses them in its working folder without permission, and asks for whatever lies
 * elsewhere. Named here, they would read the operator's token unasked. As far as its version keeps to that.
 */
export const allowedByDefault: readonly string[] = ['TodoWrite'];

/**
 * The command line of one turn. No secret and no word of a client stands on it: the prompt goes over stdin,
 * and the configuration of the tools names the variable that holds the token, which the agent itself reads.
 */
export function claudeArguments(
  options: AgentProgram & { readonly ownTools?: readonly string[] },
  request: TurnRequest,
  session: { readonly resume: string } | { readonly fresh: string },
  project: Omit<ClaudeProject, 'memory'>,
): readonly string[] {
  const model = chosenWord(request.model ?? options.model);
  const effort = chosenWord(request.effort ?? options.effort);
  return [
    ...(options.args ?? []),
    '-p',
    '--output-format',
    'stream-json',
    '--input-format',
    'stream-json',
    '--verbose',
    '--include-partial-messages',
    '--permission-prompt-tool',
    'stdio',
    '--permission-mode',
    'default',
    '--setting-sources',
    project.sources,
    `--settings=${JSON.stringify(project.settings)}`,
    `--allowedTools=${[...allowList(options), `mcp__${toolServer}`].filter((tool) => tool !== '*').join(',')}`,
    ...(options.ownTools === undefined ? [] : [`--tools=${options.ownTools.join(',')}`]),
    '--strict-mcp-config',
    '--mcp-config',
    JSON.stringify({ mcpServers: toolServers(request) }),
    ...(project.mcpFile === undefined ? [] : [project.mcpFile]),
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...(effort === undefined ? [] : [`--effort=${effort}`]),
    // after the servers' list, an option
    'resume' in session ? `--resume=${session.resume}` : `--session-id=${session.fresh}`,
  ];
}

export const allowList = ({ allow }: AgentProgram): readonly string[] => allow ?? allowedByDefault;

function toolServers({ mcp }: TurnRequest): Json {
  if (mcp === undefined) return {};
  return {
    [toolServer]: { type: 'http', url: mcp.url, headers: { Authorization: 'Bearer ${TROUPE_TOOLS_TOKEN}' } },
  };
}

export function claudeEnvironment(options: AgentProgram, request: TurnRequest): Record<string, string> {
  const key = apiKey(options);
  return {
    NO_COLOR: '1',
    CI: '1',
    DO_NOT_TRACK: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // its own ten retries take minutes without a word; a turn that met a limit waits in the session instead
    CLAUDE_CODE_MAX_RETRIES: '2',
    // newer versions hide tools behind a search tool otherwise
    ENABLE_TOOL_SEARCH: 'false',
    ...(options.baseUrl === undefined ? {} : { ANTHROPIC_BASE_URL: options.baseUrl }),
    ...(key === undefined ? {} : { ANTHROPIC_API_KEY: key }),
    ...options.env,
    ...request.env,
    ...(request.mcp === undefined ? {} : { TROUPE_TOOLS_TOKEN: request.mcp.token }),
  };
}
