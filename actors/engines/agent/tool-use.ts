import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Json } from '../../../machines/outputs.js';
import type { ToolUse } from '../../../machines/session/tool-rule.js';
import { isObject, listAt, textAt, type JsonObject } from './lines.js';

/** What the tools of agents do, in the words of permission rules. */

/**
 * What a tool of Claude Code would do. Of its own tools each that takes a `command` may run one; those of servers
 * are known by their names.
 * @example claudeUse('Write', { file_path: 'src/a.ts' }) // { tool: 'Edit', paths: ['src/a.ts'] }
 */
export function claudeUse(tool: string, input: JsonObject): ToolUse | undefined {
  const command = input['command'];
  if (tool === 'Bash' || (command !== undefined && !tool.startsWith('mcp__')))
    return { tool: 'Bash', command: tool === 'Bash' && typeof command === 'string' ? command : '' };
  if (editors.has(tool)) return { tool: 'Edit', paths: texts(input['file_path'] ?? input['notebook_path']) };
  if (tool === 'Read') return { tool: 'Read', paths: texts(input['file_path']) };
  return tool === 'WebFetch' ? { tool: 'WebFetch', host: hostOf(textAt(input, 'url')) } : undefined;
}

const editors: ReadonlySet<string> = new Set(['Edit', 'MultiEdit', 'NotebookEdit', 'Write']);

/** What a call of the Agent Client Protocol would do, by its kind. */
export function acpUse(kind: string | undefined, call: JsonObject): ToolUse | undefined {
  const input = isObject(call['rawInput']) ? call['rawInput'] : {};
  const command = input['command'];
  // words that stand beside the command belong to it, and no rule has seen them
  if (kind === 'execute' || command !== undefined)
    return {
      tool: 'Bash',
      command: typeof command === 'string' && !('args' in input) && !('env' in input) ? command : '',
    };
  const places = [
    ...listAt(call, 'locations'),
    ...listAt(call, 'content').filter((part) => textAt(part, 'type') === 'diff'),
  ];
  const paths = texts(places.map((place) => textAt(place, 'path') ?? null));
  if (kind === 'edit' || kind === 'delete') return { tool: 'Edit', paths };
  if (kind === 'move') return { tool: 'Edit', paths: [] }; // where to is said in words alone
  if (kind === 'read') return { tool: 'Read', paths };
  return kind === 'fetch' ? { tool: 'WebFetch', host: hostOf(textAt(input, 'url')) } : undefined;
}

/**
 * A command of Codex without the shell around it, where that is one quoted word.
 * @example codexCommand("/bin/bash -lc 'git status'") // 'git status'
 */
export function codexCommand(command: string): string {
  const shell = /^(?:\/(?:usr\/)?bin\/)?(?:ba|z|da)?sh -l?c (?:'([^']*)'|"([^"\\$`]*)"|([\w./-]+))$/.exec(
    command,
  );
  return shell === null ? command : (shell[1] ?? shell[2] ?? shell[3] ?? '');
}

/** A name that is missing or is none makes the whole list one that no rule fits. */
function texts(value: Json | undefined): readonly string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.every((path) => typeof path === 'string' && path !== '') ? (list as string[]) : [];
}

function hostOf(url = ''): string {
  const scheme = /^https?:\/\//i.test(url) ? '' : 'https://';
  return URL.canParse(scheme + url) ? new URL(scheme + url).hostname.toLowerCase() : '';
}

/**
 * The same with the files that are really meant: links are followed as far as there is something. What cannot be
 * known (`~`, an unreadable folder, what no engine of ours says) leaves nothing that a rule fits.
 */
export async function resolvedUse(uses: ToolUse | undefined, cwd: string): Promise<ToolUse | undefined> {
  if (uses === undefined) return undefined;
  switch (uses.tool) {
    case 'Bash':
      return {
        tool: 'Bash',
        command: typeof uses.command === 'string' ? uses.command.slice(0, textMax) : '',
      };
    case 'WebFetch':
      return { tool: 'WebFetch', host: String(uses.host).slice(0, textMax) };
    default: {
      const given: readonly unknown[] = Array.isArray(uses.paths) ? uses.paths.slice(0, pathsMax + 1) : [];
      const real = await Promise.all(given.map((path) => realFile(path, cwd)));
      const isKnown = real.length <= pathsMax && real.every((path) => path !== undefined);
      return { tool: uses.tool, paths: isKnown ? (real as string[]) : [] };
    }
  }
}

const textMax = 8_192;
const pathsMax = 100;

async function realFile(given: unknown, cwd: string): Promise<string | undefined> {
  if (typeof given !== 'string' || given.startsWith('~') || given.includes('\0')) return undefined;
  const below: string[] = [];
  for (let path = resolve(cwd, given); ; path = dirname(path)) {
    try {
      return join(await realpath(path), ...below);
    } catch (error) {
      // a link that leads to nothing may lead there later
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || (await isLink(path))) return undefined;
      below.unshift(basename(path));
    }
  }
}

const isLink = (path: string): Promise<boolean> =>
  readlink(path).then(
    () => true,
    () => false,
  );
