import { Option, type Command } from 'commander';
import type { PermissionMode, ToolPolicy } from '../../machines/session/tool-policy.js';
import { connect, sessionNamed } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { plainText } from './print.js';

interface PermissionsOptions extends HomeOptions {
  readonly mode?: PermissionMode;
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
  readonly json?: boolean;
}

/** `troupe permissions <session>`: what its agent may do without a permission request, and changes of that. */
export function permissionsCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('permissions')
      .description('show or change what the agent of a session may do without a permission request'),
  )
    .argument('<session>', 'id of the session, or the beginning of it')
    .addOption(
      new Option('--mode <mode>', 'start over with this mode, without rules').choices(permissionModes),
    )
    .option('--add <rule...>', 'allow what this rule fits, such as "Bash(git *)" or "Edit(src/**)"')
    .option('--remove <rule...>', 'take this rule away')
    .option('--json', 'answer as JSON')
    .action(async (typed: string, options: PermissionsOptions) => {
      const client = await connect(homeOf(options, terminal));
      const path = { id: await sessionNamed(client, typed) };
      const session = await client.get('/api/sessions/{id}', { params: { path, query: { messages: '0' } } });
      const { toolPolicy: now } = session;
      const { mode, add = [], remove = [] } = options;
      const isChange = mode !== undefined || add.length > 0 || remove.length > 0;
      const kept = mode === undefined ? now.allow.filter((rule) => !remove.includes(rule)) : [];
      const body = { mode: mode ?? now.mode, allow: [...kept, ...add] };
      const changed = isChange
        ? await client.put('/api/sessions/{id}/permissions', { params: { path }, body })
        : session;
      const { mode: is, allow } = changed.toolPolicy;
      if (options.json === true) return terminal.out(JSON.stringify({ mode: is, allow }));
      terminal.out(about[is]);
      for (const rule of allow) terminal.out(`  ${plainText(rule)}`);
    });
}

const about: Readonly<Record<ToolPolicy['mode'], string>> = {
  ask: 'It asks before each tool that its engine asks for.',
  'allow-list': 'It asks, but not for what these rules fit:',
  full: 'It never asks.',
};

/** For options of commands, which load nothing of the machines to start at once. All of them: else it does not compile. */
export const permissionModes = Object.keys({
  ask: true,
  edits: true,
  full: true,
} satisfies Record<PermissionMode, true>);
