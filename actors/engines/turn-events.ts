import type { Json } from '../../machines/outputs.js';
import type { ToolUse } from '../../machines/session/tool-rule.js';
import { firstBytes } from './process/output.js';

/**
 * All that passes between a turn and the gateway, in both directions: events out, commands in, and nothing
 * else. Both are plain JSON, so that a turn may run in another process or on another machine, and a script may
 * stand in for either side.
 */

/** What an engine tells of its work. What it tells is bounded, see `boundedReport`. */
export type TurnReport =
  /** A piece of the answer. */
  | { readonly type: 'text'; readonly text: string }
  /** A piece of what it thinks before it answers. */
  | { readonly type: 'thinking'; readonly text: string }
  /** `toolId` is the engine's own and may come again once the call has finished; `input` is text, often JSON. */
  | {
      readonly type: 'tool.started';
      readonly toolId: string;
      readonly tool: string;
      readonly title?: string;
      readonly input: string;
    }
  /** `output` is text, as the model reads it; how its program ended and how long it took, where the engine says. */
  | {
      readonly type: 'tool.finished';
      readonly toolId: string;
      readonly output: string;
      readonly isError: boolean;
      readonly exitCode?: number;
      readonly durationMs?: number;
    }
  /** `diff` as the engine shows it. */
  | {
      readonly type: 'file.changed';
      readonly path: string;
      readonly change: 'added' | 'changed' | 'deleted';
      readonly diff?: string;
    }
  /** What the turn has used so far. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** A sentence for the one who watches: a retry, a wait, something that could not be done. */
  | { readonly type: 'notice'; readonly text: string }
  /** The engine's own name of the conversation, by which the next turn resumes it. */
  | { readonly type: 'conversation.named'; readonly nativeId: string };

/** An event of a turn: what its engine tells, and what the machinery around the engine adds. */
export type TurnEvent = {
  /** From 1, without gaps. */
  readonly seq: number;
} & (
  | TurnReport
  /** Waits for the command `decide` of the same id. */
  | {
      readonly type: 'permission.asked';
      readonly permissionId: string;
      readonly tool: string;
      readonly title: string;
      readonly input: Json;
      readonly uses?: ToolUse;
      /** In a turn whose events come again: it was answered when it came first. */
      readonly isDecided?: true;
    }
  /** How a process is found again after a crash. Acknowledged before it is started. */
  | { readonly type: 'process.noted'; readonly note: Json }
  /** The last one. `unconfirmedPid`: a process that could not be confirmed gone. */
  | { readonly type: 'turn.ended'; readonly result: TurnResult; readonly unconfirmedPid?: number }
);

export type TurnEventOf<Type extends TurnEvent['type']> = Extract<TurnEvent, { readonly type: Type }>;

export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cachedTokens?: number;
  readonly costUsd?: number;
  /** In the conversation after the last request: the counts above are of all requests of the turn. */
  readonly contextTokens?: number;
  /** How many tokens fit into a conversation with its model. */
  readonly contextWindow?: number;
}

/** How full a conversation is. */
export type ContextUse = Pick<Usage, 'contextTokens' | 'contextWindow'>;

/** How a turn ended. */
export interface TurnResult {
  /** How the turn ended. */
  readonly outcome: 'succeeded' | 'failed' | 'interrupted' | 'rate-limited';
  /** The final message. */
  readonly text: string;
  /** Tokens and cost, as far as the engine knows them. */
  readonly usage?: Usage;
  /** A sentence for a person when the turn failed. */
  readonly error?: string;
  /** Epoch ms, with `rate-limited`. */
  readonly resetAt?: number;
}

/** What a turn is told while it runs. */
export type TurnCommand =
  /** End it: its engine is asked, then signalled. */
  | { readonly type: 'interrupt' }
  | {
      readonly type: 'decide';
      readonly permissionId: string;
      readonly decision: 'allow' | 'deny';
      /** For the agent, with `deny`. */
      readonly message?: string;
    }
  /** The event of that number is stored; with `fault` it could not be. */
  | { readonly type: 'acknowledge'; readonly seq: number; readonly fault?: string };

const isDuration = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;

/**
 * What the engine tells, cut to what may pass; undefined for what is none: engines are other people's code.
 * Redacted first: of a key that a cut goes through, the beginning would stay.
 */
export function boundedReport(given: TurnReport, redact: Redact): TurnReport | undefined {
  const cut = (value: unknown, bytesMax: number): string =>
    firstBytes(typeof value === 'string' ? redact(value) : '', bytesMax);
  switch (given?.type) {
    case 'text':
    case 'thinking':
    case 'notice':
      return typeof given.text === 'string'
        ? { type: given.type, text: cut(given.text, limits.textBytesMax) }
        : undefined;
    case 'tool.started':
      return {
        type: given.type,
        toolId: cut(given.toolId, limits.nameBytesMax),
        tool: cut(given.tool, limits.nameBytesMax),
        ...(given.title === undefined ? {} : { title: cut(given.title, limits.titleBytesMax) }),
        input: cut(given.input, limits.inputBytesMax),
      };
    case 'tool.finished':
      return {
        type: given.type,
        toolId: cut(given.toolId, limits.nameBytesMax),
        output: cut(given.output, limits.textBytesMax),
        isError: given.isError === true,
        ...(Number.isSafeInteger(given.exitCode) && { exitCode: given.exitCode }),
        ...(isDuration(given.durationMs) && { durationMs: Math.round(given.durationMs) }),
      };
    case 'file.changed':
      return {
        type: given.type,
        path: cut(given.path, limits.titleBytesMax),
        change: given.change === 'added' || given.change === 'deleted' ? given.change : 'changed',
        ...(given.diff === undefined ? {} : { diff: cut(given.diff, limits.inputBytesMax) }),
      };
    case 'usage':
      return { type: given.type, usage: finiteUsage(given.usage) };
    case 'conversation.named':
      return { type: given.type, nativeId: cut(given.nativeId, limits.nameBytesMax) };
    default:
      return undefined;
  }
}

/** What an engine asks for, cut likewise. */
export const boundedQuestion = (
  { tool, title, input }: PermissionQuestion,
  redact: Redact,
): PermissionQuestion => ({
  tool: firstBytes(redact(String(tool)), limits.nameBytesMax),
  title: firstBytes(redact(String(title)), limits.titleBytesMax),
  input: redact(input ?? null),
});

/** Takes out what must not be stored. */
export type Redact = <Value>(value: Value) => Value;

type PermissionQuestion = Pick<TurnEventOf<'permission.asked'>, 'tool' | 'title' | 'input'>;

const limits = {
  textBytesMax: 1024 * 1024,
  inputBytesMax: 64 * 1024,
  titleBytesMax: 4 * 1024,
  nameBytesMax: 200,
} as const;

/** Only finite numbers: a NaN would be stored as null and poison every sum. */
export function finiteUsage(usage: Usage): Usage {
  const { inputTokens, outputTokens, cachedTokens, costUsd, contextTokens, contextWindow } = usage ?? {};
  return Object.fromEntries(
    Object.entries({ inputTokens, outputTokens, cachedTokens, costUsd, contextTokens, contextWindow }).filter(
      ([, value]) => Number.isFinite(value),
    ),
  );
}
