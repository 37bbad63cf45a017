import { open } from 'node:fs/promises';

/**
 * The newest lines of a log, oldest first, read from its end: a log may be large. None where there is no
 * file. `await logTail(layout.log, 100)`
 */
export async function logTail(path: string, linesMax: number): Promise<readonly string[]> {
  const newest = await tailOf(path, linesMax);
  // a file that was put aside a moment ago holds what came before
  return newest.length >= linesMax
    ? newest
    : [...(await tailOf(`${path}.1`, linesMax - newest.length)), ...newest];
}

async function tailOf(path: string, linesMax: number): Promise<readonly string[]> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return [];
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - tailBytesMax);
    const bytes = Buffer.alloc(size - start);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
    const lines = bytes.toString('utf8', 0, bytesRead).split('\n');
    lines.pop(); // what follows the last end of a line: nothing, or a line that is being written
    if (start > 0) lines.shift(); // a line that begins before what was read
    return lines.slice(-linesMax);
  } finally {
    await file.close();
  }
}

const tailBytesMax = 2 ** 20;
