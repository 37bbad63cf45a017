import type { Client } from '../lib/gateway/fixture.js';

/**
 * Everything that an instance shows over HTTP, by address: lists, records, ledgers, totals, search, and every
 * actor with its whole history.
 */
export type Reading = Record<string, unknown>;

export async function readEverything(client: Client): Promise<Reading> {
  const reading: Reading = {};
  const read = async (path: string): Promise<any> => {
    const answer = await client.get(path);
    reading[path] = { status: answer.status, body: answer.body ?? answer.text };
    return answer.body;
  };
  const all = async (paths: readonly string[]): Promise<void> => {
    for (const path of paths) await read(path);
  };
  await all([
    '/api/status',
    '/api/org',
    '/api/org/budgets',
    '/api/skills',
    '/api/skills/brew',
    '/api/knowledge/search?q=tea',
    '/api/knowledge/read?path=knowledge/tea.md',
    '/api/auth/devices',
    '/api/connectors',
    '/api/cost/report',
    '/api/sessions/interrupted',
    '/api/search/messages?query=tea&limit=100',
    '/api/search/sessions?text=running&limit=100',
    '/api/search/work-items?text=water&limit=100',
    '/api/workflow-runs?limit=200',
    '/api/inspect/dead-letters',
    '/api/inspect/supervision',
    '/api/inspect/fleet',
  ]);
  for (const name of ['chief', 'bob', 'ann', 'dan', 'cat'])
    await all([`/api/org/employees/${name}`, `/api/org/employees/${name}/budget`]);
  const items = await pages(read, '/api/work-items', 'workItems');
  for (const { id } of items) {
    const path = `/api/work-items/${id}`;
    await all(
      ['', '/next', '/sessions', '/comments', '/children', '/attempts', '/approvals'].map(
        (part) => path + part,
      ),
    );
  }
  const sessions = await pages(read, '/api/sessions', 'sessions');
  for (const { id } of sessions) {
    const path = `/api/sessions/${id}`;
    await all(['', '/messages?limit=200', '/queue', '/children', '/permissions'].map((part) => path + part));
  }
  for (const { name } of await read('/api/connectors')) await read(`/api/connectors/${name}/deliveries`);
  const { definitions = [] } = await read('/api/workflow-definitions');
  for (const { id } of definitions) {
    const path = `/api/workflow-definitions/${id}`;
    await all([path, `${path}?version=1`, `${path}/versions`, `${path}/plan`]);
    for (const { runId } of (await read(`${path}/runs?limit=200`)).runs ?? [])
      await all([`${path}/runs/${runId}`, `${path}/runs/${runId}/receipts?limit=200`]);
  }
  await read('/api/workflow-triggers');
  for (const { id } of await read('/api/cron'))
    await all([`/api/cron/${id}`, `/api/cron/${id}/runs?limit=100`]);
  for (const { id } of (await read('/api/files?limit=100')).files ?? [])
    await all([`/api/files/${id}/meta`, `/api/files/${id}`]);
  await readActors(read);
  return reading;
}

type Read = (path: string) => Promise<any>;

async function pages(read: Read, path: string, member: string): Promise<readonly { readonly id: string }[]> {
  const found: { readonly id: string }[] = [];
  for (let offset = 0; ;) {
    const body = await read(`${path}?limit=200&offset=${offset}`);
    found.push(...(body[member] ?? body));
    if (typeof body.nextOffset !== 'number' || body.nextOffset <= offset) return found;
    offset = body.nextOffset;
  }
}

/** Every actor of every kind, whatever state it is in, and all that ever happened to it. */
async function readActors(read: Read): Promise<void> {
  const { kinds } = (await read('/api/inspect/fleet')) as { kinds: readonly { kind: string }[] };
  for (const { kind } of kinds) {
    for (let after = ''; ;) {
      const page = await read(
        `/api/inspect/actors?kind=${kind}&limit=100${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`,
      );
      for (const { id } of page.actors as readonly { id: string }[]) {
        const path = `/api/inspect/actors/${kind}/${encodeURIComponent(id)}`;
        await read(path);
        await readHistory(read, path);
      }
      if (page.next === null) break;
      after = page.next;
    }
  }
}

async function readHistory(read: Read, path: string): Promise<void> {
  for (let before: unknown; ;) {
    const page = await read(
      `${path}/history?limit=200${before === undefined ? '' : `&before=${String(before)}`}`,
    );
    const entries = (page.entries ?? page.history ?? []) as readonly { seq: number }[];
    if (entries.length < 200) return;
    before = entries.at(-1)?.seq;
  }
}
