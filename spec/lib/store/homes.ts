import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];

/** An empty folder for one case; gone when the run ends. */
export async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'troupe-store-'));
  made.push(home);
  return home;
}

after(async () => {
  for (const home of made.splice(0)) await rm(home, { recursive: true, force: true });
});
