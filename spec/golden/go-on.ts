import { expect } from 'chai';
import type { Client } from '../lib/gateway/fixture.js';
import { hold } from './decisions.js';
import { runIs } from './workflows.js';
import { must, sessionIs } from './work.js';

/** What was done to a golden home, and how to see that it is still so. */
export interface Done {
  check(client: Client): Promise<void>;
}

/** Work on the old actors of a golden home, as people would: one thing of every kind that takes events. */
export async function goOn(client: Client): Promise<Done> {
  const { sessions } = await must(client, 'GET', '/api/sessions?limit=200');
  const sessionOf = (title: string): string =>
    (sessions as { id: string; title: string }[]).find((each) => each.title === title)?.id ??
    `no session ${title}`;
  const { workItems } = await must(client, 'GET', '/api/work-items?limit=100');
  const itemOf = (title: string): string =>
    (workItems as { id: string; title: string }[]).find((each) => each.title === title)?.id ??
    `no item ${title}`;

  const talked = ['In /tmp', 'Running, first life', 'Failed'].map(sessionOf);
  for (const id of talked) {
    await must(client, 'POST', `/api/sessions/${id}/message`, { prompt: 'Still there?' });
    await sessionIs(client, id, 'idle', 'error');
  }
  const moved = itemOf('blocked with approval rejected');
  await must(client, 'POST', `/api/work-items/${moved}/status`, { status: 'in_review', note: 'After all.' });
  const approved = itemOf('executing with approval pending');
  const thing = { kind: 'work-item', id: approved, waitingId: 'approval' };
  const held = `/api/held-decisions/${await hold(client, thing, 60)}`;
  await must(client, 'DELETE', held, {});
  await must(client, 'POST', `/api/work-items/${approved}/approval`, { decision: 'approve', note: 'Yes.' });
  await must(client, 'POST', `/api/work-items/${moved}/comments`, { text: 'Years later.' });
  const { runs } = await must(client, 'GET', '/api/workflow-definitions/gated/runs?status=parked');
  const { runId } = (runs as { runId: string }[])[0] ?? { runId: 'none' };
  await must(client, 'POST', `/api/workflow-definitions/gated/runs/${runId}/resolve-gate`, {
    decision: 'approve',
  });
  await runIs(client, 'gated', runId, 'completed');
  await must(client, 'POST', '/api/workflow-definitions/mutate', {
    operation: 'update',
    workflowId: 'plain',
    patch: { title: 'Plain, of a later build' },
  });
  const { runId: newRun } = await must(client, 'POST', '/api/workflow-definitions/plain/run', {
    input: { n: 3 },
  });
  await must(client, 'PUT', '/api/cron/daily-skip', { name: 'Renamed later' });
  await must(client, 'POST', '/api/workflow-triggers/poll-disabled/activation-approval', {
    decision: 'approve',
  });
  const sent = await must(client, 'POST', '/api/connectors/steady/send', {
    channel: 'general',
    text: 'Still there?',
  });
  expect(sent.status).to.equal('sent');
  await must(client, 'POST', '/api/org/employees/ann/budget', { usd: 4 });
  const { workItem } = await must(client, 'POST', '/api/work-items', { title: 'Of a later build' });
  expect(
    (workItems as { id: string }[]).map(({ id }) => id),
    'numbers of work items go on where they were',
  ).to.not.include(workItem.id);

  return {
    async check(after) {
      for (const id of talked)
        expect(JSON.stringify(await must(after, 'GET', `/api/sessions/${id}/messages`))).to.include(
          'Still there?',
        );
      const item = await must(after, 'GET', `/api/work-items/${moved}`);
      expect(item.workItem.status).to.equal('in_review');
      expect(JSON.stringify(await must(after, 'GET', `/api/work-items/${moved}/comments`))).to.include(
        'Years later.',
      );
      expect(
        (await must(after, 'GET', `/api/work-items/${approved}`)).workItem.approval?.state ?? 'approved',
      ).to.equal('approved');
      expect((await must(after, 'GET', held)).decision.status).to.equal('withdrawn');
      await runIs(after, 'gated', runId, 'completed');
      await runIs(after, 'plain', newRun, 'completed');
      expect(JSON.stringify(await must(after, 'GET', '/api/workflow-definitions/plain'))).to.include(
        'Plain, of a later build',
      );
      expect((await must(after, 'GET', '/api/cron/daily-skip')).name).to.equal('Renamed later');
      expect((await must(after, 'GET', '/api/org/employees/ann/budget')).grantedUsd).to.be.at.least(4);
      await must(after, 'GET', `/api/work-items/${workItem.id}`);
    },
  };
}
