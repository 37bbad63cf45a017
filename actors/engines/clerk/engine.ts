import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { defineEngine, type Engine } from '../engine.js';
import { turnResult } from '../turn-result.js';

/**
 * The clerk: an agent without a model, shipped with the package. A small program that runs as a child process
 * like any other agent, understands the handful of instructions in `instructions.ts`, and does them through
 * the gateway's own API with its session's token. It costs nothing and it never pretends to understand more.
 */
export interface ClerkOptions {
  /** Where the gateway is; undefined while there is none. */
  readonly gatewayUrl: () => string | undefined;
}

const program = fileURLToPath(new URL('./main.js', import.meta.url));

/**
 * The built-in engine without a model: it keeps the board by simple words. A turn that the gateway refuses
 * fails with the refusal's sentence; nothing throws.
 * @example const clerk = clerkEngine({ gatewayUrl: () => gateway.url });
 */
export function clerkEngine({ gatewayUrl }: ClerkOptions): Engine {
  return defineEngine({
    name: 'clerk',
    effortMechanism: 'none',
    async discover() {
      const facts = { defaultModel: null, models: [], executable: program };
      const isHere = await stat(program).then(
        (found) => found.isFile(),
        () => false,
      );
      if (!isHere)
        return {
          ...facts,
          available: false,
          reason: "The clerk's program is missing.",
          remedy: 'Install the package again, or build it.',
        };
      if (gatewayUrl() !== undefined) return { ...facts, available: true };
      return {
        ...facts,
        available: false,
        reason: "The clerk works through the gateway's API, and there is no gateway here.",
        remedy: 'Start a gateway beside the supervisor, or use another engine.',
      };
    },
    async turn(request, io) {
      const child = await io.spawn(process.execPath, [program], {
        cwd: request.cwd,
        env: request.env,
        stdin: request.prompt,
        silenceMs: request.silenceMs,
        deadlineMs: request.deadlineMs,
        onStdout: (text) => io.report({ type: 'text', text }),
      });
      return turnResult(await child.done, { program: 'clerk', deadlineMs: request.deadlineMs });
    },
  });
}
