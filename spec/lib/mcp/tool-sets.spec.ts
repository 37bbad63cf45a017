import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toolRoles } from '../../../lib/home/agent-settings.js';
import { stepTool, toolSets } from '../../../lib/mcp/tool-sets.js';
import { tools } from '../../../lib/mcp/tools.js';
import { openEvidence } from '../../../lib/records/evidence/evidence.js';
import { openHouse, roster, type House } from '../gateway/fixture.js';

/**
 * All tools together are more than 30 kB of each request to a model, of which most turns need a tenth. An agent is
 * offered those of its role; it finds the others and calls them all the same.
 */
describe("the tools in an agent's list", () => {
  const employees = [
    ...roster.employees,
    { name: 'ben', rank: 'employee', department: 'build', reportsTo: 'bob', tools: 'manager' as const },
    { name: 'dan', rank: 'employee', department: 'build', reportsTo: 'bob', tools: 'all' as const },
    { name: 'eve', rank: 'employee', department: 'build', reportsTo: 'bob', tools: ['list_cron_jobs'] },
  ];
  const agentTools: Record<(typeof toolRoles)[number], any> = {
    // what a spec sets, the settings see
    employee: 'employee',
    manager: 'manager',
    clerk: 'clerk',
    reviewer: 'reviewer',
  };
  let house: House;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tool-sets-'));
    const evidence = await openEvidence({ standard: folder });
    house = await openHouse({ evidence, roster: () => ({ employees }) });
    Object.assign(house.gateway.app.settings, { agentTools });
  });
  after(async () => {
    await house.close();
    await rm(folder, { recursive: true, force: true });
  });

  let made = 0;
  async function session(
    more: { employee?: string; source?: string; engine?: string } = {},
  ): Promise<string> {
    const id = `s${++made}`;
    const input = {
      engine: 'pen',
      model: null,
      effort: null,
      employee: null,
      parentSessionId: null,
      ancestors: [],
      workItemId: null,
      title: null,
      cwd: house.home,
      source: 'web',
      sourceRef: null,
      interruptOnNewMessage: true,
      turnDeadlineMs: 1000,
      ...more,
    };
    await house.supervisor.spawn('session', { id, input });
    return id;
  }
  const rpc = async (id: string, method: string, params: object = {}, query = '') =>
    (await house.agent(id).post(`/mcp${query}`, { jsonrpc: '2.0', id: 1, method, params })).body.result;
  const listed = async (id: string, query = ''): Promise<{ name: string }[]> =>
    (await rpc(id, 'tools/list', {}, query)).tools;
  const names = async (id: string, query = ''): Promise<string[]> =>
    (await listed(id, query)).map(({ name }) => name);
  const use = async (id: string, name: string, args: object = {}) => {
    const { isError = false, content } = await rpc(id, 'tools/call', { name, arguments: args });
    return { isError, text: content[0].text as string };
  };

  it('are sets of tools that exist, at most twelve with those that find the others', () => {
    const known = tools.map(({ name }) => name);
    for (const role of toolRoles) {
      expect(known, role).to.include.members([...toolSets[role]]);
      expect(new Set(toolSets[role]).size, role).to.equal(toolSets[role].length);
    }
    expect(known).to.include(stepTool);
  });

  it('follow the role, and cost a third of all of them', async () => {
    const ofRole = {
      employee: await session({ employee: 'ann' }),
      manager: await session({ employee: 'bob' }),
      clerk: await session({ engine: 'clerk' }),
      reviewer: await session({ employee: 'bob', source: 'review' }),
    };
    const all = JSON.stringify(await listed(ofRole.employee, '?tools=all'));
    expect(all.length).to.be.greaterThan(25_000);
    for (const [role, id] of Object.entries(ofRole)) {
      const own = await listed(id);
      expect(
        own.map(({ name }) => name),
        role,
      ).to.include.members(['who_am_i', 'find_tools', 'use_tool']);
      expect(own.length, role).to.be.within(6, 12);
      expect(JSON.stringify(own).length, role).to.be.lessThan(all.length / 3);
    }
    expect(await names(ofRole.manager)).to.include('assign_work_item');
    expect(await names(ofRole.employee)).not.to.include('assign_work_item');
    expect(await names(await session())).to.deep.equal(await names(ofRole.employee));
    expect(await names(await session({ employee: 'chief' }))).to.deep.equal(await names(ofRole.manager));
  });

  it('hold the tool that ends a step, in a step', async () => {
    const own = await names(await session({ employee: 'ann', source: 'workflow' }));
    expect(own).to.include(stepTool).and.have.lengthOf.at.most(12);
  });

  it("are what the employee's file or the configuration says instead", async () => {
    expect(await names(await session({ employee: 'ben' }))).to.include('assign_work_item');
    expect(await names(await session({ employee: 'eve' }))).to.deep.equal(['find_tools', 'use_tool']); // no such route here
    const dan = await session({ employee: 'dan' });
    expect(await names(dan)).to.deep.equal(await names(dan, '?tools=all'));
    agentTools.manager = ['what_next', 'read_session'];
    expect(await names(await session({ employee: 'bob' }))).to.deep.equal([
      'read_session',
      'what_next',
      'find_tools',
      'use_tool',
    ]);
    agentTools.manager = 'manager';
  });

  it("are what its engine's settings say before its role, and none at all where they say false", async () => {
    const engineTools = { pen: ['read_session'], quill: false };
    Object.assign(house.gateway.app.settings, { engineTools });
    expect(await names(await session({ employee: 'bob' }))).to.deep.equal([
      'read_session',
      'find_tools',
      'use_tool',
    ]);
    expect(await names(await session({ employee: 'ben' }))).to.include('assign_work_item');
    const silent = await session({ engine: 'quill' });
    expect(await names(silent)).to.deep.equal([]);
    expect((await use(silent, 'who_am_i')).isError).to.equal(false); // a list is no authority
    Object.assign(house.gateway.app.settings, { engineTools: {} });
  });

  it('are all of them for the operator, as clients expect', async () => {
    const { body } = await house.operator.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const own = body.result.tools.map(({ name }: { name: string }) => name);
    expect(own.length).to.be.greaterThan(50);
    expect(own).not.to.include('use_tool');
  });

  it('leave the others to be found by words, with their arguments, and called', async () => {
    const id = await session({ employee: 'ann' });
    const found = JSON.parse((await use(id, 'find_tools', { query: 'spawn sessions' })).text);
    expect(found.tools[0]).to.include({ name: 'spawn_session' });
    expect(found.tools[0].inputSchema.required).to.deep.equal(['prompt']);
    const every = JSON.parse((await use(id, 'find_tools')).text);
    expect(every.more).to.include.members(['spawn_session', 'list_triggers']);
    expect((await use(id, 'find_tools', { query: 7 })).text).to.include('query: must be a string');

    const done = await use(id, 'use_tool', { name: 'spawn_session', arguments: { prompt: 'dig' } });
    expect(JSON.parse(done.text)).to.include({ parentSessionId: id });
    expect((await use(id, 'use_tool', { name: 'list_triggers', arguments: [] })).text).to.include(
      'arguments: must be an object',
    );
    expect((await use(id, 'use_tool', {})).text).to.include('name: must be a string');
  });

  it('reach no further through use_tool than the caller does', async () => {
    const id = await session({ employee: 'ann' });
    const other = await session({ employee: 'cat' });
    expect(await use(id, 'use_tool', { name: 'read_session', arguments: { sessionId: other } })).to.satisfy(
      ({ isError, text }: { isError: boolean; text: string }) =>
        isError && /^Refused \((FORBIDDEN|NOT_FOUND)/.test(text),
    );
    for (const name of ['use_tool', 'find_tools', 'decide_poll_activation', 'open_the_safe'])
      expect((await use(id, 'use_tool', { name })).text).to.match(/Unknown tool/);
    const { more } = JSON.parse((await use(id, 'find_tools')).text);
    expect(more).not.to.include('decide_poll_activation'); // for people
  });
});
