import { expect } from 'chai';
import {
  authorityIds,
  verdict,
  type AuthorityId,
  type CallerKind,
} from '../../../lib/gateway/authorization.js';
import { openOffice, type Office } from '../records/office.js';
import type { Answer, Client } from './fixture.js';

/** The rows of the authority table that need a home with files: every cell, asked of the real gateway. */
describe('authority over what is kept as files', () => {
  let office: Office;
  before(async () => {
    office = await openOffice({
      'org/build/ann.yaml': 'rank: employee\n',
      'skills/tea/SKILL.md': '---\nname: tea\ndescription: x\n---\n',
      'knowledge/tea.md': 'tea',
    });
  });
  after(() => office.close());

  const skill = { content: '---\nname: tea\ndescription: y\n---\n' };
  const asks: Partial<
    Record<AuthorityId, (client: Client, session: string, file: string) => Promise<Answer>>
  > = {
    'org.read': (client) => client.get('/api/org'),
    'org.edit': (client) => client.call('PATCH', '/api/org/employees/ann', { displayName: 'Ann' }),
    'budget.read': (client) => client.get('/api/org/budgets'),
    'budget.grant': (client) => client.post('/api/org/employees/ann/budget', { usd: 1 }),
    'bundle.read': (client) => client.get('/api/templates'),
    'bundle.import': (client) => client.post('/api/templates/research-team'),
    'org.board.read': (client) => client.get('/api/org/departments/build/board'),
    'org.board.write': (client) => client.call('PUT', '/api/org/departments/build/board', []),
    'skill.list': (client) => client.get('/api/skills'),
    'skill.read': (client) => client.get('/api/skills/tea'),
    'skill.edit': (client) => client.call('PUT', '/api/skills/tea', skill),
    'knowledge.search': (client) => client.get('/api/knowledge/search?q=tea'),
    'knowledge.read': (client) => client.get('/api/knowledge/read?path=knowledge/tea.md'),
    'file.list': (client) => client.get('/api/files'),
    'file.read': (client, _session, file) => client.get(`/api/files/${file}`),
    'file.create': (client) => client.post('/api/files', { content: 'eA==', filename: 'x' }),
    'file.delete': (client, _session, file) => client.call('DELETE', `/api/files/${file}`),
    'file.open': (client, _session, file) => client.post(`/api/files/${file}/open`),
    'session.attach': (client, session) =>
      client.post(`/api/sessions/${session}/attachments`, { content: 'eA==', filename: 'x' }),
  };

  it('asks for every row', () => {
    expect(Object.keys(asks)).to.have.members(
      authorityIds.filter(
        (id) => /^(?:org|budget|bundle|file|skill|knowledge)\./.test(id) || id === 'session.attach',
      ),
    );
  });

  for (const [authority, ask] of Object.entries(asks) as [
    AuthorityId,
    NonNullable<(typeof asks)[AuthorityId]>,
  ][]) {
    it(`${authority} answers as the table says`, async () => {
      const browser = await office.browser();
      const above = await office.agent();
      const self = await office.agent({ parent: above.sessionId });
      const below = await office.agent({ parent: self.sessionId });
      const outsider = await office.agent();
      const callers: Partial<Record<CallerKind, Client>> = {
        none: office.client(),
        bad: office.client({ authorization: 'Bearer bad' }),
        operator: office.operator,
        device: browser,
        self,
        above,
        below,
        outsider,
      };
      for (const [kind, client] of Object.entries(callers) as [CallerKind, Client][]) {
        const file = (await office.operator.post('/api/files', { content: 'eA==', filename: 'x' })).body
          .id as string;
        const answer = await ask(client, self.sessionId, file);
        const judged = verdict(authority, kind);
        if (judged !== 'yes') expect(answer.body.code, kind).to.equal(judged);
        // Opening is switched off here for everybody
        else expect(answer.status, kind).to.be.oneOf(authority === 'file.open' ? [403] : [200, 201]);
      }
    });
  }
});
