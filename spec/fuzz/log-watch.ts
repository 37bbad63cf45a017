import { open } from 'node:fs/promises';

/**
 * Reads what the log has got since the last look: every line is one JSON object, none forged, none a fault,
 * none with a secret.
 */
export function logWatch(file: string, secrets: () => readonly string[]): () => Promise<string[]> {
  let position = 0;
  let rest = Buffer.alloc(0);
  return async () => {
    const faults: string[] = [];
    const handle = await open(file, 'r');
    try {
      const { size } = await handle.stat();
      while (position < size) {
        const { bytesRead, buffer } = await handle.read(
          Buffer.alloc(Math.min(2 ** 22, size - position)),
          0,
          Math.min(2 ** 22, size - position),
          position,
        );
        if (bytesRead === 0) break;
        position += bytesRead;
        const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        const end = bytes.lastIndexOf(10) + 1;
        rest = bytes.subarray(end);
        for (const line of bytes.toString('utf8', 0, end).split('\n'))
          if (line !== '') faults.push(...faultsOf(line, secrets()));
      }
    } finally {
      await handle.close();
    }
    return faults;
  };
}

function* faultsOf(line: string, secrets: readonly string[]): Generator<string> {
  // A terminal that shows the log obeys these; the second half of them are the eight-bit controls, then what
  // turns text around.
  const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/.exec(line);
  if (control)
    yield `a control character (U+${control[0].charCodeAt(0).toString(16).padStart(4, '0')}) in the log: ${JSON.stringify(line.slice(Math.max(0, control.index - 100), control.index + 30))}`;
  for (const secret of secrets)
    if (line.includes(secret))
      yield `a secret in the log: ${line.replaceAll(secret, '<secret>').slice(0, 300)}`;
  let entry: { level?: unknown; msg?: unknown; pid?: unknown } | undefined;
  try {
    entry = JSON.parse(line) as typeof entry;
  } catch {
    return yield `a line of the log that is no JSON: ${line.slice(0, 300)}`;
  }
  if (typeof entry?.pid !== 'number') yield `a line of the log that is not ours: ${line.slice(0, 300)}`;
  else if (typeof entry.level !== 'number' || entry.level >= 50)
    yield `the log tells of a fault: ${line.slice(0, 1_500)}`;
}
