import type { Client } from '../lib/gateway/fixture.js';
import { must } from './work.js';

/** Workers of other machines: one that has not joined, one in service, one that is drained, one that was removed. */
export async function makeWorkers(client: Client): Promise<void> {
  for (const name of ['invited', 'serving', 'drained', 'removed']) {
    const { code } = await must(client, 'POST', '/api/workers', { name });
    if (name !== 'invited') await must(client, 'POST', '/api/workers/join', { name, code });
  }
  await must(client, 'POST', '/api/workers/drained/drain', {});
  await must(client, 'POST', '/api/workers/removed/remove', {});
}
