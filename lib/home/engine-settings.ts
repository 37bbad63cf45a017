import * as z from 'zod';
import { acpPresetNames, type AcpPresetName } from '../../actors/engines/acp/presets.js';

/**
 * Settings of the engines that a home may have several of, or that are there without being named: agents of
 * the Agent Client Protocol, presets and others, and OpenAI-compatible endpoints. `config.ts` has the rest.
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

/** An agent program that uses the login of the user; a key is passed on only when it is named here. */
const acpSettings = {
  args: z.array(z.string().max(4_096)).max(64).optional().describe('Additional arguments of the program.'),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().max(32_768))
    .optional()
    .describe('Additional environment variables of the program. Not for secrets: see apiKeyEnv.'),
  model: word.optional().describe('Default model of turns.'),
  models: z
    .array(word)
    .max(200)
    .optional()
    .describe('Models to choose from; those of the program are added once it has run.'),
  baseUrl: address.optional().describe('Address of the model provider, where the program supports it.'),
  apiKeyEnv: variable.optional().describe('Environment variable of the gateway with the key.'),
  allow: z
    .array(word)
    .max(200)
    .optional()
    .describe(
      'Tools, by name or kind, allowed without a permission request; * is all. Default: read, search, think.',
    ),
  efforts: z
    .array(word)
    .max(20)
    .optional()
    .describe('Effort levels to choose from, where the program supports them.'),
  mode: word.optional().describe('Mode of the program to use.'),
  authMethod: word.optional().describe('Login method, one that the program offers.'),
};

const preset = z.strictObject({
  bin: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe('Path of the program, if not on the PATH under its usual name.'),
  ...acpSettings,
});

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

const price = z.number().min(0).max(100_000);

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
  tools: z
    .union([z.boolean(), z.array(word).max(128)])
    .optional()
    .describe("Which of the gateway's tools the model sees. Default: all."),
  roundsMax: z.int().min(1).max(1_000).optional().describe('Model calls per turn, at most. Default 30.'),
  pricesUsdPerMillionTokens: z
    .strictObject({ input: price, output: price, cachedInput: price.optional() })
    .optional()
    .describe('Prices for the cost of turns; without them no cost is reported.'),
});

/** `engines.gemini`, `engines.qwen` … */
export const presetSettings = Object.fromEntries(acpPresetNames.map((name) => [name, preset])) as Readonly<
  Record<AcpPresetName, typeof preset>
>; // a member for each name

/** `engines.acp`, `engines.openai`: engines by name. */
export const engineFamilies = {
  acp: z.record(engineName, agent),
  openai: z.record(engineName, endpoint),
} as const;

export type PresetSettings = Partial<Record<AcpPresetName, z.infer<typeof preset>>>;
export interface EngineFamilies {
  readonly acp: Readonly<Record<string, z.infer<typeof agent>>>;
  readonly openai: Readonly<Record<string, z.infer<typeof endpoint>>>;
}
