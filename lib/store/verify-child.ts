import { StoreError } from './contract.js';
import { verifyStore } from './verify.js';

/**
 * `node apart-main.js <home>` checks a closed store and writes lines of JSON: `{progress}`, and at the end `{report}`
 * or `{error}`. In a process of its own, because LevelDB may end the one it runs in.
 */
export async function verifyAndPrint(home: string): Promise<void> {
  const write = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
  try {
    write({ report: await verifyStore(home, { onProgress: (progress) => write({ progress }) }) });
  } catch (error) {
    const code = error instanceof StoreError ? error.code : undefined;
    write({ error: { code, message: error instanceof Error ? error.message : String(error) } });
  }
}
