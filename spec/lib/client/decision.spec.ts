import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { choicesOf, decisionRequest, refusalIn, wordsOf, type Choice } from '../../../lib/client/decision.js';

/** The one table by which every client decides what waits. */
describe('a decision on what waits', () => {
  const things = [
    { what: 'permission', id: 's/1', waitingId: 's/1:1:p1' },
    { what: 'approval', id: 'ACM-1', waitingId: 'approval' },
    { what: 'gate', id: 'run1', waitingId: 'go', within: 'deploy' },
    { what: 'activation', id: 'mail', waitingId: 'a1b2' },
    { what: 'version', id: 'deploy', waitingId: '3' },
    { what: 'budget', id: 'ann', waitingId: 'month' },
    { what: 'connector', id: 'team', waitingId: 'link' },
    { what: 'notification', id: 'phone', waitingId: 'failing' },
    { what: 'delivery', id: 'team', waitingId: 'd/1' },
    { what: 'unknown-delivery', id: 'team', waitingId: 'd/2~1700000000000' },
  ] as const;

  it('names the try of a message that it is of: a later one is another thing', () => {
    const thing = { what: 'unknown-delivery', id: 'team', waitingId: 'd~1~1700000000000' };
    expect(decisionRequest(thing, 'again')).to.deep.equal({
      path: '/api/connectors/team/deliveries/d~1/settle',
      body: { choice: 'send-again', waitingId: 'd~1~1700000000000' },
    });
  });

  it('is posted to a route that the gateway has', () => {
    const api = readFileSync(new URL('../../../../lib/client/api.ts', import.meta.url), 'utf8');
    const routes = [...api.matchAll(/^\s+"(\/api\/[^"]+)": \{/gm)].map(
      ([, path = '']) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    );
    expect(routes.length).to.be.greaterThan(100);
    for (const thing of things)
      for (const choice of choicesOf(thing)) {
        const { path = '' } = decisionRequest(thing, choice, { usd: 5 }) ?? {};
        expect(
          routes.some((route) => route.test(path)),
          `${thing.what} ${choice}: ${path}`,
        ).to.equal(true);
      }
  });

  it('carries what was listed, a note where there is one, and the rule that is kept', () => {
    const [permission, approval, gate, activation, version, budget] = things;
    expect(decisionRequest(permission, 'approve', { always: true, note: '' })?.body).to.deep.equal({
      decision: 'allow',
      always: true,
    });
    expect(decisionRequest(permission, 'approve', { always: 'Bash(git *)' })?.body).to.include({
      rule: 'Bash(git *)',
    });
    expect(decisionRequest(permission, 'reject', { note: 'no' })?.body).to.deep.equal({
      decision: 'deny',
      note: 'no',
    });
    expect(decisionRequest(approval, 'escalate', { note: 'why' })?.body).to.deep.equal({ reason: 'why' });
    expect(decisionRequest(gate, 'approve')?.body).to.include({ gateKey: 'go' });
    expect(decisionRequest(activation, 'approve')?.body).to.include({ activationContractHash: 'a1b2' });
    expect(decisionRequest(version, 'approve')?.body).to.deep.include({
      versions: [{ workflowId: 'deploy', version: 3 }],
    });
    expect(decisionRequest(budget, 'approve'), 'without a sum').to.equal(undefined);
  });

  it('is none for what waits for something else', () => {
    for (const choice of ['approve', 'reject', 'escalate'] satisfies Choice[])
      expect(decisionRequest({ what: 'backup', id: 'home', waitingId: 'b' }, choice)).to.equal(undefined);
    expect(decisionRequest(things[0], 'escalate')).to.equal(undefined);
    expect(
      decisionRequest({ what: 'delivery', id: 'team', waitingId: 'd' }, 'approve'),
      'it did not',
    ).to.equal(undefined);
    expect(wordsOf({ what: 'permission' }, 'reject')).to.deep.equal(['Deny', 'Denied']);
  });

  // Of versions a refusal came as a success, and the inspector showed nothing
  it('is refused where the answer says so of one of many', () => {
    expect(refusalIn({ outcomes: [{ workflowId: 'a' }, { code: 'CONFLICT', error: 'Too late.' }] })).to.equal(
      'Too late.',
    );
    expect(refusalIn({ id: 's1' })).to.equal(undefined);
  });
});
