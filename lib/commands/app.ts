import type { Quotas, ToolChoice, ToolChoices } from '../home/agent-settings.js';
import type { NotifySettings } from '../home/notify-settings.js';
import type { HomeSandbox } from '../home/sandbox.js';
import type { Connectors } from '../../actors/connectors/registry.js';
import type { LiveWords } from '../../actors/session/live-words.js';
import type { TranscriptEntry } from '../../actors/engines/engine.js';
import type { Evidence } from '../records/evidence/evidence.js';
import type { HeldCopy } from '../home/held-copies.js';
import type { Records } from '../records/records.js';
import type { KindNamed } from '../../actors/inference.js';
import type { GatewayKinds } from '../../actors/gateway-kinds.js';
import type { ActorViewOf, Supervisor, TransactionContext } from '../supervisor/contract.js';
import { nearest } from '../../machines/text.js';
import { refuse, type Refusal } from '../../machines/refusals.js';
import type { HomeWorkers } from '../worker/home-workers.js';

/** An actor of a kind that every gateway runs: `GatewayActor<'session'>`. */
export type GatewayActor<Name extends string> = ActorViewOf<KindNamed<GatewayKinds, Name>>;

/** What the callback of its `transact` reads and steps. */
export type GatewayTransaction = TransactionContext<GatewayKinds>;

/**
 * What there is before the supervisor, and that effects join with theirs: `{...parts, supervisor:
 * context.supervisor}`.
 */
export type AppParts = Omit<App, 'supervisor'>;

/**
 * What a command may reach: the supervisor, the engines, the roster and a few settings.
 */
export interface App {
  /** Runs the built-in kinds and those of the host. */
  readonly supervisor: Supervisor<GatewayKinds>;
  /** Who can answer sessions. */
  readonly engines: Engines;
  /** What of config.yaml commands must know; as of now. */
  readonly settings: Settings;
  /** The people. Absent: names of employees are not checked. Empty: no one is known. */
  readonly roster?: () => Roster | undefined;
  /**
   * What people and agents keep as files: roster, skills, knowledge, uploads. Absent: there is no home with
   * such files.
   */
  readonly records?: Records;
  /** Absent: none can be configured. */
  readonly connectors?: Connectors;
  /** Starts runs of definitions that wait for work items; polled when a definition was written. */
  readonly subscribers?: Follower;
  /** Opens reviews that are due; polled when a work item names a verifier. */
  readonly reviews?: Follower;
  /** Hands what waits for people to the notifiers; polled when the configuration changed. */
  readonly notifications?: Follower;
  /** A key of 43 characters that only this gateway can make, always the same for the same label. */
  readonly keyFor?: (label: string) => string;
  /** Takes the operator's secrets out of what agents say. */
  readonly redact?: <Value>(value: Value) => Value;
  /** Confines what is started for agents. Absent: nothing is confined. */
  readonly sandbox?: HomeSandbox;
  /** What is behind the store. Absent: it keeps nothing that was replaced. */
  readonly erasure?: {
    /** What was replaced or deleted leaves the disk. */
    compact(): Promise<void>;
    /** Copies that still hold it. */
    heldBy(): Promise<readonly HeldCopy[]>;
  };
  /** Where workflows leave their evidence. Absent: this gateway serves no workflows. */
  readonly evidence?: Evidence;
  /** Says which tool the request that is being carried out calls, for traces. Absent: there are none. */
  readonly noteTool?: (name: string) => void;
  /** The processes that run turns. Absent: there are none. */
  readonly workers?: HomeWorkers;
  /** What running turns have said so far. Absent: that is not known. */
  readonly words?: Pick<LiveWords, 'of'>;
  /** How many get a process slot before this session, plus one; undefined where it does not wait for one. */
  readonly placeInQueue?: (sessionId: string) => number | undefined;
}

/** Reads the log for as long as there is a reason to. */
export interface Follower {
  /** Is there a reason? Then begin to read, or go on. */
  poll(app: App): Promise<void>;
  /** Stop reading, for good. */
  close(): void;
}

/** What a command needs of the engine registry. */
export interface Engines {
  /**
   * The exact engine, model and effort to use, or why the request names none. An engine that is not installed is
   * still a selection.
   */
  select(engine?: string | null, model?: string | null, effort?: string | null): Promise<Selection | Refusal>;
  /** Where projects keep settings for any of them. Absent: where any known agent keeps them. */
  settingsNames?(): readonly string[];
  /** The provider's own record of a conversation; undefined where the engine reads none. */
  readTranscript?(
    engine: string,
    nativeId: string,
    cwd: string,
  ): Promise<readonly TranscriptEntry[] | undefined>;
  /** Removes what engines keep of conversations on this machine, by engine. */
  eraseTranscripts?(
    engineSessions: Readonly<Record<string, { readonly id: string }>>,
    cwd: string,
  ): Promise<void>;
  /** What is known of the providers' limits, of all `engines` by name or of one, and which is the `default`. */
  limits(
    name?: string,
  ): Promise<{ readonly default: string | null; readonly engines: Readonly<Record<string, object>> }>;
  /** The public list: `engines` by name, and which is the `default`. */
  list(): Promise<{
    readonly default: string | null;
    readonly engines: Readonly<Record<string, EngineListing>>;
  }>;
  /** Forget what was discovered; the next question looks again. */
  refresh(): void;
}

