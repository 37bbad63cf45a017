import type { Json } from '../../machines/outputs.js';
import type { ToolUse } from '../../machines/session/tool-rule.js';
import type { EngineLimits } from './limits.js';
import type { TurnReport, TurnResult } from './turn-events.js';

export type { TurnResult, Usage } from './turn-events.js';
import type { CommandFolders } from '../sandbox/sandbox.js';

/**
 * The engine port: what an agent program must be able to do to work here. One file per engine, made with
 * `defineEngine`.
 */
export interface Engine {
  /** `claude`, `command` … Exact string in the API. */
  readonly name: string;
  /** How an effort level reaches the agent; `none` when it cannot. */
  readonly effortMechanism: string;
  /** What is here on this machine. Must not throw and must not start a turn; at most 5 s. */
  discover(): Promise<EngineFacts>;
  /** How its program gets in at its provider here: names and places, never values. Absent: it needs no login. */
  access?(): Promise<EngineAccess>;
  /** One turn. Settles when the agent is done and its processes are gone; rejects only on our own faults. */
  turn(request: TurnRequest, io: TurnIO): Promise<TurnResult>;
  /**
   * What its program needs of this machine beside the working folder when it is confined: its settings and
   * logins. May make folders that would be missing. Absent: nothing.
   */
  folders?(request: Pick<TurnRequest, 'sessionId' | 'cwd' | 'nativeId'>): Promise<CommandFolders>;
  /** Hosts that its provider lives at, as `host` or `host:port`; reached at the level `strict`. */
  readonly hosts?: readonly string[];
  /** It shows pictures that come with a message to its model. Absent: the agent is told where they lie. */
  readonly seesImages?: boolean;
  /**
   * Where a project keeps settings for its program that run programs or permit tools: `['.claude', '.mcp.json']`.
   * Absent: nowhere, or the program never uses them here.
   */
  readonly settingsNames?: readonly string[];
  /** It can leave those settings out. Else no turn begins in a folder whose settings no one trusted. */
  readonly leavesOutSettings?: boolean;
  /** It starts no program of its own, so there is nothing to confine. */
  readonly isInProcess?: boolean;
  /**
   * What the provider's own record of a conversation says, oldest first: also what was said in it without us.
   * Absent: it keeps none that can be read. An empty list for one that is not there; must not start a turn;
   * at most 5 s.
   */
  readTranscript?(nativeId: string, cwd: string): Promise<readonly TranscriptEntry[]>;
  /** Removes that record; one that is not there is no fault. Absent: it keeps none that can be removed. */
  eraseTranscript?(nativeId: string, cwd: string): Promise<void>;
  /**
   * What is known of the provider's limits; must not throw and must not spend anything. Absent:
   * `unsupported`.
   */
  limits?(): Promise<EngineLimits>;
}

/** A word of a conversation as the provider has written it down. */
export interface TranscriptEntry {
  /** The provider's own. `[A-Za-z0-9._:-]{1,64}` */
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** Epoch ms. */
  readonly timestamp: number;
}

export interface EngineModel {
  readonly id: string;
  readonly label: string;
  readonly supportsEffort: boolean;
  readonly effortLevels: readonly string[];
  readonly contextWindow?: number;
}

/** What an engine is, whether it is here or not. */
export interface EngineFacts {
  /** The executable was found; says nothing about a provider's login. */
  readonly available: boolean;
  /** Why not, and the command that would repair it. */
  readonly reason?: string;
  /** The command that would repair it. */
  readonly remedy?: string;
  /** As the program says it. */
  readonly version?: string;
  /** The oldest version that was tried with Troupe, where this one is older. */
  readonly olderThan?: string;
  /** Absolute path. */
  readonly executable?: string;
  /** Id of the model of sessions that name none; null where the program chooses. */
  readonly defaultModel: string | null;
  /** What may be chosen; empty where the engine offers no choice. */
  readonly models: readonly EngineModel[];
}

/** What was found of an engine's way in, by looking at files and names of variables alone. */
export interface EngineAccess {
  /** `unknown`: it may be logged in where no file shows it. */
  readonly state: 'ready' | 'missing' | 'unknown';
  /** `login in ~/.claude/.credentials.json`, `key from MODEL_KEY`, or what is missing. */
  readonly what: string;
  /** What a person does about it. */
  readonly remedy?: string;
  /** Variables with keys that the gateway has and does not pass on to it. */
  readonly notPassed: readonly string[];
  /** Variables that the settings name and the gateway does not have. */
  readonly absent: readonly string[];
}

export interface TurnMessage {
  readonly role: 'user' | 'assistant' | 'notification';
  readonly content: string;
}

