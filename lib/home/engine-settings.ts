import * as z from 'zod';
import { toolChoice, toolChoiceWords } from './agent-settings.js';
import { acpPresetNames, type AcpPresetName } from '../../actors/engines/acp/presets.js';

/**
 * Settings of the engines that a home may have several of, or that are there without being named: agents of
 * the Agent Client Protocol, presets and others, OpenAI-compatible endpoints, and agents of other houses. `config.ts`
 * has the rest.
 */
const word = z.string().min(1).max(200);
const variable = z.string().regex(/^[A-Z_][A-Z0-9_]*$/, 'must be the name of an environment variable');
export const engineName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/, 'an engine name must be a-z first, then a-z, 0-9 or dashes');

/** A key does not belong into an address: addresses are told in errors and lists. */
const address = z
  .url({ protocol: /^https?$/ })
  .max(2_048)
  .refine((url) => !/^https?:\/\/[^/]*@/i.test(url), 'must not hold a user or a password; use apiKeyEnv')
  .refine((url) => !/[?#]/.test(url), 'must not have a query');

/** Of every engine: its share of `engines.maxProcesses`. */
export const processes = z
  .int()
  .min(1)
  .max(1_024)
  .optional()
  .describe('Turns of this engine that may run at once. Default: as engines.maxProcesses.');

const environment = z
  .record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable'),
    z.union([z.string().max(32_768), z.literal(true)], 'must be a text, or true to pass it on'),
  )
  .optional()
  .describe(
    "Environment of the program, beside the basics: a text is set, true passes on the gateway's own variable. " +
      'Keys are passed by true or apiKeyEnv, never written here.',
  );

const offeredTools = z
  .union([z.boolean(), z.array(word).max(128)])
  .optional()
  .describe("Which of the gateway's tools the model sees; false: none. Default: all.");

const programTools = z
  .union([z.literal(false), toolChoice], `must be false, ${toolChoiceWords}`)
  .optional()
  .describe(
    "Which of the gateway's tools stand in its agents' lists: the set of a role, all, these, or false for none. " +
      "Default: as agents.tools. An employee's own `tools` come first.",
  );

/** An engine that is any program: prompt on stdin, answer on stdout. */
export const commandEngine = z.strictObject({
  command: z
    .array(z.string().max(4_096))
    .min(1)
    .max(64)
    .describe('The program and its arguments. No shell is involved.'),
  env: environment,
  maxProcesses: processes,
});

const bin = z
  .string()
  .min(1)
  .max(4_096)
  .optional()
  .describe('Path of the program, if not on the PATH under its usual name.');
const allowed = z.array(word).max(200).optional();

/**
 * The Claude Code and Codex programs, driven in their own protocols. They use the login of the user; a key is
 * passed on only when it is named here.
 */
export const ownProgram = z.strictObject({
  bin,
  model: word.optional().describe('Default model of turns.'),
  baseUrl: z.url().optional().describe('Address of the model provider, if not the standard one.'),
  apiKeyEnv: variable.optional().describe('Environment variable of the gateway with the key.'),
  env: environment,
  allow: allowed.describe(
    'Tools allowed without a permission request; * is all. Default: its harmless ones.',
  ),
  tools: programTools,
  maxProcesses: processes,
});

/** Claude Code has tools of its own that can be left out; the others do not say how. */
export const claudeProgram = ownProgram.extend({
  ownTools: z
    .array(z.string().regex(/^[A-Za-z][\w-]*$/, 'must be the name of a tool'))
    .max(100)
    .optional()
    .describe("The program's own tools that its agents have at all: Bash, Read …; [] is none. Default: all."),
});

/** An agent program that uses the login of the user; a key is passed on only when it is named here. */
const acpSettings = {
  args: z.array(z.string().max(4_096)).max(64).optional().describe('Additional arguments of the program.'),
  env: environment,
  model: word.optional().describe('Default model of turns.'),
  models: z
    .array(word)
    .max(200)
    .optional()
    .describe('Models to choose from; those of the program are added once it has run.'),
  baseUrl: address.optional().describe('Address of the model provider, where the program supports it.'),
  apiKeyEnv: variable.optional().describe('Environment variable of the gateway with the key.'),
  allow: allowed.describe(
    'Tools, by name or kind, allowed without a permission request; * is all. Default: read, search, think.',
  ),
  tools: programTools,
  maxProcesses: processes,
  efforts: z
    .array(word)
    .max(20)
    .optional()
    .describe('Effort levels to choose from, where the program supports them.'),
  mode: word.optional().describe('Mode of the program to use.'),
  authMethod: word.optional().describe('Login method, one that the program offers.'),
};

const preset = z.strictObject({ bin, ...acpSettings });

const agent = z.strictObject({
  command: z
    .string()
    .min(1)
    .max(4_096)
    .describe('The program: a name on the PATH or an absolute path. No shell is involved.'),
  settingsNames: z
    .array(
      z
        .string()
        .regex(/^(?!.*(?:^|\/)\.\.?(?:\/|$))[\w.@ -]+(?:\/[\w.@ -]+)*$/, 'must be a path in a project'),
    )
    .max(20)
    .optional()
    .describe(
      'Files and folders of a project that set something for the program; they must be trusted. Default: those of ' +
        'any known agent.',
    ),
  ...acpSettings,
});

const price = (of: string) => z.number().min(0).max(100_000).describe(`Dollars for a million ${of} tokens.`);

/**
 * An endpoint that speaks OpenAI's chat completions. The key is read from the variable that is named here and
 * never written down.
 */
const endpoint = z.strictObject({
  baseUrl: address.describe('Address of the endpoint, with its /v1. Nothing else is called.'),
  apiKeyEnv: variable
    .optional()
    .describe('Environment variable of the gateway with the key. Absent: no key is sent.'),
  model: word.optional().describe('Default model of sessions. Default: the first.'),
  models: z
    .array(word)
    .max(200)
    .optional()
    .describe('Models to choose from. Default: those that an endpoint on this machine lists.'),
  efforts: z.array(word).max(20).optional().describe('Levels of reasoning_effort to choose from.'),
  effort: word.optional().describe('Default effort level of turns.'),
  instructions: z.string().max(65_536).optional().describe('System instructions for the model.'),
  tools: offeredTools,
  seesImages: z
    .boolean()
    .optional()
    .describe('false for models that take text only: pictures are named to them, not shown. Default: tried.'),
  maxProcesses: processes,
  roundsMax: z.int().min(1).max(1_000).optional().describe('Model calls per turn, at most. Default 30.'),
  pricesUsdPerMillionTokens: z
    .strictObject({
      input: price('input'),
      output: price('output'),
      cachedInput: price('cached input').optional(),
    })
    .optional()
    .describe('Prices for the cost of turns; without them no cost is reported.'),
});

/** An agent that runs elsewhere and speaks the Agent2Agent protocol. It gets no tools and no folder of ours. */
const remoteAgent = z.strictObject({
  url: address.describe(
    'Address of the agent, under which its card lies at .well-known/agent-card.json, or of the card. Nothing else ' +
      'than its host is called.',
  ),
  apiKeyEnv: variable
    .optional()
    .describe('Environment variable of the gateway with the key. Absent: no key is sent.'),
  apiKeyHeader: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'must be the name of a header')
    .optional()
    .describe('Header for the key, where its card names one. Default: Authorization, as a bearer.'),
  maxProcesses: processes,
});

/** `engines.gemini`, `engines.qwen` … */
export const presetSettings = Object.fromEntries(acpPresetNames.map((name) => [name, preset])) as Readonly<
  Record<AcpPresetName, typeof preset>
>; // a member for each name

/** `engines.a2a`, `engines.acp`, `engines.openai`: engines by name. */
export const engineFamilies = {
  a2a: z.record(engineName, remoteAgent),
  acp: z.record(engineName, agent),
  openai: z.record(engineName, endpoint),
} as const;

export type PresetSettings = Partial<Record<AcpPresetName, z.infer<typeof preset>>>;
export interface EngineFamilies {
  readonly a2a: Readonly<Record<string, z.infer<typeof remoteAgent>>>;
  readonly acp: Readonly<Record<string, z.infer<typeof agent>>>;
  readonly openai: Readonly<Record<string, z.infer<typeof endpoint>>>;
}
