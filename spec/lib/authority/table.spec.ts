import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { triggerKind } from '../../../actors/trigger/kind.js';
import { tools } from '../../../lib/mcp/tools.js';
import type { Kind } from '../../../actors/contracts.js';
import type { WorkItemOperation } from '../../../machines/graph/definition.js';
import { openEvidence } from '../../../lib/records/evidence/evidence.js';
import { openHouse, poll, roster, type Client, type House } from '../gateway/fixture.js';

/**
 * Every operation × every caller × every way to cause it, made of the routes themselves: what a caller is refused
 * directly it is refused on every other way, too. A way may be narrower, by a rule that is named here.
 */
/** Only an employee owns a workflow: a session that acts as no one writes none, and a stopped one nothing. */
const writesNothing: readonly string[] = ['anonymous', 'stopped'];

const callers = ['self', 'child', 'above', 'root', 'beside', 'promoted', 'anonymous', 'stopped'] as const;
type Who = (typeof callers)[number];

describe('the table of authority', () => {
  let house: House;
  let folder: string;
  let clients: Readonly<Record<Who, Client>>;
  let ids: Readonly<Record<Who, string>>;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'table-'));
    house = await openHouse({
      withRoster: true,
      evidence: await openEvidence({ standard: folder }),
      kinds: [triggerKind() as unknown as Kind], // a list knows only that they are kinds
    });
    const open = async (by: Client, employee: string | null): Promise<string> =>
      (await by.post('/api/sessions', { prompt: 'hang', ...(employee !== null && { employee }) })).body
        .id as string;
    const self = await open(house.operator, 'ann');
    const stopped = await open(house.operator, 'chief');
    ids = {
      self,
      child: await open(house.agent(self), 'ann'),
      above: await open(house.operator, 'bob'),
      root: await open(house.operator, 'chief'),
      beside: await open(house.operator, 'cat'),
      promoted: await open(house.agent(self), 'chief'),
      anonymous: await open(house.operator, null),
      stopped,
    };
    clients = Object.fromEntries(callers.map((who) => [who, house.agent(ids[who])])) as typeof clients;
    await house.operator.post(`/api/sessions/${stopped}/stop`);
  });
  after(async () => {
    await house.close();
    await rm(folder, { recursive: true, force: true });
  });

  const newItem = async (assignee = 'ann'): Promise<string> =>
    (await house.operator.post('/api/work-items', { title: 'x', assignee })).body.workItem.id as string;

  /** The code of a refusal for want of authority; undefined: none. */
  const refusedWith = (status: number, body: { code?: string }): string | undefined =>
    [401, 403].includes(status) ? body.code : undefined;

  describe('by HTTP, as a dry run and as a tool of MCP', () => {
    const bodies: Readonly<Record<string, object>> = {
      '/api/work-items/:id/status': { status: 'executing' },
      '/api/work-items/:id/assign': { assignee: 'cat' },
      '/api/work-items/:id/approval': { decision: 'approve' },
      '/api/work-items/:id/approval/request': { request: 'may I?' },
      '/api/work-items/:id/comments': { text: 'x' },
      '/api/sessions': { prompt: 'x' },
      '/api/work-items': { title: 'x' },
      '/api/delegations': { task: 'x', employee: 'ann' },
      '/api/sessions/:id/message': { message: 'x' },
    };

    it('refuses alike', async function () {
      this.timeout(240_000);
      const doc = (await house.operator.get('/api/openapi.json')).body;
      let cells = 0;
      for (const [template, operations] of Object.entries<Record<string, any>>(doc.paths)) {
        for (const [method, operation] of Object.entries(operations)) {
          const path = template.replaceAll(/\{(\w+)\}/g, ':$1');
          if (operation['x-authority'] === undefined || path.startsWith('/ws')) continue;
          const plans = (operation.parameters ?? []).some(({ name }: { name: string }) => name === 'dryRun');
          const tool = tools.find(
            (one) => one.method === method.toUpperCase() && one.path === path && !one.onSelf,
          );
          if (!plans && tool === undefined) continue;
          for (const who of callers) {
            const target = path.startsWith('/api/sessions/') ? ids.self : await newItem();
            const params: Record<string, string> = { id: target, name: 'ann' };
            const at = path.replaceAll(/:(\w+)/g, (_, name: string) => params[name] ?? 'x');
            const body = bodies[path] ?? {};
            const client = clients[who];
            const place = `${method} ${path} by ${who}`;
            if (plans) {
              const dry = await client.call(method.toUpperCase(), `${at}?dryRun=true`, body);
              const direct = await client.call(method.toUpperCase(), at, body);
              const rehearsed =
                dry.status === 200 && dry.body.refusal !== undefined
                  ? refusedWith(dry.body.refusal.httpStatus, dry.body.refusal)
                  : refusedWith(dry.status, dry.body);
              expect(rehearsed, `${place}, rehearsed`).to.equal(refusedWith(direct.status, direct.body));
              cells += 1;
            }
            if (tool === undefined) continue;
            const fresh = path.startsWith('/api/sessions/') ? ids.self : await newItem();
            const args = Object.fromEntries(
              tool.args.flatMap(({ name, member, required, fixed }) => {
                if (fixed || member === null) return [];
                const value = member === 'id' ? fresh : (body as Record<string, unknown>)[member];
                return value !== undefined ? [[name, value]] : required ? [[name, 'x']] : [];
              }),
            );
            const direct = await client.call(
              method.toUpperCase(),
              path.replaceAll(/:(\w+)/g, (_, name: string) =>
                String(args[name] ?? (name === 'id' ? fresh : 'x')),
              ),
              method === 'get' ? undefined : { ...body },
            );
            const again = path.startsWith('/api/sessions/') ? ids.self : await newItem();
            const called = await client.post('/mcp', {
              jsonrpc: '2.0',
              id: 1,
              method: 'tools/call',
              params: {
                name: tool.name,
                arguments: Object.fromEntries(
                  Object.entries(args).map(([name, value]) => [name, value === fresh ? again : value]),
                ),
              },
            });
            const byTool = called.status === 401 || called.body?.result?.isError === true;
            if (refusedWith(direct.status, direct.body) !== undefined)
              expect(byTool, `${place}, as ${tool.name}`).to.equal(true);
            cells += 1;
          }
        }
      }
      expect(cells).to.be.greaterThan(200);
    });
  });

  describe('by a workflow, by a workflow in a workflow, and by an event', () => {
    const root = '/api/workflow-definitions';
    /** By operation: as a step, and the same directly. A new operation must be added here. */
    const operations: Readonly<
      Record<
        WorkItemOperation,
        {
          fields: (who: Who) => object;
          direct: (client: Client, item: string, who: Who) => ReturnType<Client['post']>;
        }
      >
    > = {
      create: {
        fields: () => ({ title: 'made' }),
        direct: (client) => client.post('/api/work-items', { title: 'made' }),
      },
      status: {
        fields: () => ({ status: 'executing' }),
        direct: (client, item) => client.post(`/api/work-items/${item}/status`, { status: 'executing' }),
      },
      assign: {
        fields: () => ({ assignee: 'cat' }),
        direct: (client, item) => client.post(`/api/work-items/${item}/assign`, { assignee: 'cat' }),
      },
      comment: {
        fields: () => ({ text: 'x' }),
        direct: (client, item) => client.post(`/api/work-items/${item}/comments`, { text: 'x' }),
      },
      archive: {
        fields: () => ({}),
        direct: (client, item) => client.post(`/api/work-items/${item}/archive`),
      },
    };
    const employees: Readonly<Record<Who, string | null>> = {
      self: 'ann',
      child: 'ann',
      above: 'bob',
      root: 'chief',
      beside: 'cat',
      promoted: 'ann',
      anonymous: null,
      stopped: null,
    };
    const write = (client: Client, title: string, owner: string | null, actor: object) =>
      client.post(`${root}/mutate`, {
        operation: 'create',
        definition: {
          title,
          ...(owner !== null && { owner }),
          nodes: [{ id: 'a', type: 'step', actor }],
          edges: [],
        },
      });
    const ended = async (id: string, runId: string): Promise<string> =>
      (
        await poll(
          () => house.operator.get(`${root}/${id}/runs/${runId}`),
          ({ body }) => ['completed', 'failed'].includes(body.status as string),
        )
      ).body.status as string;

    for (const operation of Object.keys(operations) as WorkItemOperation[]) {
      it(`does "${operation}" for no one who may not do it directly`, async function () {
        this.timeout(240_000);
        const { fields, direct } = operations[operation];
        for (const who of callers) {
          const client = clients[who];
          const allowed = (await direct(client, await newItem(), who)).status < 300;
          const owner = employees[who];
          const item = await newItem();
          const actor = {
            kind: 'work-item',
            operation,
            ...(operation !== 'create' && { id: item }),
            fields: fields(who),
          };
          const title = `Do ${operation} ${who}`;
          const made = await write(client, title, owner, actor);
          const place = `${operation} by ${who}`;
          if (made.status !== 201) {
            expect([401, 403], place).to.include(made.status);
            expect(writesNothing, place).to.include(who);
            continue;
          }
          const id = (made.body.definition ?? made.body).id as string;
          const started = await client.post(`${root}/${id}/run`, {});
          const done = (await ended(id, started.body.runId as string)) === 'completed';
          expect(done, `${place}, as a step`).to.equal(allowed);

          // In a workflow of its own, on an item of its own: the first has changed the other one
          const fresh = await newItem();
          await house.operator.get(`${root}/${id}`);
          const inner = await write(client, `${title} inner`, owner, {
            ...actor,
            ...(operation !== 'create' && { id: fresh }),
          });
          const innerId = (inner.body.definition ?? inner.body).id as string;
          const outer = await write(client, `${title} outer`, owner, {
            kind: 'workflow',
            workflowId: innerId,
            input: {},
          });
          const outerId = (outer.body.definition ?? outer.body).id as string;
          const nested = await client.post(`${root}/${outerId}/run`, {});
          const nestedDone = (await ended(outerId, nested.body.runId as string)) === 'completed';
          expect(nestedDone, `${place}, in a workflow of a workflow`).to.equal(allowed);

          // By an event whose binding the caller made, told by someone who holds nothing but its secret
          const last = await newItem();
          const bound = await write(client, `${title} bound`, owner, {
            ...actor,
            ...(operation !== 'create' && { id: last }),
          });
          const boundId = (bound.body.definition ?? bound.body).id as string;
          const binding = await client.post('/api/workflow-triggers', {
            kind: 'webhook',
            name: `on-${operation}-${who}`,
            event: `${operation}.${who}`,
            targetWorkflowId: boundId,
          });
          expect(binding.status, binding.text).to.equal(201);
          const fired = await house
            .client({ 'x-svc-workflow-event-token': binding.body.secretToken as string })
            .post('/api/workflow-events', { event: `${operation}.${who}`, payload: {} });
          expect(fired.status, fired.text).to.be.oneOf([200, 202]);
          const [{ runId }] = (await house.operator.get(`${root}/${boundId}/runs`)).body.runs;
          expect((await ended(boundId, runId as string)) === 'completed', `${place}, by an event`).to.equal(
            allowed,
          );
        }
      });
    }
  });

  describe('by a session that it opens, delegates to, or has opened by a workflow', () => {
    const above = (name: string | null): readonly string[] => {
      const manager = roster.employees.find((employee) => employee.name === name)?.reportsTo ?? null;
      return manager === null ? [] : [manager, ...above(manager)];
    };
    const rights: Readonly<Record<Exclude<Who, 'stopped'>, string | null>> = {
      self: 'ann',
      child: 'ann',
      above: 'bob',
      root: 'chief',
      beside: 'cat',
      promoted: 'ann',
      anonymous: null,
    };
    const ways: Readonly<Record<string, (client: Client, employee: string) => Promise<string | undefined>>> =
      {
        HTTP: async (client, employee) =>
          (await client.post('/api/sessions', { prompt: 'hang', employee })).body.id as string,
        delegation: async (client, employee) =>
          (await client.post('/api/delegations', { task: 'hang', employee })).body.sessionId as string,
        tool: async (client, employee) => {
          const called = await client.post('/mcp', {
            jsonrpc: '2.0',
            id: 1,
            method: 'tools/call',
            params: { name: 'spawn_session', arguments: { prompt: 'hang', employee } },
          });
          const answer = JSON.parse(called.body.result.content[0].text as string);
          return (answer.id ?? answer.sessionId ?? answer.session?.id) as string;
        },
      };
    for (const [way, opened] of Object.entries(ways)) {
      it(`gives it no one's rights who stands above it: ${way}`, async function () {
        this.timeout(240_000);
        for (const [who, own] of Object.entries(rights) as [Exclude<Who, 'stopped'>, string | null][])
          for (const { name } of roster.employees) {
            const id = await opened(clients[who], name);
            const { actsAs } = (await house.operator.get(`/api/sessions/${id}`)).body;
            const lent = own !== null && (name === own || above(name).includes(own));
            expect(actsAs, `${who} opens ${name}`).to.equal(lent ? name : own);
          }
      });
    }
  });
});