/** One turn, as an engine is asked for it. */
export interface TurnRequest {
  /** Id of the session, for the engine's own logs. */
  readonly sessionId: string;
  /** Names the turn; its answer is stored under it. */
  readonly turnId: string;
  /** What the agent is asked now. */
  readonly prompt: string;
  /**
   * It goes on with a turn that was cut off, and `prompt` says nothing new: an engine that finds that turn's work where
   * it left it needs only wait for its end. Default: false.
   */
  readonly isResumed?: boolean;
  /** Earlier messages, oldest first, for engines that cannot resume. */
  readonly transcript: readonly TurnMessage[];
  /** The engine's own session id from an earlier turn. */
  readonly nativeId: string | null;
  /** Chosen by the session; null: the engine's default. */
  readonly model: string | null;
  /** Chosen by the session; null: the model's default. */
  readonly effort: string | null;
  /** Exists. Fixed for the session's life. */
  readonly cwd: string;
  /** Files that came with the messages: they may be read wherever they lie. Default: none. */
  readonly files?: readonly string[];
  /** Pictures that came with the messages, for engines with `seesImages`; bounded. Default: none. */
  readonly images?: readonly TurnImage[];
  /** Gateway address, session token and ids for the child (SVC_…); already free of operator secrets. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * What the project sets beyond words (`settingsNames`): nothing; as a person trusted it; or as no one did, and then
   * none of it may take effect. Absent: nothing is known of it, as `untrusted`.
   */
  readonly project?: 'plain' | 'trusted' | 'untrusted';
  /** The whole turn, and how long the agent may stay silent. */
  readonly deadlineMs: number;
  /** Milliseconds without a word after which the turn is ended. */
  readonly silenceMs: number;
  /** The gateway's typed tools over MCP (streamable HTTP), with the session's own token as bearer. */
  readonly mcp?: McpEndpoint;
}

/** What watchers are told where an agent cannot be shown what came with a message. */
export const imagesUnseen = 'This agent cannot be shown pictures; its prompt says where the files are.';

/** A picture as models take it. */
export interface TurnImage {
  readonly name: string;
  /** What its bytes say, whatever it is called. */
  readonly mimeType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  /** Base64. */
  readonly data: string;
}

export interface McpEndpoint {
  readonly url: string;
  /** The same as `SVC_GATEWAY_TOKEN` in `env`. Never onto a command line. */
  readonly token: string;
}

/** An agent asks before it uses a tool. */
export interface PermissionRequest {
  /** The engine's own name of the tool: `Bash`, `commandExecution` … */
  readonly tool: string;
  /** A line for a person. */
  readonly title: string;
  readonly input: Json;
  /**
   * What it would do, in the words of permission rules, with paths as the agent gave them. Absent: rules know it by
   * the tool's name alone.
   */
  readonly uses?: ToolUse;
}

export type PermissionAnswer = { readonly allow: true } | { readonly allow: false; readonly message: string };

/** What an engine may do during a turn: start its program, tell what happens, ask for permission. */
export interface TurnIO {
  /** Aborts when the turn is interrupted or stopped. */
  readonly signal: AbortSignal;
  /** Start a child in its own process group, with the durable spawn intent written first. */
  spawn(command: string, args: readonly string[], options: SpawnChildOptions): Promise<ChildProcessHandle>;
  /**
   * Tell what the agent does, as it does it: what it says is streamed, what it uses and changes becomes part of
   * the conversation. Never throws.
   *
   * @example const greet = (io: TurnIO) => io.report({ type: 'text', text: 'Hello' });
   */
  report(report: TurnReport): void;
  /** Answers an agent that asks whether it may use a tool. Never rejects. */
  permission(request: PermissionRequest): Promise<PermissionAnswer>;
}

export interface SpawnChildOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /**
   * Bytes of stdout and stderr kept each; the rest is counted, the child is killed beyond ten times as much.
   * Default 1 MiB.
   */
  readonly outputBytesMax?: number;
  /** Bytes after which the child is killed as a flood, when ten times what is kept is not the right bound. */
  readonly floodBytesMax?: number;
  readonly onStdout?: (chunk: string) => void;
  /**
   * How to ask the agent itself to stop when the turn is aborted, and how long it may take before signals
   * follow.
   */
  readonly interrupt?: { readonly ask: () => void; readonly graceMs: number };
  /** No output for this long: `silent` in the result. */
  readonly silenceMs: number;
  readonly deadlineMs: number;
}

export interface ChildProcessHandle {
  readonly pid: number;
  write(text: string): void;
  end(): void;
  /**
   * End the group now, whatever it does; `ended` is then `interrupted`. For agents that stay after their work
   * is done.
   */
  stop(): void;
  /** Resolves when the whole group is confirmed gone. */
  readonly done: Promise<ChildResult>;
}

export interface ChildResult {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  /** Why we ended it, if we did. */
  readonly ended: 'interrupted' | 'deadline' | 'silence' | 'flood' | 'processes' | null;
}

/**
 * An engine of your own; checks its shape at definition. Throws a TypeError that names what is wrong.
 * @example
 *   const echo = defineEngine({
 *     name: 'echo',
 *     effortMechanism: 'none',
 *     discover: async () => ({ available: true, defaultModel: null, models: [] }),
 *     turn: async ({ prompt }) => ({ outcome: 'succeeded', text: prompt }),
 *   });
 */
export function defineEngine(engine: Engine): Engine {
  if (!/^[a-z][a-z0-9-]*$/.test(engine.name))
    throw new TypeError(`engine name "${engine.name}" must match [a-z][a-z0-9-]*`);
  for (const member of ['discover', 'turn'] as const) {
    if (typeof engine[member] !== 'function')
      throw new TypeError(`engine "${engine.name}" lacks ${member}()`);
  }
  return engine;
}
