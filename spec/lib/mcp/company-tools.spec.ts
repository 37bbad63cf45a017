import { expect } from 'chai';
import { routesOf } from '../../../lib/gateway/routes/index.js';
import { strayArguments } from '../../../lib/mcp/schema.js';
import { tools } from '../../../lib/mcp/tools.js';
import { openOffice, type Office } from '../records/office.js';

/** Tools over what people keep as files: who is there, what is known, what is attached. */
describe('tools of a company', () => {
  let office: Office;
  before(async () => {
    office = await openOffice({
      'org/board/department.yaml': '',
      'org/board/chief.yaml': 'rank: executive\n',
      'org/build/department.yaml': '',
      'org/build/ann.yaml': 'rank: employee\nreportsTo: chief\nengine: pen\n',
      'org/build/ben.yaml': 'rank: senior\nreportsTo: chief\n',
      'skills/digging/SKILL.md': '---\nname: digging\ndescription: How to dig.\n---\nWith a spade.\n',
      'knowledge/soil.md': '# Soil\n\nClay is heavy.\n',
    });
  });
  after(() => office.close());

  it('fill in only what the routes read', () => {
    const gateway = {
      version: '0',
      instance: 'default',
      startedAt: 0,
      authRequired: true,
      networkExposed: false,
      host: '127.0.0.1',
      port: 0,
    };
    const routes = routesOf(gateway, { records: office.records });
    const bound = tools.flatMap((tool) =>
      routes
        .filter(({ method, path }) => method === tool.method && path === tool.path)
        .map((route) => ({ tool, route })),
    );
    for (const { tool, route } of bound)
      expect(strayArguments(tool, route.schema), tool.name).to.deep.equal([]);
    expect(bound.map(({ tool }) => tool.name)).to.include.members([
      'list_employees',
      'find_employees',
      'read_skill',
      'publish_attachment',
    ]);
  });

  it('say who is there, by department, rank and engine', async () => {
    const agent = await office.agent({ employee: 'ann' });
    const use = async (name: string, args: object = {}) => {
      const { body } = await agent.post('/mcp', {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args },
      });
      expect(body.result.isError, body.result.content[0].text).to.equal(undefined);
      return JSON.parse(body.result.content[0].text);
    };
    expect(
      (await use('find_employees', { department: 'build', rank: 'senior' })).map(
        ({ name }: { name: string }) => name,
      ),
    ).to.deep.equal(['ben']);
    expect(await use('get_employee', { name: 'ann' })).to.include({ engine: 'pen', parentName: 'chief' });
    expect((await use('read_skill', { name: 'digging' })).content).to.include('spade');
    expect((await use('list_employees')).hierarchy.root).to.equal('chief');
  });
});
