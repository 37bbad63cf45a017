import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startProgram } from '../../actors/start-program.js';
import { StoreError, type StoreErrorCode } from './contract.js';
import type { Progress } from './rebuild.js';
import { verifyStore, type VerifyReport } from './verify.js';

export interface VerifyApartOptions {
  readonly onProgress?: (progress: Progress) => void;
  /** Give up: rejects with its reason. */
  readonly signal?: AbortSignal;
}

/**
 * `verifyStore` in a process of its own: where damage makes LevelDB end the process, that is one more fault of the
 * report instead of the end of ours, and the second copy is still checked.
 */
export async function verifyApart(home: string, options: VerifyApartOptions = {}): Promise<VerifyReport> {
  const answer = await runChild(home, options);
  if ('report' in answer) return answer.report;
  if ('died' in answer)
    return verifyStore(home, {
      ...(options.onProgress ? { onProgress: options.onProgress } : {}),
      databaseFault:
        `LevelDB crashes on this database (${answer.died}); ` +
        'the next starts rebuild it from the second copy',
    });
  const { code, message } = answer.error;
  throw code === undefined ? new Error(message) : new StoreError(code, message);
}

type Answer =
  | { readonly report: VerifyReport }
  | { readonly error: { readonly code?: StoreErrorCode; readonly message: string } }
  | { readonly died: string };

function runChild(home: string, { onProgress, signal }: VerifyApartOptions): Promise<Answer> {
  const program = fileURLToPath(new URL('./apart-main.js', import.meta.url));
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const child = startProgram(process.execPath, [program, home], { stdio: ['ignore', 'pipe', 'ignore'] });
    const abort = (): void => void child.kill('SIGKILL');
    signal?.addEventListener('abort', abort, { once: true });
    let answer: Answer | undefined;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as Answer | { readonly progress: Progress };
      if ('progress' in said) onProgress?.(said.progress);
      else answer = said;
    });
    child.on('error', reject);
    child.on('close', (code, killedBy) => {
      signal?.removeEventListener('abort', abort);
      if (signal?.aborted === true) return reject(signal.reason as Error);
      resolve(answer ?? { died: killedBy ?? `exit code ${code}` });
    });
  });
}
