import type { ProgramLogins } from '../agent/access.js';
import type { AgentProgram } from '../agent/program.js';
import type { Engine } from '../engine.js';
import { settingsNames } from '../project-settings.js';
import { acpEngine, type AcpOptions, type AcpQuirks } from './engine.js';

/**
 * Agent programs that speak the protocol by themselves, with what was measured of each. A setting of the
 * operator's replaces what stands here. The gateway judges each call of its own tools, so no program needs to
 * ask for them as well; where it cannot be told so on its command line, its questions are known by their form
 * (`ownTool`).
 */
export interface AcpPreset {
  readonly bin: string;
  readonly args: readonly string[];
  readonly remedy: string;
  readonly leastVersion: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly efforts?: readonly string[];
  /** Below the user's own folder. */
  readonly folders: readonly string[];
  readonly keeps: readonly string[];
  readonly momentary?: readonly string[];
  readonly hosts: readonly string[];
  readonly logins: ProgramLogins;
  readonly quirks: AcpQuirks;
  readonly settingsNames: readonly string[];
}

export const acpPresets = {
  gemini: {
    bin: 'gemini',
    settingsNames: settingsNames.gemini,
    args: ['--acp'],
    remedy: 'npm install -g @google/gemini-cli',
    leastVersion: '0.61.0',
    // otherwise it starts itself a second time, for more memory; and in a folder that it does not trust it
    // takes no tools of others
    env: { GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    folders: ['.gemini'],
    keeps: ['.gemini/oauth_creds.json', '.gemini/google_accounts.json', '.gemini/tmp/'],
    logins: {
      files: ['.gemini/oauth_creds.json'],
      keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
      remedy: 'run gemini once and choose how to log in',
    },
    hosts: ['generativelanguage.googleapis.com', 'cloudcode-pa.googleapis.com', 'oauth2.googleapis.com'],
    quirks: {
      modelArgument: (model) => `--model=${model}`,
      keyVariable: 'GEMINI_API_KEY',
      addressVariable: 'GOOGLE_GEMINI_BASE_URL',
      staysAfterEnd: true,
      losesByLoadingInSameMinute: true,
      // it asks for every call of a tool of others and has no way to be told that the gateway judges these by
      // itself
      ownTool: { kind: 'other', title: /^[\w-]{1,100} \(troupe MCP Server\)$/ },
    },
  },
  qwen: {
    bin: 'qwen',
    settingsNames: settingsNames.qwen,
    args: ['--acp', '--allowed-tools=mcp__troupe'],
    remedy: 'npm install -g @qwen-code/qwen-code',
    leastVersion: '0.15.10',
    folders: ['.qwen'],
    keeps: ['.qwen/oauth_creds.json', '.qwen/tmp/', '.qwen/projects/'],
    logins: {
      files: ['.qwen/oauth_creds.json'],
      keys: ['OPENAI_API_KEY', 'DASHSCOPE_API_KEY'],
      remedy: 'run qwen once and type /auth',
    },
    hosts: ['chat.qwen.ai', 'dashscope.aliyuncs.com', 'portal.qwen.ai'],
    quirks: {
      modelArgument: (model) => `--model=${model}`,
      keyVariable: 'OPENAI_API_KEY',
      addressVariable: 'OPENAI_BASE_URL',
    },
  },
  opencode: {
    bin: 'opencode',
    settingsNames: settingsNames.opencode,
    args: ['acp'],
    remedy: 'npm install -g opencode-ai',
    leastVersion: '1.18.33',
    // by itself it asks for nothing
    env: {
      OPENCODE_PERMISSION: JSON.stringify({ edit: 'ask', bash: 'ask', webfetch: 'ask' }),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_SHARE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    },
    folders: ['.config/opencode', '.local/share/opencode/bin', '.local/state/opencode', '.cache/opencode'],
    keeps: ['.local/share/opencode/'],
    // a lock that one left behind could not be taken over, and the turn had no tools of the gateway, without a word
    momentary: ['.local/state/opencode/locks'],
    logins: {
      files: ['.local/share/opencode/auth.json'],
      keys: ['OPENCODE_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY'],
      remedy: 'opencode auth login',
      isUnseen: true, // some of its models need none
    },
    hosts: ['opencode.ai', 'models.dev'],
    quirks: {},
  },
  copilot: {
    bin: 'copilot',
    settingsNames: settingsNames.copilot,
    args: ['--acp', '--no-auto-update', '--disable-builtin-mcps', '--allow-tool=troupe'],
    remedy: 'npm install -g @github/copilot',
    leastVersion: '1.0.102',
    env: { COPILOT_AUTO_UPDATE: 'false' },
    efforts: ['low', 'medium', 'high', 'xhigh'],
    folders: ['.copilot'],
    keeps: ['.copilot/session-state/', '.copilot/logs/'],
    logins: {
      files: [],
      keys: ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'],
      remedy: 'run copilot once and type /login',
      isUnseen: true, // a keychain may have it
    },
    hosts: ['api.githubcopilot.com', 'api.github.com', 'api.individual.githubcopilot.com'],
    quirks: {
      modelArgument: (model) => `--model=${model}`,
      effortArgument: (effort) => `--reasoning-effort=${effort}`,
      keyVariable: 'COPILOT_PROVIDER_API_KEY',
      addressVariable: 'COPILOT_PROVIDER_BASE_URL',
      withAddress: { COPILOT_OFFLINE: 'true' },
      errorInText: /^(?:Error|Info: Request failed)\b/,
    },
  },
} as const satisfies Readonly<Record<string, AcpPreset>>;

export type AcpPresetName = keyof typeof acpPresets;
export const acpPresetNames = Object.keys(acpPresets) as readonly AcpPresetName[]; // the keys of a constant

/** `acpPreset('gemini', {model: 'gemini-2.5-flash', apiKeyEnv: 'MY_KEY'})` */
export function acpPreset(
  name: AcpPresetName,
  options: AgentProgram & Pick<AcpOptions, 'mode' | 'authMethod' | 'efforts'> = {},
): Engine {
  const preset: AcpPreset = acpPresets[name];
  const { args = [], env, ...chosen } = options;
  return acpEngine({
    ...preset,
    name,
    section: `engines.${name}`,
    ...chosen,
    args: [...preset.args, ...args],
    env: { ...preset.env, ...env },
  });
}
