import { expect } from 'chai';
import type { Caller } from '../../../machines/caller.js';
import type { PollContext } from '../../../machines/poll/context.js';
import { fresh, contract } from './beings.js';

const agent: Caller = { type: 'session', id: 's', ancestors: [], employee: 'ann' };
const approve = { type: 'activation.decide', decision: 'approve' };
const reject = { type: 'activation.decide', decision: 'reject' };

describe('a poll', () => {
  const context = (life: ReturnType<typeof fresh>): PollContext => life.snapshot.context as PollContext;
  const active = (): ReturnType<typeof fresh> => {
    const life = fresh();
    expect(life.send(approve)).to.equal(undefined);
    return life;
  };

  it('looks at nothing before a person approved, no matter who else asks', () => {
    const life = fresh();
    for (const event of [approve, reject, { type: 'activation.escalate' }, { type: 'binding.delete' }])
      expect(life.send({ ...event, by: agent })?.code, event.type).to.equal('PERSON_REQUIRED');
    expect(life.send({ ...approve, contractHash: 'another' })?.code).to.equal('CONFLICT');
    life.advance(86_400_000);
    expect([life.value, life.started.length]).to.deep.equal(['pending', 0]);
    life.send({ ...approve, contractHash: 'first' });
    expect(life.started.map(({ src, input }) => [src, input])).to.deep.equal([
      ['check', { name: 'mail', contract: contract(), contractHash: 'first' }],
    ]);
  });

  it('looks again an interval after a look has ended, never while one goes on', () => {
    const life = active();
    life.advance(3_600_000);
    expect(life.started).to.have.length(1);
    life.finish('check', { outcome: 'no-fire' });
    life.advance(59_999);
    expect(life.started).to.have.length(1);
    life.advance(1);
    expect(life.started).to.have.length(2);
  });

  it('waits twice as long after each failure in a row, at most an hour, and as ever after the next look that went well', () => {
    const life = active();
    const pauses: number[] = [];
    for (let n = 0; n < 8; n += 1) {
      life.finish('check', { outcome: 'nonzero', reason: 'It ended with 1: ' });
      const before = life.at;
      life.wait();
      pauses.push((life.at - before) / 60_000);
    }
    expect(pauses).to.deep.equal([2, 4, 8, 16, 32, 60, 60, 60]);
    expect(context(life)).to.include({ failures: 8, lastOutcome: 'nonzero' });
    life.fail('check', 'the hand broke');
    expect(context(life)).to.include({ failures: 9, lastOutcome: 'error', lastReason: 'the hand broke' });
    life.wait();
    life.finish('check', { outcome: 'no-output' });
    const before = life.at;
    life.wait();
    expect([life.at - before, context(life).failures]).to.deep.equal([60_000, 0]);
  });

  it('looks once a day where that was approved, also after a failure: the hour is the most that a failure adds, not the least that is waited', () => {
    const life = fresh({ contract: { ...contract(), intervalSeconds: 86_400 } });
    life.send(approve);
    for (const outcome of ['no-fire', 'nonzero']) {
      life.finish('check', { outcome });
      const before = life.at;
      life.wait();
      expect(life.at - before, outcome).to.equal(86_400_000);
    }
  });

  it('keeps what a look found until its run was started, with the same name at every try, over a crash', () => {
    const life = active();
    life.finish('check', { outcome: 'fire', payload: { from: 'you' } });
    const wanted = {
      name: 'mail',
      createdBy: 'operator',
      event: 'mail',
      targetWorkflowId: 'sort',
      filter: [],
      occurrence: { payload: { from: 'you' }, fireRef: null, ref: 'mail@1#1' },
    };
    for (let n = 0; n < 3; n += 1) {
      expect(life.effects.get('fire')?.input).to.deep.equal(wanted);
      life.revive();
      life.fail('fire', 'the store is away');
      life.wait();
    }
    life.finish('fire', { outcome: 'fired', runId: 'run-1' });
    expect(context(life)).to.include({
      fired: 1,
      lastRunId: 'run-1',
      lastOutcome: 'fired',
      failures: 0,
      occurrence: null,
      tries: 0,
    });
    life.wait();
    life.finish('check', { outcome: 'fire', payload: {} });
    expect(
      (life.effects.get('fire')?.input as typeof wanted | undefined)?.occurrence.ref,
      'another look, another name',
    ).to.equal('mail@1#2');
  });

  it('gives an occurrence up after six tries, and says so', () => {
    const life = active();
    life.finish('check', { outcome: 'fire' });
    for (let n = 0; n < 6; n += 1) {
      life.fail('fire', 'no way');
      if (n < 5) life.wait();
    }
    expect(context(life)).to.include({
      lastOutcome: 'error',
      lastReason: 'no way',
      failures: 1,
      occurrence: null,
      tries: 0,
    });
    expect(life.effects.size).to.equal(0);
  });

  it('leaves the look that goes on when it is rejected or taken away', () => {
    for (const [event, state] of [
      [reject, 'disabled'],
      [{ type: 'binding.delete' }, 'deleted'],
    ] as const) {
      const life = active();
      expect(life.send(event)).to.equal(undefined);
      expect([life.value, life.effects.size, life.timers.size]).to.deep.equal([state, 0, 0]);
      life.advance(86_400_000);
      expect(life.started, 'and never looks again').to.have.length(1);
    }
  });

  it('asks again for another contract, and runs that one only', () => {
    const life = active();
    const measured = { contract: contract('b'.repeat(64)), contractHash: 'second' };
    life.finish('check', { outcome: 'revoked', reason: 'A file has changed.', measured });
    expect(life.value).to.equal('pending');
    expect(context(life).approval).to.include({ decision: null, decidedBy: null });
    expect(life.send({ ...approve, contractHash: 'first' })?.code).to.equal('CONFLICT');
    life.send({ ...approve, contractHash: 'second' });
    expect(life.effects.get('check')?.input).to.deep.equal({ name: 'mail', ...measured });
  });
});
