import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild, type SpawnNote, type StartOptions } from '../../../actors/engines/process.js';

/** Short graces, so that a stubborn child is met with SIGKILL while someone watches. */
export const graces = { interruptMs: 200, terminateMs: 200, confirmMs: 5_000 };

export interface Started {
  readonly child: Awaited<ReturnType<typeof startChild>>;
  readonly notes: readonly SpawnNote[];
  readonly abort: () => void;
  /** Resolves when stdout has shown this text. */
  readonly saw: (text: string) => Promise<void>;
}

let counter = 0;
export const freshSpawnId = (): string => `spec-${process.pid}-${Date.now().toString(36)}-${(counter += 1)}`;

/** A real child, by default a shell script, with everything a spec wants to look at. */
export async function start(
  command: string,
  args: readonly string[],
  options: Partial<StartOptions> = {},
): Promise<Started> {
  const notes: SpawnNote[] = [];
  const controller = new AbortController();
  const heard = listen();
  const child = await startChild(command, args, {
    cwd: tmpdir(),
    env: {},
    silenceMs: 60_000,
    deadlineMs: 60_000,
    spawnId: freshSpawnId(),
    tokenHash: 'hash',
    signal: controller.signal,
    graces,
    note: (note) => {
      notes.push(note);
      return Promise.resolve();
    },
    ...options,
    onStdout: (chunk) => {
      heard.take(chunk);
      options.onStdout?.(chunk);
    },
  });
  return { child, notes, abort: () => controller.abort(), saw: heard.saw };
}

export const sh = (script: string, options: Partial<StartOptions> = {}): Promise<Started> =>
  start('/bin/sh', ['-c', script], options);
export const node = (script: string, options: Partial<StartOptions> = {}): Promise<Started> =>
  start(process.execPath, ['-e', script], options);

export const freshFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'troupe-spec-'));

function listen(): { take(chunk: string): void; saw(text: string): Promise<void> } {
  let all = '';
  const waiting: { readonly text: string; readonly resolve: () => void }[] = [];
  return {
    take(chunk) {
      all += chunk;
      for (const { text, resolve } of waiting) if (all.includes(text)) resolve();
    },
    saw: (text) =>
      new Promise((resolve) => {
        if (all.includes(text)) resolve();
        else waiting.push({ text, resolve });
      }),
  };
}
