import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../lib/gateway/fixture.js';
import { until, type Instance } from './instance.js';
import { must } from './work.js';

/** Cron jobs of every policy about what was missed; some run at once, one is taken away. */
export async function makeCron(client: Client): Promise<void> {
  const add = (id: string, more: object): Promise<unknown> =>
    must(client, 'POST', '/api/cron', { id, name: id, prompt: 'help', timezone: 'UTC', ...more });
  for (const missed of ['skip', 'once', 'all'])
    await add(`daily-${missed}`, { schedule: '15 6 * * *', missed, idempotencyKey: `cron-${missed}` });
  await add('delivering', { schedule: '0 0 1 1 *', delivery: { connector: 'steady', channel: 'general' } });
  await add('failing', { schedule: '0 0 1 1 *', engine: 'failing' });
  await add('off', { schedule: '* * * * *', enabled: false });
  await add('gone', { schedule: '0 0 1 1 *' });
  await must(client, 'PUT', '/api/cron/off', { name: 'Switched off' });
  await must(client, 'DELETE', '/api/cron/gone');
  for (const id of ['delivering', 'failing']) {
    await must(client, 'POST', `/api/cron/${id}/trigger`);
    await ran(client, id);
  }
}

const ran = (client: Client, id: string) =>
  until(
    async () => (await must(client, 'GET', `/api/cron/${id}/runs`)) as unknown[],
    (runs) => runs.length > 0,
    `the job ${id} to have run`,
  );

/** A fire at work until the gateway ends. */
export async function makeWorkingFire(client: Client): Promise<void> {
  await must(client, 'POST', '/api/cron', {
    id: 'slow',
    prompt: 'sleep',
    engine: 'slow',
    schedule: '0 0 1 1 *',
  });
  await must(client, 'POST', '/api/cron/slow/trigger');
}

/** Connectors in every state of their link; messages that were sent, that failed, that wait. */
export async function makeConnectors(client: Client): Promise<void> {
  const statuses = async (): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries(
      ((await must(client, 'GET', '/api/connectors')) as { name: string; status: string }[]).map(
        ({ name, status }) => [name, status],
      ),
    );
  await until(
    statuses,
    (seen) => seen['steady'] === 'running' && seen['sending'] === 'running' && seen['broken'] === 'error',
    'the connectors to have tried',
  );
  const send = (name: string, text: string) =>
    client.post(`/api/connectors/${name}/send`, {
      channel: 'general',
      text,
      idempotencyKey: `message-${name}-${text}`,
    });
  for (const text of ['one', 'two']) await send('steady', text);
  for (const name of ['broken', 'stopped']) await send(name, 'refused, or waits');
}

/** Two messages to a far side that never answers: one on its way, one behind it. No one waits for them. */
export function sendForever(client: Client): void {
  for (const text of ['on its way', 'behind it'])
    client
      .post('/api/connectors/sending/send', { channel: 'general', text, idempotencyKey: `forever-${text}` })
      .catch(() => undefined); // the gateway ends before the answer
}

/** Challenges and codes in every state that outlives its request; two paired browsers, one of them revoked. */
export async function pairBrowsers(instance: Instance): Promise<void> {
  const { anonymous, home } = instance;
  const challenge = (): Promise<{ challengeId: string; nonce: string; path: string }> =>
    must(anonymous, 'POST', '/api/auth/pairing-challenges', {});
  const code = async (): Promise<string> => {
    const { challengeId, nonce, path } = await challenge();
    await writeFile(path, nonce, { mode: 0o600 });
    return (await must(anonymous, 'POST', '/api/auth/pairing-codes', { challengeId })).code;
  };
  await must(anonymous, 'POST', '/api/auth/pair', { code: await code() });
  await must(anonymous, 'POST', '/api/auth/pair', { code: await code() });
  const { devices } = await must(instance.operator, 'GET', '/api/auth/devices');
  await must(instance.operator, 'DELETE', `/api/auth/devices/${devices[0].id}`);
  const { challengeId } = await challenge(); // without a proof
  await anonymous.post('/api/auth/pairing-codes', { challengeId });
  // A code whose device cannot be written: a folder lies where the new file would be moved to
  const place = join(home, 'auth-devices.json');
  const last = await code();
  const kept = await readFile(place);
  await rename(place, `${place}.kept`);
  await mkdir(join(place, 'x'), { recursive: true });
  await anonymous.post('/api/auth/pair', { code: last });
  await rm(place, { recursive: true });
  await rm(`${place}.kept`);
  await writeFile(place, kept, { mode: 0o600 });
}

/** A challenge that is open and a code that is good, for as long as these last. */
export async function openBackends({ anonymous }: Instance): Promise<void> {
  const { challengeId, nonce, path } = await must(anonymous, 'POST', '/api/auth/pairing-challenges', {});
  await writeFile(path, nonce, { mode: 0o600 });
  await must(anonymous, 'POST', '/api/auth/pairing-codes', { challengeId });
  await must(anonymous, 'POST', '/api/auth/pairing-challenges', {});
}

/** A connector that the settings name no more. */
export async function stopConnector(client: Client, configure: () => Promise<void>): Promise<void> {
  await configure();
  await must(client, 'POST', '/api/connectors/reload', {});
}

/** An approval that was asked for just now: its notice is held back for a day. */
export async function makeHeldNotices(client: Client): Promise<void> {
  const { workItem } = await must(client, 'POST', '/api/work-items', { title: 'Approval of today' });
  await must(client, 'POST', `/api/work-items/${workItem.id}/approval/request`, {
    request: 'May I water them tomorrow?',
    target: 'operator',
    expiresAt: '2199-01-01T00:00:00.000Z',
  });
  await notifiersAre(client, ({ status }) => status === 'holding', 'hold it back');
}

/** One notifier rests, one holds something back, one sends for ever, one tries again; another was stopped. */
export const notifiersDiffer = (client: Client): Promise<unknown> =>
  notifiersAre(
    client,
    ({ name, status, sent }) => status === wanted[name] && (status !== 'idle' || sent > 0),
    'differ',
  );

const wanted: Readonly<Record<string, string>> = {
  'steady:later': 'holding',
  'steady:general': 'idle',
  'sending:general': 'sending',
  command: 'pausing',
};

interface Notifier {
  readonly name: string;
  readonly status: string;
  readonly sent: number;
}

const notifiersAre = (client: Client, isSo: (one: Notifier) => boolean, what: string): Promise<unknown> =>
  until(
    async () => (await must(client, 'GET', '/api/notifications')).destinations as readonly Notifier[],
    (all) => all.length > 1 && all.every(isSo),
    `the notifiers to ${what}`,
  );
