import type { Json } from '../../../machines/outputs.js';
import type { ChildProcessHandle, SpawnChildOptions, TurnIO, TurnRequest } from '../engine.js';

/**
 * An agent program that speaks JSON in lines over stdin and stdout: whole lines in, whole lines out, bounded.
 * What is no JSON object (a banner, half a line at the end, invalid bytes) is counted, never obeyed and never
 * thrown.
 */
export interface LineChild {
  send(message: Json): void;
  /** No more will be said; a program that is done exits then. After `lingerMs` it is ended. */
  finish(): void;
  /** End it now. */
  stop(): void;
  readonly done: ChildProcessHandle['done'];
}

export interface LineChildOptions {
  readonly request: Pick<TurnRequest, 'cwd' | 'silenceMs' | 'deadlineMs'>;
  readonly env: Readonly<Record<string, string>>;
  readonly onMessage: (message: JsonObject, child: LineChild) => void;
  /** All that it is told, where it is told once; its stdin ends there. */
  readonly stdin?: string;
  /** How the turn's abort reaches the agent before signals do. */
  readonly interrupt?: (child: LineChild) => void;
}

export type JsonObject = { readonly [member: string]: Json };

/** An agent that was asked to stop, or that has nothing more to do, gets so long before it is signalled. */
const graceMs = 3_000;
const lineCharactersMax = 8 * 1024 * 1024;

/** `const child = await startLines('claude', ['-p'], {…}, io); child.send({type: 'user', …})` */
export async function startLines(
  command: string,
  args: readonly string[],
  options: LineChildOptions,
  io: TurnIO,
): Promise<LineChild> {
  let handle: ChildProcessHandle | undefined;
  let linger: NodeJS.Timeout | undefined;
  const early: string[] = [];
  const child = (): LineChild => ({
    send: (message) => handle?.write(`${JSON.stringify(message)}\n`),
    finish() {
      if (handle === undefined || linger !== undefined) return;
      handle.end();
      linger = setTimeout(() => handle?.stop(), graceMs);
    },
    stop: () => handle?.stop(),
    done: handle?.done ?? Promise.reject(new Error('not started')),
  });
  const take = (line: string): void => {
    const message = objectOf(line);
    if (message !== undefined && self !== undefined) options.onMessage(message, self);
  };
  let self: LineChild | undefined;
  const lines = splitLines((line) => (self === undefined ? early.push(line) : take(line)));
  const { interrupt } = options;
  handle = await io.spawn(command, args, {
    cwd: options.request.cwd,
    env: options.env,
    silenceMs: options.request.silenceMs,
    deadlineMs: options.request.deadlineMs,
    outputBytesMax: 64 * 1024,
    floodBytesMax: 64 * 1024 * 1024,
    onStdout: lines,
    ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
    ...(interrupt === undefined
      ? {}
      : { interrupt: { graceMs, ask: () => void (self !== undefined && interrupt(self)) } }),
  } satisfies SpawnChildOptions);
  void handle.done.catch(() => undefined).then(() => clearTimeout(linger));
  self = child();
  for (const line of early.splice(0)) take(line);
  return self;
}

/** Pieces in, lines out; a line that never ends is a fault of the program. */
export function splitLines(
  onLine: (line: string) => void,
  charactersMax = lineCharactersMax,
): (piece: string) => void {
  let rest: string[] = [];
  let length = 0;
  return (piece) => {
    const parts = piece.split('\n');
    const last = parts.pop() ?? '';
    for (const part of parts) {
      const line = rest.length === 0 ? part : rest.join('') + part;
      rest = [];
      length = 0;
      if (line.trim() !== '') onLine(line);
    }
    if (last === '') return;
    rest.push(last);
    length += last.length;
    if (length <= charactersMax) return;
    rest = [];
    length = 0;
    throw new Error('The agent wrote a line that does not end.');
  };
}

function objectOf(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What came over a wire is read member by member; nothing of its shape is believed. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const objectAt = (value: unknown, member: string): JsonObject =>
  isObject(value) && isObject(value[member]) ? value[member] : {};
export const textAt = (value: unknown, member: string): string | undefined =>
  isObject(value) && typeof value[member] === 'string' ? value[member] : undefined;
export const numberAt = (value: unknown, member: string): number | undefined =>
  isObject(value) && typeof value[member] === 'number' && Number.isFinite(value[member])
    ? value[member]
    : undefined;
export const listAt = (value: unknown, member: string): readonly Json[] =>
  isObject(value) && Array.isArray(value[member]) ? (value[member] as readonly Json[]) : [];
