import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import type { Engine, EngineAccess, EngineFacts, EngineModel, TranscriptEntry } from './engine.js';
import { limitsFault, limitsOf, type EngineLimits } from './limits.js';
import { allSettingsNames } from './project-settings.js';

/**
 * The engines of this gateway and what is known of them: discovered on demand, remembered for a minute,
 * chosen by exact strings. It answers what would run; it runs nothing.
 */
export interface EngineRegistry {
  get(name: string): Engine | undefined;
  /** Where projects keep settings for any of them: what is trusted of a project, whichever engine works there. */
  settingsNames(): readonly string[];
  /** What a new session would run with, or why that cannot be chosen. Omitted parts take the defaults. */
  select(
    engine?: string | null,
    model?: string | null,
    effort?: string | null,
  ): Promise<EngineSelection | Refusal>;
  /** The body of GET /api/engines. */
  list(): Promise<EngineList>;
  /** The provider's own record of a conversation; undefined where the engine reads none. */
  readTranscript(
    engine: string,
    nativeId: string,
    cwd: string,
  ): Promise<readonly TranscriptEntry[] | undefined>;
  /** Removes what engines keep of conversations on this machine; `engineSessions` of a session. */
  eraseTranscripts(
    engineSessions: Readonly<Record<string, { readonly id: string }>>,
    cwd: string,
  ): Promise<void>;
  /**
   * The engines part of GET /api/engine-limits: of all, or of the one named. It spends nothing and never
   * rejects.
   */
  limits(name?: string): Promise<EngineLimitsList>;
  /** The engine for sessions that name none; null when nothing is available. */
  defaultEngine(): Promise<string | null>;
  /** Forget what was discovered; the next question looks again. */
  refresh(): void;
  /** A turn of the engine has ended: what it was told of limits may be new. Never rejects. */
  hear(name: string): Promise<void>;
  /**
   * Told when a look finds an engine other than the last one did, or when it was told other limits. Returns
   * the way to unsubscribe.
   */
  onChange(listener: (name: string) => void): () => void;
}

export interface EngineSelection {
  readonly engine: string;
  /** The model asked for, else the engine's default. */
  readonly model: string | null;
  readonly effort: string | null;
  /** Set when the engine cannot run here: the reason and what would repair it, as one sentence or two. */
  readonly unavailable?: { readonly reason: string };
}

export interface EngineRecord {
  readonly name: string;
  readonly available: boolean;
  readonly defaultModel: string | null;
  readonly effortMechanism: string;
  readonly models: readonly EngineModel[];
  readonly version?: string;
  readonly reason?: string;
  readonly remedy?: string;
  /** Of programs that are here: how they get in at their provider. */
  readonly access?: EngineAccess;
}

export interface EngineList {
  readonly default: string | null;
  readonly engines: Readonly<Record<string, EngineRecord>>;
}

export type LimitsRecord = EngineLimits & {
  readonly name: string;
  readonly available: boolean;
  readonly defaultModel: string | null;
  readonly models: readonly EngineModel[];
};

export interface EngineLimitsList {
  readonly default: string | null;
  readonly engines: Readonly<Record<string, LimitsRecord>>;
}

export interface RegistryOptions {
  readonly engines: readonly Engine[];
  /** The configured default. */
  readonly default?: string | null;
  /** What keeps an engine from being used here although it is installed: a sandbox that is required. */
  readonly lacking?: (
    engine: Engine,
  ) => Promise<{ readonly reason: string; readonly remedy: string } | undefined>;
  readonly cacheSeconds?: number;
  /** A steady clock in ms, for specs. */
  readonly now?: () => number;
}

const discoveryMsMax = 5_000;
const nothingReported = JSON.stringify([[], undefined]);

