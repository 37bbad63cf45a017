import { randomUUID } from 'node:crypto';
import { openSandbox, type TurnSandbox } from '../../actors/session/turn-sandbox.js';
import type {
  Engine,
  McpEndpoint,
  TurnIO,
  TurnMessage,
  TurnRequest,
  TurnResult,
} from '../../actors/engines/engine.js';
import type { TurnReport } from '../../actors/engines/turn-events.js';
import { processTable, startChild } from '../../actors/engines/process.js';

/**
 * Plays single turns of an engine with real child processes, as the gateway would, and tells what became of
 * them.
 */
export interface TurnWish {
  readonly prompt: string;
  readonly nativeId?: string | null;
  readonly isResumed?: boolean;
  readonly transcript?: readonly TurnMessage[];
  readonly model?: string;
  readonly effort?: string;
  readonly images?: TurnRequest['images'];
  readonly mcp?: McpEndpoint;
  /** Called with the first text; what it does to the turn is the case. */
  readonly onText?: (turn: RunningTurn) => void;
  readonly permission?: TurnIO['permission'];
  readonly deadlineMs?: number;
  /** What became of the project's settings. */
  readonly project?: TurnRequest['project'];
  /** Absent: nothing is confined. */
  readonly sandbox?: TurnSandbox;
}

export interface RunningTurn {
  abort(): void;
  readonly pids: readonly number[];
}

export interface PlayedTurn extends TurnResult {
  readonly nativeId: string | null;
  readonly reports: readonly TurnReport[];
  /** Every command line that was used. */
  readonly argv: readonly (readonly string[])[];
  /** Living processes that it left behind. */
  readonly left: number;
  readonly ms: number;
}

/** `const turn = await playTurn(claudeEngine(), cwd, {}, {prompt: 'hello'})` */
export async function playTurn(
  engine: Engine,
  cwd: string,
  env: Readonly<Record<string, string>>,
  wish: TurnWish,
): Promise<PlayedTurn> {
  const controller = new AbortController();
  const spawnId = randomUUID();
  const reports: TurnReport[] = [];
  const argv: (readonly string[])[] = [];
  const pids: number[] = [];
  let nativeId = wish.nativeId ?? null;
  let heard = false;
  const place = { employee: null, cwd, nativeId };
  const confined =
    wish.sandbox &&
    (await openSandbox(wish.sandbox, place, {
      sessionId: 'bench',
      engine,
      gatewayUrl: undefined,
      files: [],
    }));
  const io: TurnIO = {
    signal: controller.signal,
    async spawn(command, args, options) {
      argv.push([command, ...args]);
      const plain = { program: command, args, cwd: options.cwd, env: { ...env, ...options.env } };
      const started = (await confined?.confine(plain)) ?? plain;
      const child = await startChild(started.program, started.args, {
        ...options,
        cwd: started.cwd,
        env: started.env,
        spawnId: `${spawnId}.${argv.length}`,
        tokenHash: null,
        note: () => Promise.resolve(),
        signal: controller.signal,
        silence: 'report',
      });
      pids.push(child.pid);
      return child;
    },
    report(report) {
      reports.push(report);
      if (report.type === 'conversation.named') nativeId = report.nativeId;
      if (report.type !== 'text' || heard) return;
      heard = true;
      wish.onText?.({ abort: () => controller.abort(), pids });
    },
    permission: wish.permission ?? (() => Promise.reject(new Error('nobody there'))),
  };
  const began = performance.now();
  const result = await engine.turn(
    {
      sessionId: 'bench',
      turnId: 'bench:1',
      prompt: wish.prompt,
      transcript: wish.transcript ?? [],
      nativeId: wish.nativeId ?? null,
      model: wish.model ?? null,
      effort: wish.effort ?? null,
      cwd,
      env: { SVC_SESSION_ID: 'bench' },
      deadlineMs: wish.deadlineMs ?? 60_000,
      silenceMs: 60_000,
      ...(wish.isResumed === undefined ? {} : { isResumed: wish.isResumed }),
      ...(wish.images === undefined ? {} : { images: wish.images }),
      ...(wish.mcp === undefined ? {} : { mcp: wish.mcp }),
      ...(wish.project === undefined ? {} : { project: wish.project }),
    },
    io,
  );
  const left = (await processTable().marked(spawnId)).length;
  return { ...result, nativeId, reports, argv, left, ms: Math.round(performance.now() - began) };
}
