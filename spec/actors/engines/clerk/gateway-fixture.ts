import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A small real HTTP server that speaks the few routes which the clerk uses, as the specification words them.
 */
export interface GatewayFixture {
  readonly url: string;
  readonly token: string;
  readonly requests: readonly { readonly method: string; readonly path: string; readonly body: unknown }[];
  readonly items: readonly Item[];
  close(): Promise<void>;
}

interface Item {
  id: string;
  title: string;
  status: string;
  assignee: string | null;
  body: string | null;
  approvalState: string | null;
  approvalTarget: string | null;
}
type Answer = readonly [status: number, body: unknown];

const statuses = [
  'backlog',
  'assigned',
  'executing',
  'in_review',
  'blocked',
  'escalated',
  'done',
  'cancelled',
];

export async function gatewayFixture(
  first: readonly Partial<Item>[] = [],
  { hasRoster = true } = {},
): Promise<GatewayFixture> {
  const token = 'fixture-token';
  const requests: { method: string; path: string; body: unknown }[] = [];
  const items: Item[] = [];
  const add = (given: Partial<Item>): Item => {
    const item = {
      id: `TRP-${items.length + 1}`,
      title: '?',
      status: 'backlog',
      assignee: null,
      body: null,
      approvalState: null,
      approvalTarget: null,
      ...given,
    };
    items.push(item);
    return item;
  };
  first.forEach(add);

  function answer(method: string, url: URL, body: Record<string, unknown>): Answer {
    const [, id, verb] = /^\/api\/work-items\/([^/]+)\/(.+)$/.exec(url.pathname) ?? [];
    const item = items.find((each) => each.id === id);
    if (id !== undefined && item === undefined)
      return [404, { error: `There is no work item ${id}.`, code: 'NOT_FOUND' }];
    if (item !== undefined && verb === 'status') {
      if (body['status'] === 'done')
        return [
          403,
          {
            error: 'An attempt cannot declare its own work item done. Ask for review instead.',
            code: 'SELF_REVIEW',
          },
        ];
      item.status = String(body['status']);
      return [200, { workItem: item, escalated: false }];
    }
    if (item !== undefined && verb === 'approval/request') {
      Object.assign(item, { approvalState: 'pending', approvalTarget: 'root' });
      return [200, { workItem: item }];
    }
    if (url.pathname === '/api/org' && !hasRoster) return [404, { error: 'Not found', code: 'NOT_FOUND' }];
    if (url.pathname === '/api/org')
      return [200, { departments: [], employees: [{ name: 'ann' }], hierarchy: {} }];
    if (url.pathname === '/api/delegations') {
      if (body['engine'] === 'nobody')
        return [400, { error: 'unknown engine "nobody" (known: clerk)', code: 'UNKNOWN_ENGINE' }];
      const todo = add({ title: String(body['task']), status: 'executing' });
      return [
        201,
        {
          workItemId: todo.id,
          sessionId: 's-9',
          employee: body['employee'] ?? null,
          engine: 'clerk',
          model: null,
          effortLevel: null,
          status: 'running',
          title: todo.title,
        },
      ];
    }
    if (method === 'POST')
      return [
        201,
        {
          workItem: add({
            title: String(body['title']),
            assignee: (body['assignee'] as string | undefined) ?? null,
            body: (body['body'] as string | undefined) ?? null,
          }),
        },
      ];
    return [200, page(items, url.searchParams)];
  }

  const server = createServer((request, response) => {
    void read(request).then((text) => {
      const url = new URL(request.url ?? '/', 'http://fixture');
      const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
      requests.push({
        method: request.method ?? '',
        path: `${url.pathname}${url.search}`,
        body: text === '' ? undefined : body,
      });
      const [status, json] =
        request.headers.authorization === `Bearer ${token}`
          ? answer(request.method ?? '', url, body)
          : [401, { error: 'Missing or invalid gateway auth token.', code: 'UNAUTHENTICATED' }];
      response
        .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
        .end(JSON.stringify(json));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    requests,
    items,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function page(items: readonly Item[], query: URLSearchParams): unknown {
  const limit = Number(query.get('limit') ?? 20);
  const matching = items.filter(
    (item) =>
      (query.get('assignee') ?? item.assignee) === item.assignee &&
      item.title.toLowerCase().includes((query.get('q') ?? '').toLowerCase()),
  );
  const chosen = matching.filter(({ status }) => (query.get('status') ?? status) === status);
  const totals = Object.fromEntries(
    statuses.map((status) => [status, matching.filter((item) => item.status === status).length]),
  );
  return {
    workItems: chosen.slice(0, limit),
    total: chosen.length,
    totals,
    limit,
    offset: 0,
    nextOffset: chosen.length > limit ? limit : null,
  };
}

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