export interface Selection {
  readonly engine: string;
  readonly model: string | null;
  readonly effort: string | null;
  /** Set when the engine cannot run here: the reason and the command that would repair it. */
  readonly unavailable?: { readonly reason: string };
}

export interface EngineListing {
  readonly name: string;
  readonly available: boolean;
  readonly defaultModel: string | null;
  readonly effortMechanism: string;
  readonly models: readonly unknown[];
  readonly reason?: string;
  readonly remedy?: string;
}

/** What of config.yaml commands must know. Times are milliseconds. */
export interface Settings {
  /** The instance's home folder; default working folders lie below it. */
  readonly home: string;
  /** Where sessions work that name no folder, and whether in a git worktree of it. */
  readonly sessionCwd?: string | null | undefined;
  /** Give sessions without a folder of their own a git worktree of `sessionCwd`. Default false. */
  readonly sessionWorktree?: boolean | undefined;
  /** What a turn leaves in no commit of its own worktree is committed on the session's branch. Default: true. */
  readonly commitTurns?: boolean | undefined;
  /** A clean worktree of a session that has rested so long is taken away. Default: never. */
  readonly keepWorktreeDays?: number | undefined;
  /** Results of tools that are so old are dropped but for their beginning. Default: never. */
  readonly keepToolOutputDays?: number | undefined;
  /** Folders in which agents may work when a caller names a `cwd`. */
  readonly sessionRoots: readonly string[];
  /** A message to a session at work interrupts its turn, rather than wait. */
  readonly interruptOnNewMessage: boolean;
  /** A turn that takes longer is ended. */
  readonly turnDeadlineMs: number;
  /** What no one decides escalates by itself after this. Default: a day. */
  readonly escalateAfterMs?: number;
  /** Shown by pages and `GET /api/org`. */
  readonly companyName?: string;
  /** Three letters before the ids of work items. Default: made of the company's name, else `TRP`. */
  readonly companyPrefix?: string;
  /** IANA name of the company's time zone. Absent: pages go by that of the browser, all else by this machine's. */
  readonly timeZone?: string | undefined;
  /** Where what waits for people is sent. Absent: nowhere. */
  readonly notify?: NotifySettings;
  /** Where people reach the console: `https://troupe.example.org`. */
  readonly consoleUrl?: string;
  /** Sockets that may watch at once. Default: 1,024. */
  readonly socketsMax?: number;
  /** How much one agent may begin. Default: `standardQuotas`. */
  readonly agentQuotas?: Quotas;
  /** Which tools agents are offered, by role. Default: the role's own set. */
  readonly agentTools?: ToolChoices;
  /** The same by engine, before what its role says; false: none. */
  readonly engineTools?: Readonly<Record<string, ToolChoice | false>>;
}

export interface Employee {
  readonly name: string;
  readonly displayName?: string;
  readonly department?: string | null;
  readonly rank?: string;
  readonly engine?: string;
  readonly model?: string;
  readonly effortLevel?: string;
  readonly reportsTo?: string | null;
  /** Where this employee's sessions work that name no folder, and whether in a git worktree of it. */
  readonly cwd?: string;
  readonly worktree?: boolean;
  /** The worker on which this employee's sessions run: by its name, or by all of these labels. */
  readonly worker?: { readonly name?: string | undefined; readonly labels?: readonly string[] | undefined };
  /** What this employee's agents may do without permission. Default `ask`. */
  readonly permissions?:
    | ToolMode
    | {
        readonly mode: ToolMode;
        readonly allow?: readonly string[] | undefined;
        /** Whose sessions may open one with these tools, though their own are narrower. */
        readonly lendTo?: 'reports' | 'anyone' | readonly string[] | undefined;
      };
  /** Of the gateway's tools, those in this employee's list. Default: those of its role. */
  readonly tools?: ToolChoice;
}
export type ToolMode = 'ask' | 'allow-list' | 'full';
export interface Roster {
  readonly employees: readonly Employee[];
}

/**
 * The employee of that name; a refusal with the nearest name when no one is called so. Only where no roster
 * is kept at all, names are anybody's.
 */
export function employeeNamed(app: App, name: string | null | undefined): Employee | null | Refusal {
  if (name === null || name === undefined) return null;
  const employees = app.roster?.()?.employees;
  if (employees === undefined) return { name };
  const found = employees.find((employee) => employee.name === name);
  if (found) return found;
  const names = employees.map((employee) => employee.name);
  const near = nearest(name, names);
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  return refuse(
    'UNKNOWN_EMPLOYEE',
    { employee: name, ...(near !== undefined && { suggestion: near }) },
    `unknown employee "${name}".${hint} GET /api/org lists valid employees`,
  );
}

/** In which months of budgets begin, and times of cron jobs are meant that name no zone. */
export const timeZoneOf = ({ timeZone }: Pick<Settings, 'timeZone'>): string =>
  timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
