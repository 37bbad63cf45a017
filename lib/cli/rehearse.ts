import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAnnouncement } from '../home/announce.js';
import { layoutOf } from '../home/layout.js';
import type { Instance, InstanceOptions } from '../instance.js';

/**
 * What a standby does while it waits: it opens an empty home of its own, serves a write and a read there, and closes
 * it, a few times. Code that runs for the first time takes twice as long, and while a home changes hands no one
 * is answered.
 */
export async function rehearse(start: (options: InstanceOptions) => Promise<Instance>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-rehearsal-'));
  try {
    for (let times = 0; times < timesMax; times += 1) {
      const layout = layoutOf({ home: join(folder, String(times)) });
      const instance = await start({ layout, host: '127.0.0.1', port: 0, evidenceRoot: folder });
      try {
        const token = (await readAnnouncement(layout.announcement))?.token ?? '';
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const url = `${instance.url}/api/work-items`;
        await fetch(url, { method: 'POST', headers, body: '{"title":"Rehearsal"}' });
        await (await fetch(url, { headers })).arrayBuffer();
      } finally {
        await instance.close();
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The third opening in a process takes as long as any later one. */
const timesMax = 3;
