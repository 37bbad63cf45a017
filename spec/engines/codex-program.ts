import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { codexEngine } from '../../actors/engines/codex/engine.js';
import type { Program } from './programs.js';

/**
 * The model's name is one that codex does not know: it gives models that it knows another way to its tools.
 */
export const codexProgram: Program = {
  name: 'codex',
  packages: ['@openai/codex@0.169.0'],
  subject({ url, home, prefix }) {
    const settings = {
      bin: join(prefix, 'node_modules/.bin/codex'),
      baseUrl: `${url}/v1`,
      apiKeyEnv: 'SCRIPTED_KEY',
      model: 'gpt-5.2-codex',
    };
    mkdirSync(join(home, 'codex'), { recursive: true });
    return Promise.resolve({
      engine: codexEngine({ ...settings, home: join(home, 'codex') }),
      settings: { codex: settings },
      shell: 'exec_command {"cmd": "printf made-%s $((40+2)) > made && cat made"}',
      env: { HOME: home },
      hearsWhy: true,
      instructions: 'AGENTS.md',
    });
  },
};
