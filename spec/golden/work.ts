import { expect } from 'chai';
import { statuses } from '../../machines/work-item/edges.js';
import type { Answer, Client } from '../lib/gateway/fixture.js';
import { until } from './instance.js';

/** Sends what must be taken: a status outside of 2xx is an error that names the request. */
export async function must(client: Client, method: string, path: string, body?: unknown): Promise<any> {
  const answer = await client.call(method, path, body);
  expect(answer.status, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`).to.be.within(200, 299);
  return answer.body;
}

export const sessionIs = (client: Client, id: string, ...wanted: readonly string[]): Promise<Answer> =>
  until(
    () => client.get(`/api/sessions/${id}`),
    ({ body }) => wanted.includes(body.status as string),
    `session ${id} to be ${wanted.join(' or ')}`,
  );

/** Work items in every status, and in each of these with every approval that it can have. */
export async function makeWorkItems(client: Client): Promise<void> {
  const approvals = ['none', 'pending', 'approved', 'rejected'] as const;
  for (const status of statuses)
    for (const approval of approvals) {
      const { workItem } = await must(client, 'POST', '/api/work-items', {
        title: `${status} with approval ${approval}`,
        body: `Water the plants, ${status}.`,
        acceptance: 'The plants are wet.',
        labels: ['golden', status.replaceAll('_', '-')],
        verifyPolicy: { mode: 'verify', maxRounds: 3 },
        idempotencyKey: `item-${status}-${approval}`,
      });
      const path = `/api/work-items/${workItem.id}`;
      if (status === 'assigned') await must(client, 'POST', `${path}/assign`, { assignee: 'ann' });
      if (approval !== 'none')
        await must(client, 'POST', `${path}/approval/request`, {
          request: 'May I water them?',
          target: 'operator',
          ...(approval === 'pending' && { expiresAt: '2199-01-01T00:00:00.000Z' }),
        });
      if (approval === 'approved' || approval === 'rejected')
        await must(client, 'POST', `${path}/approval`, {
          decision: approval === 'approved' ? 'approve' : 'reject',
          note: 'So be it.',
        });
      if (status === 'cancelled') await must(client, 'POST', `${path}/archive`, { note: 'Not any more.' });
      else if (status !== 'backlog' && status !== 'assigned')
        await must(client, 'POST', `${path}/status`, { status, note: `Is ${status}.` });
    }
  await makeLedger(client);
}

/** What hangs on a work item: comments, links, children, a due date, a bounce, an escalation, an expiry. */
async function makeLedger(client: Client): Promise<void> {
  const make = async (title: string, more: object = {}): Promise<string> =>
    (await must(client, 'POST', '/api/work-items', { title, ...more })).workItem.id;
  const parent = await make('Ledger', { dueAt: '2026-03-03T00:00:00.000Z' });
  const path = `/api/work-items/${parent}`;
  const child = await make('Ledger, a child', { parentId: parent, dueAt: '2199-01-01T00:00:00.000Z' });
  await must(client, 'POST', `${path}/links`, { relation: 'blocks', workItemId: child });
  for (const text of ['First.', 'Second.', 'Third.'])
    await must(client, 'POST', `${path}/comments`, { text });
  const listed = await must(client, 'GET', `${path}/comments`);
  const ids = (listed.comments as { id: string }[]).map(({ id }) => id);
  await must(client, 'PATCH', `${path}/comments/${ids[0]}`, { text: 'First, edited.' });
  await must(client, 'DELETE', `${path}/comments/${ids[1]}`);
  const { version } = (await must(client, 'GET', path)).workItem;
  await must(client, 'PATCH', path, { title: 'Ledger, renamed', priority: 2, expectedVersion: version });
  await must(client, 'POST', `${path}/labels`, { add: ['wet'], remove: [] });
  const bounced = await make('Bounced');
  for (const status of ['executing', 'in_review', 'executing', 'in_review'])
    await must(client, 'POST', `/api/work-items/${bounced}/status`, { status, note: 'Again.' });
  const escalated = await make('Approval carried up', { assignee: 'ann' });
  await must(client, 'POST', `/api/work-items/${escalated}/approval/request`, {
    request: 'May I?',
    target: 'operator',
  });
  await must(client, 'POST', `/api/work-items/${escalated}/approval/escalate`, { reason: 'Nobody is in.' });
  const expiring = await make('Approval that runs out');
  await must(client, 'POST', `/api/work-items/${expiring}/approval/request`, {
    request: 'Today?',
    expiresAt: '2026-03-03T00:00:00.000Z',
  });
}
