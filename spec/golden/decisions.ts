import type { Client } from '../lib/gateway/fixture.js';
import { noop } from '../machines/graph/graphs.js';
import { must } from './work.js';
import { gate, line, root, runIs } from './workflows.js';

const id = 'second-thoughts';

/** A run that waits for a decision; answers its id and the thing that waits, as a decision names it. */
async function parked(client: Client): Promise<{ readonly runId: string; readonly thing: object }> {
  const { runId } = await must(client, 'POST', `${root}/${id}/run`, {});
  await runIs(client, id, runId, 'parked');
  const { waiting } = await must(client, 'GET', '/api/attention');
  const { kind, waitingId } = (
    waiting as readonly { readonly kind: string; readonly id: string; readonly waitingId: string }[]
  ).find((one) => one.id === runId) ?? { kind: 'none', waitingId: 'none' };
  return { runId, thing: { kind, id: runId, waitingId } };
}

/** Keeps a decision for a while; answers its id. */
export async function hold(client: Client, thing: object, holdSeconds: number): Promise<string> {
  const body = { ...thing, decision: 'approve', note: 'Or not?', holdSeconds };
  return (await must(client, 'POST', '/api/held-decisions', body)).decision.id;
}

/**
 * Three decisions: the time of one ends, what another is about is decided elsewhere meanwhile, one is withdrawn. The
 * gateway must end within the minute: when it starts an hour later, the first is carried out and the second refused.
 */
export async function makeDecisions(client: Client): Promise<void> {
  await must(client, 'POST', `${root}/mutate`, {
    operation: 'create',
    definition: line(id, [gate, noop('after')]),
  });
  const runs = [await parked(client), await parked(client), await parked(client)] as const;
  const held: string[] = [];
  for (const { thing } of runs) held.push(await hold(client, thing, 60));
  await must(client, 'POST', `${root}/${id}/runs/${runs[1].runId}/resolve-gate`, { decision: 'reject' });
  await must(client, 'DELETE', `/api/held-decisions/${held[2]}`, {});
}

/** How long the last one is held: the home is opened later than that. */
export const heldMs = 30_000;

/** One more, that is held when the gateway ends. */
export async function holdOne(client: Client): Promise<void> {
  const { thing } = await parked(client);
  await hold(client, thing, heldMs / 1_000);
}
