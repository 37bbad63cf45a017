import type { Config } from '../home/config.js';
import type { Layout } from '../home/layout.js';
import { connect, running } from './client.js';
import type { Finding } from './finding.js';

/** Where what waits is sent, and whether it arrives; of a gateway that does not run, only what is configured. */
export async function notifications(layout: Layout, { notify, connectors }: Config): Promise<Finding> {
  const about = 'notifications';
  const missing = notify.to
    .map(({ connector }) => connector)
    .filter((connector) => !connectors.instances.some(({ name }) => name === connector));
  if (missing.length > 0)
    return {
      grade: 'bad',
      about,
      what: `notify.to names connectors that are not configured: ${missing.join(', ')}`,
      remedy: 'Add them to connectors.instances, or take them out of notify.to.',
    };
  const count = notify.to.length + (notify.command === null ? 0 : 1);
  if (count === 0)
    return { grade: 'good', about, what: 'none configured; "troupe waiting" lists what waits' };
  if ((await running(layout)) === undefined)
    return { grade: 'good', about, what: `${count} destination${count === 1 ? '' : 's'} configured` };
  const { destinations } = await (await connect(layout)).get('/api/notifications');
  const failing = destinations.filter(({ failures }) => failures > 0);
  if (failing.length > 0)
    return {
      grade: 'poor',
      about,
      what: failing.map(({ name, detail }) => `${name} fails: ${detail ?? 'no reason given'}`).join('; '),
      remedy: 'Each is tried again by itself; see "troupe help notifications".',
    };
  const sent = destinations.reduce((sum, one) => sum + one.sent, 0);
  return { grade: 'good', about, what: `${destinations.map(({ name }) => name).join(', ')}; ${sent} sent` };
}
