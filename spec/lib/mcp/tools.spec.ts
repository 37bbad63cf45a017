import { expect } from 'chai';
import type { Evidence } from '../../../lib/records/evidence/evidence.js';
import { routesOf } from '../../../lib/gateway/routes/index.js';
import { strayArguments, inputSchema } from '../../../lib/mcp/schema.js';
import { tools } from '../../../lib/mcp/tools.js';
import { openHouse, operatorToken, poll, type House } from '../gateway/fixture.js';
import { connectTools, type ToolBox } from './mcp-client.js';

describe('tools', () => {
  let house: House;
  const boxes: ToolBox[] = [];
  before(async () => {
    house = await openHouse({ withRoster: true });
  });
  after(async () => {
    await Promise.all(boxes.map((box) => box.close()));
    await house.close();
  });

  let made = 0;
  async function session(parents: readonly string[] = [], employee: string | null = null): Promise<string> {
    const id = `t${++made}`;
    await house.supervisor.spawn('session', {
      id,
      input: {
        engine: 'pen',
        model: null,
        effort: null,
        employee,
        parentSessionId: parents[0] ?? null,
        ancestors: [...parents],
        workItemId: null,
        title: null,
        cwd: house.home,
        source: 'web',
        sourceRef: null,
        interruptOnNewMessage: true,
        turnDeadlineMs: 1000,
      },
    });
    return id;
  }
  async function box(token: string): Promise<ToolBox> {
    const opened = await connectTools(house.gateway.port, token);
    boxes.push(opened);
    return opened;
  }
  const agent = (sessionId: string) => box(house.tokens.mint(sessionId));
  const allNames = async (sessionId: string): Promise<string[]> => {
    const asked = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const { body } = await house.agent(sessionId).post('/mcp?tools=all', asked);
    return body.result.tools.map(({ name }: { name: string }) => name);
  };

  describe('the table', () => {
    const gateway = {
      version: '0',
      instance: 'default',
      startedAt: 0,
      authRequired: true,
      networkExposed: false,
      host: '127.0.0.1',
      port: 0,
    };
    const routes = routesOf(gateway, { evidence: {} as Evidence }); // only looked into by a request
    const bound = tools.flatMap((tool) => {
      const route = routes.find(({ method, path }) => method === tool.method && path === tool.path);
      return route ? [{ tool, route }] : [];
    });

    it('names every tool once', () => {
      expect(new Set(tools.map(({ name }) => name)).size).to.equal(tools.length);
      for (const { about } of tools) expect(about).to.match(/\.$/);
    });

    it('fills in only what the route reads', () => {
      expect(bound.length).to.be.greaterThan(15);
      for (const { tool, route } of bound)
        expect(strayArguments(tool, route.schema), tool.name).to.deep.equal([]);
    });

    it('would notice an argument that the route does not read', () => {
      const { tool, route } = bound.find(({ tool: { name } }) => name === 'assign_work_item')!;
      expect(
        strayArguments(
          { ...tool, args: [{ name: 'colour', member: 'colour', required: false, fixed: false }] },
          route.schema,
        ),
      ).to.deep.equal(['colour']);
    });

    it('demands whatever the route demands', () => {
      for (const { tool, route } of bound) {
        const given = Object.fromEntries(
          tool.args
            .filter(({ required, fixed, standard }) => required || fixed || standard !== undefined)
            .map(({ member, standard }) => [member ?? '', standard ?? 'x']),
        );
        const issues = route.schema.body?.safeParse(given).error?.issues ?? [];
        const missing = issues.filter(
          ({ path, message }) =>
            path.length === 1 && !(String(path[0]) in given) && message.includes('undefined'),
        );
        expect(
          missing.map(({ path }) => path[0]),
          tool.name,
        ).to.deep.equal([]);
      }
    });

    it('shows models plain schemas: no references, no null alternatives, whole numbers as numbers', () => {
      const schemas = bound.map(({ tool, route }) => JSON.stringify(inputSchema(tool, route.schema)));
      for (const schema of schemas) expect(schema).not.to.match(/\$ref|\$defs|"null"/);
      const list = bound.find(({ tool }) => tool.name === 'list_work_items')!;
      expect(inputSchema(list.tool, list.route.schema).properties['limit']).to.include({ type: 'integer' });
    });
  });

  it('are offered to an agent as far as some agent may use them', async () => {
    const names = await allNames(await session());
    expect(names).to.include.members([
      'who_am_i',
      'spawn_session',
      'delegate_task',
      'update_work_item',
      'what_next',
      'decide_work_item_approval',
    ]);
    expect(names).not.to.include('list_employees'); // this house keeps no files of people
    expect(names).not.to.include('decide_poll_activation'); // for people
    const operator = await (await box(operatorToken)).names();
    expect(operator).to.include('list_work_items').and.not.include('who_am_i');
  });

  it('tell an agent who it is', async () => {
    const id = await session([], 'ann');
    expect(await (await agent(id)).use('who_am_i')).to.include({ id, employee: 'ann', status: 'idle' });
  });

  it("carry a day of work: create, assign, move, ask for review, be refused one's own verdict", async () => {
    const id = await session([], 'ann');
    const own = await agent(id);
    const { workItem } = await own.use('create_work_item', {
      title: 'Dig a hole',
      assignee: 'ann',
      verifyPolicy: { mode: 'verify' },
    });
    expect(workItem).to.include({ status: 'assigned', createdBy: `session:${id}`, source: 'session' });
    const next = await own.use('what_next', { id: workItem.id });
    expect(next.moves.find(({ status }: { status: string }) => status === 'executing')).to.deep.equal({
      status: 'executing',
      allowed: true,
      noteNeeded: false,
    });
    expect(next.moves.find(({ status }: { status: string }) => status === 'cancelled')).to.include({
      allowed: false,
      code: 'CANCEL_BY_ARCHIVE',
    });
    // It was a list of `deeds`, a word that the glossary does not know
    expect(next.operations).to.deep.include({ operation: 'archive_work_item', allowed: true });
    await own.use('update_work_item', { id: workItem.id, status: 'executing' });
    expect(await own.refusal('update_work_item', { id: workItem.id, status: 'blocked' })).to.match(
      /NOTE_REQUIRED.*\nInstead: Call again with a note/s,
    );
    await own.use('request_work_item_approval', { id: workItem.id, request: 'Is it deep enough?' });
    expect(await own.refusal('decide_work_item_approval', { id: workItem.id, decision: 'approve' })).to.match(
      /OWN_APPROVAL/,
    );
    const manager = await agent(await session([], 'bob'));
    const waiting = await manager.use('list_work_items', { needsAttentionFor: 'me', limit: 5 });
    expect(waiting.workItems.map((item: { id: string }) => item.id)).to.include(workItem.id);
    expect(
      (await manager.use('decide_work_item_approval', { id: workItem.id, decision: 'approve' })).workItem,
    ).to.include({ approvalState: 'approved', approvalDecidedBy: 'bob' });
  });

  it('spawn, read, list, message and stop sessions beneath the caller', async () => {
    const id = await session();
    const own = await agent(id);
    const child = await own.use('spawn_session', { prompt: 'say hello' });
    expect(child).to.include({ parentSessionId: id });
    await poll(
      () => house.operator.get(`/api/sessions/${child.id}`),
      ({ body }) => body.status === 'idle',
    );
    const read = await own.use('read_session', { sessionId: child.id, last: 1 });
    expect(read.messages.map(({ content }: { content: string }) => content)).to.deep.equal([
      'did: say hello',
    ]);
    expect(
      (await own.use('list_child_sessions', { sessionId: id })).map((one: { id: string }) => one.id),
    ).to.deep.equal([child.id]);
    expect(await own.use('send_to_session', { sessionId: child.id, message: 'hang on' })).to.deep.equal({
      status: 'queued',
      sessionId: child.id,
    });
    expect(await own.use('stop_session', { sessionId: child.id, reason: 'enough' })).to.deep.equal({
      status: 'stopped',
      sessionId: child.id,
    });
  });

  it('delegate once per key', async () => {
    const own = await agent(await session());
    const wish = { task: 'Dig', engine: 'pen', idempotencyKey: 'once' };
    const first = await own.use('delegate_task', wish);
    expect(await own.use('delegate_task', wish)).to.include({
      workItemId: first.workItemId,
      sessionId: first.sessionId,
      replayed: true,
    });
    expect(await own.refusal('delegate_task', { ...wish, task: 'Dig deeper' })).to.match(
      /IDEMPOTENCY_CONFLICT.*new idempotencyKey/s,
    );
    const kept = await own.refusal('delegate_task', { task: 'Haunt', engine: 'ghost' });
    expect(kept).to.match(/ENGINE_UNAVAILABLE.*Instead: The work item is kept.*"workItemId":"ACM-/s);
  });

  it('refuse exactly what HTTP refuses, with the same code', async () => {
    const own = await session();
    const other = await session();
    const [tool, http] = [await agent(own), house.agent(own)];
    const item = (await house.operator.post('/api/work-items', { title: 'not yours' })).body.workItem.id;
    const cells: [name: string, args: Record<string, unknown>, asked: Promise<{ body: { code: string } }>][] =
      [
        ['read_session', { sessionId: other }, http.get(`/api/sessions/${other}`)],
        ['stop_session', { sessionId: other }, http.post(`/api/sessions/${other}/stop`)],
        ['stop_session', { sessionId: own }, http.post(`/api/sessions/${own}/stop`)],
        [
          'send_to_session',
          { sessionId: own, message: 'me' },
          http.post(`/api/sessions/${own}/message`, { message: 'me' }),
        ],
        ['read_session', { sessionId: 'nobody' }, http.get('/api/sessions/nobody')],
        ['get_work_item', { id: item }, http.get(`/api/work-items/${item}`)],
        ['what_next', { id: item }, http.get(`/api/work-items/${item}/next`)],
        [
          'assign_work_item',
          { id: item, assignee: 'ann' },
          http.post(`/api/work-items/${item}/assign`, { assignee: 'ann' }),
        ],
        [
          'update_work_item',
          { id: item, status: 'done' },
          http.post(`/api/work-items/${item}/status`, { status: 'done' }),
        ],
        ['archive_work_item', { id: item }, http.post(`/api/work-items/${item}/archive`)],
        [
          'spawn_session',
          { prompt: 'x', engine: 'pencil' },
          http.post('/api/sessions', { prompt: 'x', engine: 'pencil' }),
        ],
        [
          'create_work_item',
          { title: 'x', assignee: 'anne' },
          http.post('/api/work-items', { title: 'x', assignee: 'anne' }),
        ],
      ];
    for (const [name, args, asked] of cells) {
      const { body } = await asked;
      expect(body.code, `${name} over HTTP`).to.be.a('string');
      expect(await tool.refusal(name, args), name).to.match(
        new RegExp(`^Refused \\(${body.code}\\): .*\\nInstead: `, 's'),
      );
    }
  });

  it('name what is wrong with arguments', async () => {
    const own = await agent(await session());
    expect(await own.refusal('get_work_item', {})).to.match(/id is required/);
    expect(await own.refusal('get_work_item', { id: 'x', colour: 'red' })).to.match(
      /no argument "colour"; it takes id/,
    );
    expect(await own.refusal('read_session', { sessionId: { $gt: '' } })).to.match(/must be a string/);
    expect(await own.refusal('create_work_item', { title: 'x', status: 'done' })).to.match(
      /no argument "status"/,
    );
    expect(await own.refusal('create_work_item', { title: 7 })).to.match(/title/);
    expect(await own.refusal('open_the_safe')).to.match(/Unknown tool "open_the_safe"/);
    expect(await own.refusal('read_session', { sessionId: '../../status' })).to.match(/NOT_FOUND/);
    // Of everything that was not found, agents were sent to the lists of work items and sessions.
    expect(await own.refusal('read_session', { sessionId: 'nothing' })).to.match(
      /Instead: Check the name or id with list_sessions\./,
    );
    expect(await own.refusal('get_work_item', { id: 'TRP-999' })).to.match(
      /Instead: Check the name or id with list_work_items\./,
    );
  });
});
