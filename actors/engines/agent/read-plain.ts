import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/**
 * What a plain file holds that an agent may have written, read by the gateway: no link is followed, for it could
 * lead to what the agent may not read, and no pipe is waited for. Undefined where there is none, or a longer one.
 */
export async function readPlain(path: string, bytesMax: number): Promise<Buffer | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const facts = await file.stat();
    return facts.isFile() && facts.size <= bytesMax ? await file.readFile() : undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