/** `const registry = createEngineRegistry({engines: [clerk, commandEngine({…})]})` */
export function createEngineRegistry(options: RegistryOptions): EngineRegistry {
  const now = options.now ?? (() => performance.now());
  const cacheMs = (options.cacheSeconds ?? 60) * 1000;
  const engines = new Map(options.engines.map((engine) => [engine.name, engine]));
  if (engines.size !== options.engines.length) throw new TypeError('two engines have the same name');
  const known = new Map<string, { readonly at: number; readonly facts: Promise<EngineFacts> }>();

  const listeners = new Set<(name: string) => void>();
  const found = new Map<string, string>();
  const reported = new Map<string, string>();

  function compare(last: Map<string, string>, name: string, now: string, first: string): void {
    const changed = (last.get(name) ?? first) !== now;
    last.set(name, now);
    if (changed) for (const listener of [...listeners]) listener(name);
  }

  /** The time at which it was told is no news. */
  async function readLimits(engine: Engine): Promise<EngineLimits> {
    const limits = await limitsOf(engine);
    if (limits.status !== 'error')
      compare(
        reported,
        engine.name,
        JSON.stringify([limits.windows ?? [], limits.accountPlan]),
        nothingReported,
      );
    return limits;
  }

  function factsOf(engine: Engine): Promise<EngineFacts> {
    const entry = known.get(engine.name);
    if (entry !== undefined && now() - entry.at < cacheMs) return entry.facts;
    const facts = usable(engine).then((now) => {
      const text = JSON.stringify(now);
      compare(found, engine.name, text, text); // what was not known is not changed
      return now;
    });
    known.set(engine.name, { at: now(), facts });
    return facts;
  }

  async function usable(engine: Engine): Promise<EngineFacts> {
    const facts = await discover(engine);
    const lacking = facts.available ? await options.lacking?.(engine) : undefined;
    return lacking === undefined
      ? facts
      : { ...facts, available: false, reason: lacking.reason, remedy: lacking.remedy };
  }

  async function defaultEngine(): Promise<string | null> {
    if (options.default !== undefined && options.default !== null) return options.default;
    for (const engine of inOrder([...engines.values()]))
      if ((await factsOf(engine)).available) return engine.name;
    return null;
  }

  return {
    get: (name) => engines.get(name),
    settingsNames: () => [
      ...new Set([
        ...allSettingsNames,
        ...[...engines.values()].flatMap((engine) => engine.settingsNames ?? []),
      ]),
    ],
    defaultEngine,
    refresh: () => known.clear(),
    async hear(name) {
      const engine = engines.get(name);
      if (engine?.limits !== undefined) await readLimits(engine);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    async select(engineName, model, effort) {
      const name = engineName ?? (await defaultEngine());
      const names = [...engines.keys()];
      if (name === null)
        return refuse(
          'UNKNOWN_ENGINE',
          { known: names },
          `No engine is available here (known: ${list(names)}). GET /api/engines shows what each one lacks.`,
        );
      const engine = engines.get(name);
      if (engine === undefined)
        return refuse(
          'UNKNOWN_ENGINE',
          { engine: name, known: names },
          `unknown engine "${name}" (known: ${list(names)})`,
        );
      const facts = await factsOf(engine);
      const chosen = chooseModel(name, facts, model ?? null);
      if (isRefusal(chosen)) return chosen;
      const refusal = checkEffort(name, facts, chosen.model, effort ?? null);
      if (refusal !== undefined) return refusal;
      return {
        engine: name,
        model: chosen.model,
        effort: effort ?? null,
        ...(facts.available ? {} : { unavailable: { reason: unavailableReason(name, facts) } }),
      };
    },
    async list() {
      const records = await Promise.all(
        [...engines.values()].map(
          async (engine) => [engine.name, await record(engine, await factsOf(engine))] as const,
        ),
      );
      return { default: await defaultEngine(), engines: Object.fromEntries(records) };
    },
    async readTranscript(name, nativeId, cwd) {
      const engine = engines.get(name);
      return engine?.readTranscript === undefined ? undefined : engine.readTranscript(nativeId, cwd);
    },
    async eraseTranscripts(engineSessions, cwd) {
      for (const [name, { id }] of Object.entries(engineSessions))
        await engines.get(name)?.eraseTranscript?.(id, cwd);
    },
    async limits(name) {
      const asked = name === undefined ? [...engines.keys()] : [name];
      const records = await Promise.all(
        asked.map(async (one): Promise<[string, LimitsRecord]> => {
          const engine = engines.get(one);
          if (engine === undefined)
            return [
              one,
              {
                name: one,
                available: false,
                status: 'unsupported',
                source: 'registry',
                defaultModel: null,
                models: [],
                unsupportedReason: 'Unknown engine.',
              },
            ];
          const { available, defaultModel, models, reason } = await factsOf(engine);
          const limits = available
            ? await readLimits(engine)
            : limitsFault(reason ?? 'It is not available here.');
          return [one, { name: one, available, defaultModel, models, ...limits }];
        }),
      );
      return { default: await defaultEngine(), engines: Object.fromEntries(records) };
    },
  };
}

/**
 * In the order in which they were given, but the clerk last: it has no model and serves where nothing else
 * does.
 */
function inOrder(engines: readonly Engine[]): readonly Engine[] {
  return [
    ...engines.filter(({ name }) => name !== 'clerk'),
    ...engines.filter(({ name }) => name === 'clerk'),
  ];
}

/** An engine that throws, lies or takes too long is unavailable, with that as its reason. */
async function discover(engine: Engine): Promise<EngineFacts> {
  const none = (reason: string): EngineFacts => ({
    available: false,
    reason,
    defaultModel: null,
    models: [],
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<EngineFacts>((resolve) => {
    timer = setTimeout(
      () => resolve(none(`Detecting it took longer than ${discoveryMsMax / 1000} s.`)),
      discoveryMsMax,
    );
  });
  try {
    return await Promise.race([engine.discover(), late]);
  } catch (error) {
    return none(`Detecting it failed: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    clearTimeout(timer);
  }
}

function chooseModel(
  name: string,
  facts: EngineFacts,
  model: string | null,
): { readonly model: string | null } | Refusal {
  if (model === null) return { model: facts.defaultModel };
  const ids = facts.models.map(({ id }) => id);
  // what an absent program would offer is not known, so its models cannot be refused: the session says why it
  // cannot run
  if (ids.includes(model) || (!facts.available && ids.length === 0)) return { model };
  return refuse(
    'UNKNOWN_MODEL',
    { engine: name, model, known: ids },
    `unknown model "${model}" for engine "${name}" (known: ${list(ids)})`,
  );
}

function checkEffort(
  name: string,
  facts: EngineFacts,
  model: string | null,
  effort: string | null,
): Refusal | undefined {
  if (effort === null || (!facts.available && facts.models.length === 0)) return undefined;
  const levels = facts.models.find(({ id }) => id === model)?.effortLevels ?? [];
  if (levels.includes(effort)) return undefined;
  const message =
    levels.length === 0
      ? `engine "${name}"${model === null ? '' : ` model "${model}"`} does not support effort levels`
      : `unknown effort "${effort}" for engine "${name}" model "${model}" (known: ${list(levels)})`;
  return refuse('UNKNOWN_EFFORT', { engine: name, model, effort, known: levels }, message);
}

const list = (words: readonly string[]): string => (words.length === 0 ? 'none' : words.join(', '));

function unavailableReason(name: string, facts: EngineFacts): string {
  return [`Engine "${name}" is not available.`, facts.reason, facts.remedy && `To fix it: ${facts.remedy}`]
    .filter((part) => part !== undefined)
    .join(' ');
}

async function record(engine: Engine, facts: EngineFacts): Promise<EngineRecord> {
  const access = facts.available ? await engine.access?.().catch(() => undefined) : undefined;
  return {
    name: engine.name,
    available: facts.available,
    defaultModel: facts.defaultModel,
    effortMechanism: engine.effortMechanism,
    models: facts.models,
    ...(facts.version === undefined ? {} : { version: facts.version }),
    ...(facts.reason === undefined ? {} : { reason: facts.reason }),
    ...(facts.remedy === undefined ? {} : { remedy: facts.remedy }),
    ...(access === undefined ? {} : { access }),
  };
}
