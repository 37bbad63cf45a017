import * as z from 'zod';
import { cpus } from 'node:os';
import { nearest } from '../../machines/text.js';
import { acpPresetNames } from '../../actors/engines/acp/presets.js';
import {
  claudeProgram,
  commandEngine,
  engineFamilies,
  engineName,
  ownProgram,
  presetSettings,
  processes,
  type EngineFamilies,
  type PresetSettings,
} from './engine-settings.js';

/**
 * `engines` of config.yaml: two settings for all of them, and under every other name an engine. Names that come with
 * Troupe have settings of their own; a command under such a name takes the engine's place.
 */
export type CommandEngine = z.infer<typeof commandEngine>;

/** Settings of the engines that every home has. */
export const ownEngines: Readonly<Record<string, z.ZodType>> = {
  claude: claudeProgram,
  codex: ownProgram,
  clerk: z.strictObject({ maxProcesses: processes }),
  ...presetSettings,
};

/** The members of the section that are no engines. */
export const engineWide = {
  default: engineName.default('clerk').describe('Default engine of sessions.'),
  maxProcesses: z
    .int()
    .min(1)
    .max(1_024)
    .default(() => 2 * cpus().length)
    .describe('Agent processes that may run at once; further turns are queued.'),
};

/** What stands under the name of an engine: its schema, or that of engines by name, or of a command. */
export function engineSchema(name: string, value: unknown): z.ZodType {
  if (Object.hasOwn(engineFamilies, name)) return engineFamilies[name as keyof typeof engineFamilies];
  const isCommand = typeof value === 'object' && value !== null && 'command' in value;
  return (isCommand ? undefined : ownEngine(name)) ?? commandEngine;
}

const ownEngine = (name: string): z.ZodType | undefined =>
  Object.hasOwn(ownEngines, name) ? ownEngines[name] : undefined;

export const engines = z
  .looseObject(engineWide)
  .transform(({ default: standard, maxProcesses, ...named }, context) => {
    const commands: Record<string, CommandEngine> = {};
    const own: Record<string, unknown> = {};
    const families: Record<string, unknown> = {};
    const names = new Set<string>();
    const fault = (path: readonly PropertyKey[], input: unknown, message: string): void =>
      void context.issues.push({ code: 'custom', path: [...path], input, message });
    const known = (name: string, path: readonly PropertyKey[], input: unknown): void => {
      if (names.has(name)) fault(path, input, `there are two engines named "${name}"`);
      names.add(name);
    };
    for (const [name, value] of Object.entries(named)) {
      const shape = engineSchema(name, value);
      const meant = shape === commandEngine ? misspelt(name, value) : undefined;
      if (meant !== undefined) {
        fault([name], value, `unknown setting; did you mean "${meant}"?`);
        continue;
      }
      const checked =
        shape === commandEngine
          ? z.object({ name: engineName, value: shape }).safeParse({ name, value })
          : z.object({ value: shape }).safeParse({ value: value ?? {} });
      if (!checked.success)
        for (const issue of checked.error.issues)
          context.issues.push({
            ...issue,
            input: value,
            path: [name, ...issue.path.slice(1)],
          } as z.core.$ZodRawIssue);
      else if (Object.hasOwn(engineFamilies, name)) {
        families[name] = checked.data.value;
        for (const member of Object.keys(checked.data.value as object)) known(member, [name, member], value);
      } else if (shape !== commandEngine) own[name] = checked.data.value;
      else {
        commands[name] = checked.data.value as CommandEngine;
        known(name, [name], value);
      }
    }
    const {
      claude = {},
      codex = {},
      clerk = {},
      ...presets
    } = own as {
      readonly claude?: z.infer<typeof claudeProgram>;
      readonly codex?: z.infer<typeof ownProgram>;
      readonly clerk?: { readonly maxProcesses?: number | undefined };
    } & PresetSettings; // each was checked by its own schema
    return {
      default: standard,
      maxProcesses,
      commands,
      claude,
      codex,
      clerk,
      presets,
      families: families as Partial<EngineFamilies>,
    };
  });

/** A name that is none of ours, without a command, one slip away from one that is. */
function misspelt(name: string, value: unknown): string | undefined {
  if (typeof value === 'object' && value !== null && 'command' in value) return undefined;
  return nearest(name, [
    ...Object.keys(ownEngines),
    ...acpPresetNames,
    ...Object.keys(engineFamilies),
    ...Object.keys(engineWide),
  ]);
}
