import { readdir } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { acpPresetNames, acpPresets } from '../../actors/engines/acp/presets.js';
import { totalmem } from 'node:os';
import { lackingSandbox, type TurnSandbox } from '../../actors/session/turn-sandbox.js';
import type { Engine } from '../../actors/engines/engine.js';
import { narrower, type SandboxLevel } from '../../actors/sandbox/levels.js';
import { createSandbox, type Command, type Confined, type InForce } from '../../actors/sandbox/sandbox.js';
import type { SandboxTool } from '../../actors/sandbox/tool.js';
import { folderOf, readRecord } from './backups/record.js';
import { copyOf } from './clones.js';
import type { Config } from './config.js';
import type { Layout } from './layout.js';

/** The sandbox of a home: what config.yaml and the files of its employees ask for, on this machine. */
export interface HomeSandbox extends TurnSandbox {
  /** For programs of no employee: polls, and git on folders that agents can write. */
  confine(command: Command): Promise<Confined>;
  /** What keeps an engine from being used: a sandbox that is required. */
  lacking(engine: Engine): Promise<InForce['lacking']>;
  /** `host` or `host:port`: the only ones that agents at `strict` reach, beside those of their engine. */
  hosts(): readonly string[];
}

export interface HomeSandboxOptions {
  readonly layout: Layout;
  /** Asked at every use. */
  readonly config: () => Config;
  readonly records?: {
    readonly roster: { readonly value: { readonly employees: readonly Confinable[] } };
    readonly audit: { decided(decision: SandboxDecision): void };
  };
  readonly tool?: () => Promise<SandboxTool>;
}

interface Confinable {
  readonly name: string;
  readonly sandbox?: SandboxLevel | undefined;
}

/** A line of the audit log. */
export interface SandboxDecision {
  readonly by: string;
  readonly address: undefined;
  readonly authority: 'sandbox';
  readonly method: 'TURN';
  readonly target: SandboxLevel;
  readonly verdict: 'allowed' | 'refused';
  readonly code?: 'UNCONFINED' | 'SANDBOX_REQUIRED';
}

/** `homeSandbox({layout, config: () => live.current, records})` */
export function homeSandbox({ layout, config, records, tool }: HomeSandboxOptions): HomeSandbox {
  const port = createSandbox({
    hidden: () => hiddenPlaces(config(), layout),
    ownFolders: [layout.work, layout.polls],
    isRequired: () => config().agents.sandboxRequired,
    programs: () => programsOf(config(), layout),
    memoryBytesMax: () => memoryBytesMax(config()),
    ...(tool === undefined ? {} : { tool }),
  });
  const sandbox: TurnSandbox = {
    port,
    isRequired: () => config().agents.sandboxRequired,
    levelOf: (employees) =>
      (records?.roster.value.employees ?? [])
        .filter(({ name }) => employees.includes(name))
        .reduce((level, { sandbox: own }) => narrower(level, own ?? 'off'), config().agents.sandbox),
    originOf: (sessionId) => copyOf(layout.home, sessionId),
    onTurn: (sessionId, _asked, inForce) => records?.audit.decided(decisionOf(sessionId, inForce)),
  };
  return {
    ...sandbox,
    confine: (command) => port.confine(command, config().agents.sandbox),
    lacking: lackingSandbox(sandbox),
    hosts: () => config().agents.sandboxHosts,
  };
}

/**
 * The home, and what of it lies elsewhere: what its links lead to (`store` on another disk, but no folder in which
 * people and agents may work, an `org` in a repository say), the key of its certificate, its backups and the keys of
 * those.
 */
async function hiddenPlaces(
  { gateway: { tls }, backup }: Config,
  layout: Layout,
): Promise<readonly string[]> {
  const { to, secretsFile } = backup;
  const isFolder = to?.startsWith('/') === true;
  return [
    layout.home,
    ...(await linkedParts(layout)),
    ...(tls === null ? [] : [resolve(layout.home, tls.key)]),
    ...(secretsFile === null ? [] : [secretsFile]),
    // no more than its own: around it agents may work
    ...(isFolder ? [join(to, folderOf(layout, await readRecord(layout)))] : []),
  ];
}

async function linkedParts(layout: Layout): Promise<readonly string[]> {
  const { home, work, polls, org, skills, knowledge, docs } = layout;
  const ofPeopleAndAgents = [work, polls, org, skills, knowledge, docs];
  const entries = await readdir(home, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isSymbolicLink())
    .map(({ name }) => join(home, name))
    .filter((path) => !ofPeopleAndAgents.includes(path));
}

/** Of one turn: three quarters of what this machine has, where nothing is said. `memoryBytesMax(config) // 12e9` */
export function memoryBytesMax({ agents: { memoryMegabytesMax: said } }: Config): number | undefined {
  if (said === 0) return undefined;
  return said === null ? Math.floor(totalmem() * 0.75) : said * 2 ** 20;
}

function decisionOf(sessionId: string, { level, lacking, isRefused }: InForce): SandboxDecision {
  return {
    by: `session:${sessionId}`,
    address: undefined,
    authority: 'sandbox',
    method: 'TURN',
    target: level,
    verdict: isRefused ? 'refused' : 'allowed',
    ...(isRefused ? { code: 'SANDBOX_REQUIRED' } : lacking === undefined ? {} : { code: 'UNCONFINED' }),
  };
}

/**
 * What a gateway with these settings starts or loads, as names on the PATH and absolute paths: the programs of its
 * engines with the files on their command lines, and the modules. Anyone who could write one would be run by the
 * gateway, for an employee who is kept less far, or as the gateway itself.
 */
export function programsOf({ engines, modules }: Config, { home }: Pick<Layout, 'home'>): readonly string[] {
  const { claude, codex, presets, commands, families } = engines;
  return [
    claude.bin ?? 'claude',
    codex.bin ?? 'codex',
    ...acpPresetNames.map((name) => presets[name]?.bin ?? acpPresets[name].bin),
    ...Object.values(families.acp ?? {}).map(({ command }) => command),
    ...Object.values(commands).flatMap(({ command: [program = '', ...args] }) => [
      program,
      ...args.filter((word) => isAbsolute(word)),
    ]),
    ...modules.map((name) => resolve(home, name)),
  ];
}
