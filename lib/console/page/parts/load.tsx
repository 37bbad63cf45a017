import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { linkTo } from '../place.js';

/** How much an employee has to do: sessions at work, turns that wait for a free process, work items that are open. */
export function Load({ name }: { readonly name: string }) {
  const loaded = useLoaded(`load/${name}`, (signal) => read(name, signal), {
    touches: named(/^(?:session:(?:created|started|completed|stopped|interrupted)|company:)/),
    restMs: 3_000,
  });
  const load = loaded.value.value;
  if (load === undefined) return <span class="soft">…</span>;
  const said = [
    ...(load.working > 0 ? [`${load.working}${load.isMore ? ' or more' : ''} working`] : []),
    ...(load.queued > 0 ? [`${load.queued} queued`] : []),
    `${load.open} open`,
  ];
  return (
    <a href={linkTo({ view: 'board', assignee: name })} data-load={name}>
      {said.join(', ')}
    </a>
  );
}

async function read(employee: string, signal: AbortSignal) {
  const running = { employee, status: 'running' as const, limit: '50' };
  const [found, items] = await Promise.all([
    must(client.get('/api/search/sessions', { params: { query: running }, signal })),
    must(client.get('/api/work-items', { params: { query: { assignee: employee, limit: '1' } }, signal })),
  ]);
  const queued = found.sessions.filter((one) => one['transportState'] === 'queued').length;
  const open = Object.entries(items.totals as Readonly<Record<string, number>>)
    .filter(([status]) => status !== 'done' && status !== 'cancelled')
    .map(([, count]) => count);
  return {
    working: found.sessions.length - queued,
    queued,
    isMore: found.nextCursor != null,
    open: open.reduce((sum, count) => sum + count, 0),
  };
}
