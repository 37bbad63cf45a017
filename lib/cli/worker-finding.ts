import type { Layout } from '../home/layout.js';
import { connect, running, type Client } from './client.js';
import type { Finding } from './finding.js';

/** A worker that runs another build than its gateway: after an upgrade, or because the other machine has its own. */
export interface OtherBuild {
  readonly name: string;
  readonly place: 'here' | 'elsewhere';
  /** Null: it did not say. */
  readonly version: string | null;
}

/** `await otherBuilds(client, '0.2.0')` */
export async function otherBuilds({ get }: Client, gatewayVersion: string): Promise<readonly OtherBuild[]> {
  const { workers } = await get('/api/workers');
  return workers.filter(
    ({ pid, state, version }) =>
      pid !== null && state !== 'away' && state !== 'invited' && version !== gatewayVersion,
  );
}

export const buildOf = ({ name, version }: OtherBuild): string =>
  `${name} (${version === null ? 'an older version' : `version ${version}`})`;

/** Nothing where no gateway runs, or all are of its version. */
export async function workerBuilds(layout: Layout): Promise<readonly Finding[]> {
  if ((await running(layout)) === undefined) return [];
  const client = await connect(layout);
  const { version = '' } = (await client.get('/api/status')) as { readonly version?: string };
  return (await otherBuilds(client, version)).map((worker) =>
    worker.place === 'here'
      ? {
          grade: 'good' as const,
          about: 'workers',
          what: `${buildOf(worker)} began before the upgrade; it ends with its turns`,
        }
      : {
          grade: 'poor' as const,
          about: 'workers',
          what: `${buildOf(worker)} runs on another machine, and the gateway is version ${version}`,
          remedy: `Install version ${version} there and start that worker again.`,
        },
  );
}
