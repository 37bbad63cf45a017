import { isAbsolute } from 'node:path';
import { commandFacts } from './executable.js';
import { defineEngine, type Engine, type EngineModel, type TurnMessage } from './engine.js';
import { lastBytes } from './process/output.js';
import { turnResult } from './turn-result.js';

/**
 * Any program as an engine: the prompt on stdin, the answer on stdout, exit code 0 for success. Such a
 * program has no memory, so from the second turn on the conversation so far stands before the prompt (see
 * `promptWithTranscript`). What a client sent goes to stdin only, never onto the command line.
 */
export interface CommandEngineOptions {
  /** Exact string in the API: `[a-z][a-z0-9-]*` */
  readonly name: string;
  /**
   * Program and its fixed arguments, as they are: no shell, no substitution. `['ollama', 'run', 'llama3.2']`
   */
  readonly command: readonly [program: string, ...args: readonly string[]];
  /** Further environment variables for the program. */
  readonly env?: Readonly<Record<string, string>>;
  /** How much of the past goes before the prompt. Default 64 KiB; 0 = nothing. */
  readonly transcriptBytesMax?: number;
  /** Bytes of each stream that are kept. Default 1 MiB; ten times as much ends the turn. */
  readonly outputBytesMax?: number;
  /** Shown in GET /api/engines. Default: the program's name. */
  readonly model?: EngineModel;
}

/**
 * A program that answers the prompt given on its standard input. Throws a TypeError for a name that is none;
 * a missing program is what `discover` answers.
 * @example const llama = commandEngine({ name: 'llama', command: ['ollama', 'run', 'llama3.2'] });
 */
export function commandEngine(options: CommandEngineOptions): Engine {
  const {
    name,
    command: [program, ...args],
    env = {},
    transcriptBytesMax = 64 * 1024,
    outputBytesMax,
    model,
  } = options;
  if (typeof program !== 'string' || program === '')
    throw new TypeError(`engine "${name}" needs a command: an array that begins with a program`);
  return defineEngine({
    name,
    effortMechanism: 'none',
    async discover() {
      const facts = await commandFacts(
        program,
        `Install "${program}", or set engines.${name}.command to a program of this machine.`,
      );
      return { ...facts, defaultModel: model?.id ?? null, models: model === undefined ? [] : [model] };
    },
    // scripts that the operator named
    folders: () => Promise.resolve({ reads: args.filter(isAbsolute) }),
    async turn(request, io) {
      const child = await io.spawn(program, args, {
        cwd: request.cwd,
        env: { ...env, ...request.env },
        stdin: promptWithTranscript(request.prompt, request.transcript, transcriptBytesMax),
        silenceMs: request.silenceMs,
        deadlineMs: request.deadlineMs,
        onStdout: (text) => io.report({ type: 'text', text }),
        ...(outputBytesMax === undefined ? {} : { outputBytesMax }),
      });
      return turnResult(await child.done, { program, deadlineMs: request.deadlineMs });
    },
  });
}

/**
 * The text on a program's stdin. Without a past it is the prompt alone; with one:
 *
 *     --- conversation so far, oldest first ---
 *     [user]
 *     What is 2 + 2?
 *
 *     [assistant]
 *     4
 *
 *     --- new message ---
 *     And times 3?
 *
 * The oldest messages are left out when they do not fit, and a line says how many.
 */
export function promptWithTranscript(
  prompt: string,
  transcript: readonly TurnMessage[],
  bytesMax: number,
): string {
  if (transcript.length === 0 || bytesMax <= 0) return prompt;
  const kept: string[] = [];
  let bytes = 0;
  for (const { role, content } of [...transcript].reverse()) {
    const entry = `[${role}]\n${content}\n`;
    const size = Buffer.byteLength(entry);
    if (bytes + size > bytesMax) {
      // the newest one is worth having in part
      if (kept.length === 0) kept.unshift(`[${role}]\n…${lastBytes(content, bytesMax)}\n`);
      break;
    }
    bytes += size;
    kept.unshift(entry);
  }
  const left = transcript.length - kept.length;
  const omitted = left === 0 ? [] : [`(${left} earlier message${left === 1 ? '' : 's'} left out)\n`];
  return [
    '--- conversation so far, oldest first ---',
    ...omitted,
    ...kept,
    '--- new message ---',
    prompt,
  ].join('\n');
}
