import { join } from 'node:path';
import { claudeEngine } from '../../actors/engines/claude/engine.js';
import { acpPrograms } from './acp-programs.js';
import { codexProgram } from './codex-program.js';
import type { Subject } from './cases.js';

/** The agent programs that `npm run engines` installs, each at the version at which it was tried. */
export interface Program {
  readonly name: string;
  readonly packages: readonly string[];
  /** What it cannot do, by the name of the case, with the reason. */
  readonly cannot?: Readonly<Record<string, string>>;
  subject(
    place: Place,
  ): Promise<
    Pick<
      Subject,
      'engine' | 'settings' | 'shell' | 'env' | 'rest' | 'resumesOnce' | 'hearsWhy' | 'instructions'
    >
  >;
}

export interface Place {
  /** The scripted model. */
  readonly url: string;
  /** Becomes HOME of the program. */
  readonly home: string;
  /** Where it is installed. */
  readonly prefix: string;
}

process.env['SCRIPTED_KEY'] = 'scripted-key';

export const programs: readonly Program[] = [
  {
    name: 'claude',
    packages: ['@anthropic-ai/claude-code@2.1.197'],
    subject: ({ url, home, prefix }) =>
      Promise.resolve({
        engine: claudeEngine({
          bin: join(prefix, 'node_modules/.bin/claude'),
          baseUrl: url,
          apiKeyEnv: 'SCRIPTED_KEY',
          model: 'claude-opus-4-8',
          env: { CLAUDE_CODE_MAX_RETRIES: '1', CLAUDE_CONFIG_DIR: join(home, '.claude') },
        }),
        settings: {
          claude: {
            bin: join(prefix, 'node_modules/.bin/claude'),
            baseUrl: url,
            apiKeyEnv: 'SCRIPTED_KEY',
            model: 'claude-opus-4-8',
          },
        },
        shell: 'Bash {"command": "printf made-%s $((40+2)) > made && cat made"}',
        env: { HOME: home },
        instructions: 'CLAUDE.md',
      }),
  },
  codexProgram,
  ...acpPrograms,
];
