import { homedir } from 'node:os';
import { join } from 'node:path';
import type { AgentProgram } from '../agent/program.js';
import { readPlain } from '../project-settings.js';
import { projectWords } from '../project-words.js';
import type { TurnRequest } from '../engine.js';
import { configurationFolder } from './folders.js';

/**
 * What Claude Code takes of the settings of user and project. Those of the project count once a person trusted them,
 * or where there is nothing in them to trust. Whatever they permit, each tool is asked for: a rule to ask outranks a
 * rule to allow and the word of a hook, so that the session's policy decides alone; rules to deny hold.
 */
export interface ClaudeProject {
  /** For `--setting-sources`. */
  readonly sources: string;
  /** For `--settings`: they outrank all others. */
  readonly settings: object;
  /** The project's own servers, a file. */
  readonly mcpFile: string | undefined;
  /** What its CLAUDE.md says, for the prompt, where the program itself must not look for it. */
  readonly memory: string;
}

/** `const project = await claudeProject(options, request)` */
export async function claudeProject(
  options: Pick<AgentProgram, 'env'>,
  { cwd, project = 'untrusted' }: Pick<TurnRequest, 'cwd' | 'project'>,
): Promise<ClaudeProject> {
  const isOpen = project !== 'untrusted';
  const mcpFile = join(cwd, '.mcp.json');
  const servers = project === 'trusted' ? serversIn(await textOf(mcpFile, settingsBytesMax)) : [];
  const files = [
    join(configurationFolder(options), 'settings.json'),
    ...(isOpen ? ['settings.json', 'settings.local.json'].map((name) => join(cwd, '.claude', name)) : []),
  ];
  const texts = await Promise.all(files.map((file) => textOf(file, settingsBytesMax)));
  const ask = [
    ...changing,
    ...(texts.some(isWidening) ? others : []),
    ...servers.map((name) => `mcp__${name}`),
  ];
  return {
    sources: isOpen ? 'user,project,local' : 'user',
    settings: { permissions: { ask }, sandbox: { autoAllowBashIfSandboxed: false } },
    mcpFile: servers.length === 0 ? undefined : mcpFile,
    // the home folder has the user's own, which the program reads by itself
    memory: isOpen ? '' : await projectWords(cwd, ['CLAUDE.md'], (folder) => folder !== homedir()),
  };
}

const textOf = async (file: string, bytesMax: number): Promise<string | undefined> =>
  (await readPlain(file, bytesMax))?.toString();

/** Tools that it asks for anyway, so that nothing is lost by saying so. */
const changing = ['Edit', 'Write', 'NotebookEdit', 'WebFetch', 'WebSearch'];
/** Tools of which it uses some by itself, as `ls`. */
const others = ['Bash', 'BashOutput', 'KillShell', 'Read', 'Glob', 'Grep', 'Task', 'Skill', 'SlashCommand'];
const settingsBytesMax = 2 ** 20;

/** Permits tools by itself, by rules or by programs; what cannot be read may. */
function isWidening(text: string | undefined): boolean {
  if (text === undefined) return false;
  try {
    const { permissions, hooks, enabledPlugins, sandbox } = JSON.parse(text) as Readonly<
      Record<string, { readonly allow?: unknown } | undefined>
    >;
    return [permissions?.allow, hooks, enabledPlugins, sandbox].some((member) => member !== undefined);
  } catch {
    return true;
  }
}

function serversIn(text: string | undefined): readonly string[] {
  try {
    const { mcpServers = {} } = JSON.parse(text ?? '{}') as { readonly mcpServers?: object };
    return Object.keys(mcpServers).filter((name) => /^[\w-]{1,64}$/.test(name) && name !== 'troupe');
  } catch {
    return [];
  }
}

/** A project's settings say what needs no permission: an agent that changes them is asked for each. */
export const isSettingsFile = (path: string): boolean => /(?:^|\/)(?:\.claude\/|\.mcp\.json$)/.test(path);
