import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './instance.js';
import type { Client } from '../lib/gateway/fixture.js';
import { must, sessionIs } from './work.js';

const open = async (client: Client, body: object): Promise<string> =>
  (await must(client, 'POST', '/api/sessions', body)).id;

/** Sessions that rest, in every status that lasts; `running` ones come last, see `makeRunning`. */
export async function makeSessions(client: Client): Promise<void> {
  const idle = await open(client, { prompt: 'digest', title: 'Idle', idempotencyKey: 'session-idle' });
  await sessionIs(client, idle, 'idle');
  for (const prompt of ['add "water the cactus"', 'list', 'help']) {
    await must(client, 'POST', `/api/sessions/${idle}/message`, { prompt });
    await sessionIs(client, idle, 'idle');
  }
  const away = await open(client, { prompt: 'tea, please', engine: 'quick', cwd: '/tmp', title: 'In /tmp' });
  const failed = await open(client, { prompt: 'fail', engine: 'failing', title: 'Failed' });
  const absent = await open(client, { prompt: 'hello', engine: 'codex', title: 'Engine not installed' });
  const waiting = await open(client, {
    prompt: `[[limit ${Date.UTC(2199, 0, 1) / 1000}]]`,
    engine: 'claude',
    title: 'Waiting for a provider',
  });
  await sessionIs(client, away, 'idle');
  await sessionIs(client, failed, 'error');
  await sessionIs(client, absent, 'error');
  await sessionIs(client, waiting, 'waiting');
  await must(client, 'POST', `/api/sessions/${waiting}/message`, { prompt: 'And when it is over?' });
  const stopped = await open(client, { prompt: 'sleep', engine: 'slow', title: 'Stopped' });
  await must(client, 'POST', `/api/sessions/${stopped}/message`, { prompt: 'never heard' });
  await must(client, 'POST', `/api/sessions/${stopped}/stop`, { reason: 'Enough.' });
  await sessionIs(client, stopped, 'stopped');
  const paused = await open(client, { prompt: 'sleep', engine: 'slow', title: 'Queue paused' });
  await must(client, 'POST', `/api/sessions/${paused}/queue/pause`);
  for (const prompt of ['next', 'and next', 'taken back'])
    await must(client, 'POST', `/api/sessions/${paused}/message`, { prompt });
  const queue = Object.values(await must(client, 'GET', `/api/sessions/${paused}/queue`)) as { id: string }[];
  const last = (queue.flat() as { id: string }[]).at(-1)?.id;
  if (last !== undefined) await must(client, 'DELETE', `/api/sessions/${paused}/queue/${last}`);
  const gone = await open(client, { prompt: 'help', title: 'Deleted' });
  await sessionIs(client, gone, 'idle');
  await must(client, 'DELETE', `/api/sessions/${gone}`);
  const archived = await open(client, { prompt: 'help', title: 'Archived' });
  await sessionIs(client, archived, 'idle');
  await must(client, 'POST', `/api/sessions/${archived}/archive`);
  const copied = (await must(client, 'POST', `/api/sessions/${idle}/duplicate`)) as { id: string };
  await must(client, 'PATCH', `/api/sessions/${copied.id}`, { title: 'Copied, then reset' });
  await must(client, 'POST', `/api/sessions/${copied.id}/reset`);
  const parent = await open(client, { prompt: 'help', title: 'Parent' });
  await sessionIs(client, parent, 'idle');
  const child = await open(client, { prompt: 'help', title: 'Child', parent, employee: 'bob' });
  await sessionIs(client, child, 'idle', 'stopped');
  await sessionIs(client, parent, 'idle');
  await must(client, 'POST', `/api/sessions/${idle}/attachments`, {
    content: Buffer.from('A picture of a plant.').toString('base64'),
    filename: 'plant.txt',
    text: 'Look.',
  });
  const { workItemId, sessionId } = await must(client, 'POST', '/api/delegations', {
    employee: 'bob',
    task: 'add "water the ferns"',
  });
  await must(client, 'POST', `/api/work-items/${workItemId}/handoff`, { sessionId, summary: 'Half done.' });
  await must(client, 'POST', '/api/delegations', { task: 'fail', engine: 'failing' });
}

/** Turns whose costs bring accounts into each of their states. */
export async function makeBudgets(client: Client): Promise<void> {
  for (const employee of ['ann', 'dan', 'cat']) {
    const id = await open(client, { prompt: '[[say done]]', employee, title: `Paid for by ${employee}` });
    await sessionIs(client, id, 'idle');
  }
  await must(client, 'POST', '/api/org/employees/ann/budget', { usd: 3, note: 'For tea.' });
}

/** Turns that go on until the gateway ends: one alone, one with a queue, one that waits for a person. */
export async function makeRunning(client: Client, life: string): Promise<void> {
  const alone = await open(client, { prompt: 'sleep', engine: 'slow', title: `Running, ${life}` });
  const queued = await open(client, {
    prompt: 'sleep',
    engine: 'slow',
    title: `Running with a queue, ${life}`,
  });
  for (const prompt of ['then', 'and then'])
    await must(client, 'POST', `/api/sessions/${queued}/message`, { prompt });
  const asking = await open(client, { prompt: '[[use Bash]]', engine: 'claude', title: `Asking, ${life}` });
  for (const id of [alone, queued, asking]) await sessionIs(client, id, 'running');
  await until(
    () => must(client, 'GET', `/api/sessions/${asking}/permissions`),
    (found) => JSON.stringify(found).includes('"Bash"'),
    'the agent to ask',
  );
  await allAsleep(client);
}

/** Every turn of the engine `slow` has its process: killed earlier, it would begin again in the next life. */
export async function allAsleep(client: Client): Promise<void> {
  const awake = async (): Promise<readonly string[]> => {
    const { sessions } = await must(client, 'GET', '/api/sessions?limit=200');
    return (sessions as { id: string; status: string; engine: string; cwd: string }[])
      .filter(
        ({ status, engine, cwd }) =>
          status === 'running' && engine === 'slow' && !existsSync(join(cwd, 'asleep')),
      )
      .map(({ id }) => id);
  };
  await until(awake, (ids) => ids.length === 0, 'the agents to begin');
}

/** Uploads by bytes, one of them removed again. */
export async function makeFiles(client: Client): Promise<void> {
  for (const [filename, text] of [
    ['hello.txt', 'hello world\n'],
    ['removed.txt', 'not for long\n'],
  ] as const) {
    const made = await must(client, 'POST', '/api/files', {
      content: Buffer.from(text).toString('base64'),
      filename,
    });
    if (filename === 'removed.txt') await must(client, 'DELETE', `/api/files/${made.id}`);
  }
}
