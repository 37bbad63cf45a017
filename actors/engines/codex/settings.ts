import { realpath } from 'node:fs/promises';
import type { Json } from '../../../machines/outputs.js';
import type { TurnRequest } from '../engine.js';
import { apiKey, type AgentProgram } from '../agent/program.js';
import { foldersUpToRoot } from '../project-settings.js';

/** Where the program is, and how it logs in. */
export interface CodexOptions extends AgentProgram {
  /**
   * CODEX_HOME of the program: conversations and logs, none of the user's own settings. Absent: its usual
   * one.
   */
  readonly home?: string;
  /** What its commands may touch when they were allowed. Default: everything that this user may. */
  readonly sandbox?: 'read-only' | 'workspace-write' | 'danger-full-access';
}

/** Name under which the gateway's tools stand beside the agent's own. */
export const toolServer = 'troupe';
const keyVariable = 'TROUPE_CODEX_KEY';
const tokenVariable = 'TROUPE_TOOLS_TOKEN';

/**
 * Quiet, and the same on every machine. These stand on the command line: nothing of a client, nothing secret.
 */
export const processSettings: readonly string[] = [
  'analytics.enabled=false',
  'check_for_update_on_startup=false',
].flatMap((setting) => ['-c', setting]);

/**
 * Which projects' `.codex` count. Codex trusts by itself whatever folder it may write in, and then starts the servers
 * that the folder names; said on the command line, it neither asks itself nor what an earlier turn wrote down.
 */
export async function trustSettings({
  cwd,
  project,
}: Pick<TurnRequest, 'cwd' | 'project'>): Promise<readonly string[]> {
  const real = await realpath(cwd).catch(() => cwd);
  const folders = await Promise.all([cwd, real].map(foldersUpToRoot));
  const level = project === 'trusted' ? 'trusted' : 'untrusted';
  const entries = [...new Set(folders.flat())].map(
    (folder) => `${JSON.stringify(folder)}={trust_level="${level}"}`,
  );
  return ['-c', `projects={${entries.join(',')}}`];
}

/**
 * The settings of one conversation: the provider where it is not the usual one, and the gateway's tools.
 * Secrets are named by the variables that hold them. A limit is not waited out without a word: the session
 * waits, in the open.
 */
export function threadSettings(
  options: CodexOptions,
  { mcp }: Pick<TurnRequest, 'mcp'>,
): { readonly [key: string]: Json } {
  const provider =
    options.baseUrl === undefined && options.apiKeyEnv === undefined
      ? {}
      : {
          model_provider: toolServer,
          model_providers: {
            [toolServer]: {
              name: toolServer,
              base_url: options.baseUrl ?? 'https://api.openai.com/v1',
              wire_api: 'responses',
              request_max_retries: 0,
              stream_max_retries: 0,
              ...(options.apiKeyEnv === undefined ? {} : { env_key: keyVariable }),
            },
          },
        };
  const tools =
    mcp === undefined
      ? {}
      : {
          mcp_servers: {
            [toolServer]: {
              url: mcp.url,
              bearer_token_env_var: tokenVariable,
              default_tools_approval_mode: 'approve',
            },
          },
        };
  return { ...provider, ...tools, shell_environment_policy: { exclude: [keyVariable] } };
}

export function codexEnvironment(
  options: CodexOptions,
  request: Pick<TurnRequest, 'env' | 'mcp'>,
): Record<string, string> {
  const key = apiKey(options);
  return {
    NO_COLOR: '1',
    CI: '1',
    DO_NOT_TRACK: '1',
    ...(options.home === undefined ? {} : { CODEX_HOME: options.home }),
    ...(key === undefined ? {} : { [keyVariable]: key }),
    ...options.env,
    ...request.env,
    ...(request.mcp === undefined ? {} : { [tokenVariable]: request.mcp.token }),
  };
}
