import type { Client } from '../lib/gateway/fixture.js';
import { chain, noop } from '../machines/graph/graphs.js';
import { until } from './instance.js';
import { must } from './work.js';

export const root = '/api/workflow-definitions';
export const gate = {
  id: 'gate',
  type: 'gate',
  gate: { kind: 'approval', approvalRef: 'go', description: 'Go on?' },
};
const step = (id: string, ref: string, instructions: string) => ({
  id,
  type: 'step',
  actor: { kind: 'engine', ref },
  instructions,
});
export const line = (id: string, nodes: readonly { readonly id: string }[]) => {
  const ids = ['t', ...nodes.map((node) => node.id)];
  return {
    id,
    title: id,
    concurrency: 8,
    nodes: [{ id: 't', type: 'trigger' }, ...nodes],
    edges: ids.slice(1).map((to, at) => ({ id: `e${at}`, from: ids[at], to })),
  };
};
export const runIs = (client: Client, id: string, runId: string, status: string) =>
  until(
    () => client.get(`${root}/${id}/runs/${runId}`),
    ({ body }) => body.status === status,
    `run ${runId} of ${id} to be ${status}`,
  );

/** Definitions in every status, of several versions, and runs in every status. */
export async function makeWorkflows(client: Client): Promise<void> {
  const define = (definition: object): Promise<unknown> =>
    must(client, 'POST', `${root}/mutate`, { operation: 'create', definition });
  const run = async (id: string, body: object = {}): Promise<string> =>
    (await must(client, 'POST', `${root}/${id}/run`, body)).runId;
  await define(line('plain', [noop('a'), noop('b')]));
  for (const title of ['Plain, second version', 'Plain, third version'])
    await must(client, 'POST', `${root}/mutate`, {
      operation: 'update',
      workflowId: 'plain',
      patch: { title },
    });
  await runIs(
    client,
    'plain',
    await run('plain', { input: { n: 1 }, idempotencyKey: 'run-plain' }),
    'completed',
  );
  await define(line('gated', [noop('before'), gate, noop('after')]));
  for (const decision of ['approve', 'reject', undefined, undefined]) {
    const runId = await run('gated');
    await runIs(client, 'gated', runId, 'parked');
    if (decision === undefined) continue;
    await must(client, 'POST', `${root}/gated/runs/${runId}/resolve-gate`, { decision, note: 'So.' });
  }
  await define(line('slow', [step('a', 'slow', 'sleep'), step('b', 'quick', 'tea')]));
  const cancelled = await run('slow');
  await must(client, 'POST', `${root}/slow/runs/${cancelled}/cancel`, { reason: 'Enough.' });
  await runIs(client, 'slow', cancelled, 'cancelled');
  await define(
    line('waits', [{ id: 'w', type: 'wait', waitUntil: '2199-01-01T00:00:00.000Z' }, noop('a')] as never),
  );
  await run('waits');
  await define(line('waits-a-day', [{ id: 'w', type: 'wait', waitMinutes: 1440 }, noop('a')] as never));
  await run('waits-a-day');
  await define({
    ...line('crowded', [
      { id: 'w', type: 'wait', waitUntil: '2199-01-01T00:00:00.000Z' },
      noop('a'),
    ] as never),
    concurrency: 1,
  });
  for (const _ of ['at work', 'queued']) await run('crowded');
  await define(line('fails', [noop('a'), { id: 'f', type: 'fail', failMessage: 'It must fail.' }] as never));
  await runIs(client, 'fails', await run('fails'), 'failed');
  await define(line('works', [step('a', 'quick', 'tea'), step('b', 'clerk', 'help')]));
  await runIs(client, 'works', await run('works'), 'completed');
  await define(line('unwritable', [noop('a')]));
  for (const [id, verb] of [
    ['paused', 'pause'],
    ['retired', 'retire'],
  ] as const) {
    await define({ ...chain('a', 'b'), id, title: id });
    await must(client, 'POST', `${root}/${id}/${verb}`);
  }
  await define({
    ...line('daily', [noop('a')]),
    nodes: [
      { id: 't', type: 'trigger', trigger: { kind: 'schedule', cron: '30 5 * * *', timezone: 'UTC' } },
      noop('a'),
    ],
  });
}

/** Bindings of both kinds in every state. */
export async function makeBindings(client: Client): Promise<{ readonly secret: string }> {
  const bind = (
    name: string,
    more: object,
  ): Promise<{ readonly secretToken?: string; readonly token?: string }> =>
    must(client, 'POST', '/api/workflow-triggers', { name, event: name, targetWorkflowId: 'plain', ...more });
  const hook = await bind('hook', { kind: 'webhook', filter: [{ path: 'n', op: 'exists' }] });
  const secret = String(
    Object.entries(hook).find(([key]) => /secret/i.test(key) && !/preview/i.test(key))?.[1],
  );
  const fired = await client.call(
    'POST',
    '/api/workflow-events',
    { event: 'hook', payload: { n: 1 }, fireRef: 'once' },
    { 'x-svc-workflow-event-token': secret },
  );
  if (fired.status >= 300) throw new Error(`the event was refused: ${fired.text}`);
  await bind('signed', { kind: 'webhook', signature: 'hmac-sha256' });
  await bind('gone', { kind: 'webhook' });
  await must(client, 'DELETE', '/api/workflow-triggers/gone');
  const poll = async (name: string, script: string, decision?: string): Promise<void> => {
    await bind(name, {
      kind: 'poll',
      command: ['/bin/sh', '-c', script],
      intervalSeconds: 86_400,
      timeoutMs: 60_000,
    });
    if (decision !== undefined)
      await must(client, 'POST', `/api/workflow-triggers/${name}/activation-approval`, { decision });
  };
  await poll('poll-pending', 'true');
  await poll('poll-carried-up', 'true');
  await must(client, 'POST', '/api/workflow-triggers/poll-carried-up/activation-approval/escalate', {
    reason: 'x',
  });
  await poll('poll-waiting', `echo '{"fire": true, "payload": {"n": 2}}'`, 'approve');
  await poll('poll-failing', 'exit 3', 'approve');
  await poll('poll-disabled', 'true', 'reject');
  await poll('poll-gone', 'true');
  await must(client, 'DELETE', '/api/workflow-triggers/poll-gone');
  await until(
    async () =>
      (await must(client, 'GET', '/api/workflow-triggers')).triggers as {
        name: string;
        lastOutcome: unknown;
      }[],
    (all) =>
      ['poll-waiting', 'poll-failing'].every(
        (name) => all.find((one) => one.name === name)?.lastOutcome != null,
      ),
    'both polls to have looked',
  );
  return { secret };
}

/** A poll that looks, and goes on looking until the gateway ends. */
export async function makeChecking(client: Client): Promise<void> {
  await must(client, 'POST', '/api/workflow-triggers', {
    kind: 'poll',
    name: 'poll-checking',
    event: 'checking',
    targetWorkflowId: 'plain',
    command: ['/bin/sh', '-c', 'exec sleep 600'],
    intervalSeconds: 86_400,
    timeoutMs: 60_000,
  });
  await must(client, 'POST', '/api/workflow-triggers/poll-checking/activation-approval', {
    decision: 'approve',
  });
  await must(client, 'POST', `${root}/slow/run`, {});
}
