import { expect } from 'chai';
import { fresh } from './beings.js';

const fact = { type: 'fact.recorded', event: 'org:changed', payload: { employee: 'ann' } };
const agent = { type: 'session', id: 's1', employee: null, ancestors: [] } as const;

describe('the home', () => {
  it('tells watchers of a fact and counts it', () => {
    const home = fresh();
    expect(home.send(fact)).to.equal(undefined);
    expect(home.frames('org:changed').map(({ payload }) => payload)).to.deep.equal([{ employee: 'ann' }]);
    expect(home.snapshot.context).to.include({ facts: 1, lastAt: home.at });
  });

  it('hears nothing from agents, nothing nameless, nothing without or with too large a payload', () => {
    const home = fresh();
    const before = home.json;
    expect(home.send({ ...fact, by: agent })).to.include({ code: 'FORBIDDEN' });
    expect(home.send({ ...fact, event: 'constructor' })).to.include({ code: 'BAD_REQUEST' });
    expect(home.send({ type: 'fact.recorded', event: 'org:changed' })).to.include({ code: 'BAD_REQUEST' });
    expect(home.send({ ...fact, payload: 'x'.repeat(9_000) })).to.include({ code: 'BAD_REQUEST' });
    expect(home.send({ type: 'fact.forgotten' })).to.include({ code: 'UNKNOWN_EVENT' });
    expect(home.json).to.equal(before);
  });

  it('notes since when its backups fail, until one is made', () => {
    const home = fresh();
    const failed = { type: 'fact.recorded', event: 'backup:failed', payload: { reason: 'the disk is full' } };
    home.send(failed);
    const since = home.at;
    home.send({ ...failed, payload: { reason: 'x'.repeat(900) } });
    const { backup } = home.snapshot.context;
    expect(backup.failing?.since).to.equal(since);
    expect(backup.failing?.reason).to.have.length(500);
    home.send({ type: 'fact.recorded', event: 'backup:made', payload: {} });
    expect(home.snapshot.context.backup).to.deep.equal({ madeAt: home.at, failing: null });
    const madeAt = home.at;
    home.send(failed);
    home.send({ type: 'fact.recorded', event: 'backup:off', payload: {} });
    expect(home.snapshot.context.backup).to.deep.equal({ madeAt, failing: null });
  });
});
