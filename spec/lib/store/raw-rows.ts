import { Level } from 'level';
import { join } from 'node:path';

/**
 * What lies in the LevelDB of a closed home, past the store: a flipped bit in a key or in a sequence number of a table
 * looks exactly like a row that was put, moved or taken away behind its back.
 */
export async function withRawRows<Value>(
  home: string,
  task: (level: Level<string, string>) => Promise<Value>,
): Promise<Value> {
  const level = new Level<string, string>(join(home, 'store'), {
    keyEncoding: 'utf8',
    valueEncoding: 'utf8',
  });
  await level.open();
  try {
    return await task(level);
  } finally {
    await level.close();
  }
}
