import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { acpPreset, type AcpPresetName } from '../../actors/engines/acp/presets.js';
import type { Subject } from './cases.js';
import type { Program } from './programs.js';

/**
 * The agents that speak the Agent Client Protocol by themselves, each with the settings that point it at the
 * scripted model.
 */
const write = async (file: string, settings: object): Promise<void> => {
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, JSON.stringify(settings));
};

const engineOf = (
  name: AcpPresetName,
  settings: NonNullable<Parameters<typeof acpPreset>[1]>,
): Pick<Subject, 'engine' | 'settings'> => ({
  engine: acpPreset(name, settings),
  settings: { [name]: settings },
});

const shellLine = 'printf "made-%s" 42 > made && cat made';

export const acpPrograms: readonly Program[] = [
  {
    name: 'gemini',
    packages: ['@google/gemini-cli@0.61.0'],
    async subject({ url, home, prefix }) {
      await write(join(home, '.gemini/settings.json'), {
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { enableAutoUpdate: false, maxAttempts: 1 },
        // In a terminal of its own, which is the default, it tells a client nothing of what a command said
        tools: { shell: { enableInteractiveShell: false } },
      });
      return {
        ...engineOf('gemini', {
          bin: join(prefix, 'node_modules/.bin/gemini'),
          baseUrl: url,
          apiKeyEnv: 'SCRIPTED_KEY',
          model: 'gemini-2.5-flash',
        }),
        shell: `run_shell_command ${JSON.stringify({ command: shellLine })}`,
        env: { HOME: home },
        // within the minute of its last word the gateway gives it the transcript instead, which is the case
        // "unknown session"
        resumesOnce: true,
        rest: () => setTimeout(60_000 - (Date.now() % 60_000)),
      };
    },
  },
  {
    name: 'qwen',
    packages: ['@qwen-code/qwen-code@0.15.10'], // the last one that runs on Node 20
    cannot: {
      '429':
        'waits for the limit to pass without a word; watchers hear that it is silent, the deadline ends it',
      '500': 'tries again for more than a minute without a word',
    },
    async subject({ url, home, prefix }) {
      await write(join(home, '.qwen/settings.json'), {
        security: { auth: { selectedType: 'openai' } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        tools: { toolSearch: { enabled: false } },
        // It shows pictures to models of which it knows that they see: it does not know the scripted one
        model: { generationConfig: { maxRetries: 0, modalities: { image: true } } },
      });
      return {
        ...engineOf('qwen', {
          bin: join(prefix, 'node_modules/.bin/qwen'),
          baseUrl: `${url}/v1`,
          apiKeyEnv: 'SCRIPTED_KEY',
          model: 'scripted',
          env: { OPENAI_MODEL: 'scripted' },
        }),
        shell: `run_shell_command ${JSON.stringify({ command: shellLine, is_background: false })}`,
        env: { HOME: home },
      };
    },
  },
  {
    name: 'opencode',
    packages: ['opencode-ai@1.18.33'],
    cannot: {
      'tool denied': 'ends its turn without a word when a tool is refused; told as a failure that says so',
      '429':
        'waits for the limit to pass without a word; watchers hear that it is silent, the deadline ends it',
      '500': 'tries again for more than a minute without a word',
    },
    async subject({ url, home, prefix }) {
      const models = {
        scripted: {
          name: 'scripted',
          tool_call: true,
          attachment: true,
          modalities: { input: ['text', 'image'], output: ['text'] },
          limit: { context: 100_000, output: 8_000 },
        },
      };
      await write(join(home, '.config/opencode/opencode.json'), {
        provider: {
          loop: {
            npm: '@ai-sdk/openai-compatible',
            name: 'loop',
            options: { baseURL: `${url}/v1`, apiKey: 'scripted-key' },
            models,
          },
        },
        enabled_providers: ['loop'],
        model: 'loop/scripted',
        small_model: 'loop/scripted',
        autoupdate: false,
        share: 'disabled',
      });
      return {
        ...engineOf('opencode', {
          bin: join(prefix, 'node_modules/.bin/opencode'),
          model: 'loop/scripted',
          env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1' },
        }),
        shell: `bash ${JSON.stringify({ command: shellLine, description: 'makes it' })}`,
        env: {
          HOME: home,
          XDG_CONFIG_HOME: join(home, '.config'),
          XDG_DATA_HOME: join(home, '.local/share'),
          XDG_CACHE_HOME: join(home, '.cache'),
          XDG_STATE_HOME: join(home, '.local/state'),
        },
      };
    },
  },
  {
    name: 'copilot',
    packages: ['@github/copilot@1.0.102'],
    cannot: {
      '429':
        'tries again five times within a minute before it tells of the limit; then the turn waits, which is too long for this table',
    },
    subject: ({ url, home, prefix }) =>
      Promise.resolve({
        ...engineOf('copilot', {
          bin: join(prefix, 'node_modules/.bin/copilot'),
          baseUrl: `${url}/v1`,
          apiKeyEnv: 'SCRIPTED_KEY',
          model: 'scripted',
          env: {
            COPILOT_PROVIDER_TYPE: 'openai',
            COPILOT_MODEL: 'scripted',
            COPILOT_HOME: join(home, '.copilot'),
          },
        }),
        shell: `bash ${JSON.stringify({ command: shellLine, description: 'makes it' })}`,
        env: { HOME: home },
      }),
  },
];
