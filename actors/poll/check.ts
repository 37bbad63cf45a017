import { asJson } from '../../machines/outputs.js';
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Checked } from '../../machines/poll/context.js';
import type { CheckInput } from '../../machines/poll/machine.js';
import type { Json } from '../../machines/outputs.js';
import { deeperThan, jsonDepthMax } from '../../machines/text.js';
import type { AtMostOnceEffect, EffectContext } from '../contracts.js';
import type { ChildResult } from '../engines/engine.js';
import { createPool } from '../engines/pool.js';
import { ChildProcessError, reap, startChild, type Graces } from '../engines/process.js';
import type { Command, Confined } from '../sandbox/sandbox.js';
import { measured, outputBytes } from './contract.js';

/**
 * The effect of one look: runs exactly the program that was approved and reads what it prints. `{"fire": true,
 * "payload": {…}, "fireRef": "…"}` on its standard output is an occurrence, anything else is none. Fenced: a
 * look that died with its gateway is over, its program is ended, and the next look comes after the usual
 * pause.
 */
export function pollCheckEffect(options: {
  readonly folder: string;
  /** Programs at once; the others wait in line. Default 4. */ readonly atOnceMax?: number;
  readonly graces?: Graces;
  /** What is started in place of the program. Absent: the program itself. */
  readonly confine?: (command: Command) => Promise<Confined>;
}): AtMostOnceEffect<CheckInput, Checked> {
  const pool = createPool({ maxProcesses: options.atOnceMax ?? 4 });
  const graces = options.graces === undefined ? {} : { graces: options.graces };
  return {
    guarantee: 'at-most-once',
    async run(input, context) {
      const slot = await pool.take({
        sessionId: input.name,
        rootId: input.name,
        engine: 'poll',
        signal: context.signal,
      });
      try {
        const now = await measured(input.contract);
        if (now.contractHash !== input.contractHash)
          return {
            outcome: 'revoked',
            reason: 'A file of the contract has changed since it was approved.',
            measured: now,
          };
        return judged(await played(input, context), input);
      } catch (error) {
        if (error instanceof ChildProcessError && error.code === 'NOT_ENDED')
          return stillThere(input, error.message);
        return { outcome: 'error', reason: error instanceof Error ? error.message : String(error) };
      } finally {
        slot.release();
      }
    },
    async recover(input, note) {
      // its place is taken until it is gone, also when the binding is not there any more and its name begins
      // again
      const slot = await pool.take({
        sessionId: input.name,
        rootId: input.name,
        engine: 'poll',
        signal: new AbortController().signal,
      });
      const reaped = await reap(note, graces).finally(() => slot.release());
      if (reaped.gone) return { outcome: 'error', reason: 'The gateway ended while the program ran.' };
      const where = reaped.machine === undefined ? '' : ` on machine ${reaped.machine}`;
      return stillThere(
        input,
        `The gateway ended while the program ran; process ${reaped.pid}${where} could not be ended. ` +
          'End it manually.',
      );
    },
  };

  async function played({ name, contract }: CheckInput, context: EffectContext): Promise<ChildResult> {
    const cwd = join(options.folder, name);
    await mkdir(cwd, { recursive: true, mode: 0o700 });
    const [program = '', ...args] = contract.command;
    const plain = { program, args, cwd, env: {} };
    const reads = contract.executableArtifacts.map(({ path }) => path);
    const confined: Command & Partial<Confined> =
      (await options.confine?.({ ...plain, folders: { reads } })) ?? plain;
    const child = await startChild(confined.program, confined.args, {
      cwd: confined.cwd,
      env: confined.env,
      stdin: '',
      spawnId: randomUUID(),
      tokenHash: null,
      note: (note) => context.checkpoint(asJson(note)),
      signal: context.signal,
      outputBytesMax: Math.max(contract.stdoutMaxBytes, contract.stderrMaxBytes),
      floodBytesMax: outputBytes.stdoutMaxBytes * 4,
      silenceMs: contract.timeoutMs,
      deadlineMs: contract.timeoutMs,
      ...(confined.processesMax === undefined ? {} : { processesMax: confined.processesMax }),
      ...graces,
    });
    return child.done;
  }
}

/** Looking again would be a second program beside the first: a person must say that it is gone. */
const stillThere = ({ contract, contractHash }: CheckInput, reason: string): Checked => ({
  outcome: 'revoked',
  reason,
  measured: { contract, contractHash },
});

function judged(
  { ended, exitCode, signal, stdout, stderr, truncated }: ChildResult,
  { contract }: CheckInput,
): Checked {
  if (ended === 'interrupted') throw new ChildProcessError('INTERRUPTED', 'The check was interrupted.');
  if (ended === 'deadline' || ended === 'silence')
    return { outcome: 'timeout', reason: `The program took longer than ${contract.timeoutMs} ms.` };
  if (ended === 'flood' || truncated || Buffer.byteLength(stdout) > contract.stdoutMaxBytes)
    return {
      outcome: 'output-too-large',
      reason: `The program printed more than ${contract.stdoutMaxBytes} bytes.`,
    };
  if (ended === 'processes')
    return { outcome: 'nonzero', reason: 'The program started too many processes at once and was ended.' };
  if (exitCode !== 0)
    return {
      outcome: 'nonzero',
      reason: `The program ended with ${exitCode ?? signal}: ${stderr.trim().slice(-300)}`,
    };
  if (stdout.trim() === '') return { outcome: 'no-output' };
  return readAnswer(stdout);
}

function readAnswer(stdout: string): Checked {
  let answer: unknown;
  try {
    answer = JSON.parse(stdout);
  } catch {
    return { outcome: 'invalid-json', reason: 'Its output is not JSON.' };
  }
  if (!isRecord(answer)) return { outcome: 'invalid-json', reason: 'Its output is not a JSON object.' };
  const { fire, payload = {}, fireRef } = answer;
  if (fire !== true) return { outcome: 'no-fire' };
  if (!isRecord(payload)) return { outcome: 'invalid-json', reason: 'payload must be a JSON object.' };
  if (deeperThan(payload, jsonDepthMax))
    return { outcome: 'invalid-json', reason: `payload is nested deeper than ${jsonDepthMax}.` };
  if (fireRef !== undefined && (typeof fireRef !== 'string' || fireRef === '' || fireRef.length > 256))
    return { outcome: 'invalid-json', reason: 'fireRef must be a text of 1 to 256 characters.' };
  return {
    outcome: 'fire',
    payload: payload as Readonly<Record<string, Json>>,
    ...(typeof fireRef === 'string' && { fireRef }),
  };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
