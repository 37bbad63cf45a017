import { expect } from 'chai';
import { operator } from '../../../machines/caller.js';
import { admitWorker, workerWaiting } from '../../../machines/worker/machine.js';
import { codeHash, connect, fresh, join, joined, made, offer, pairing } from './beings.js';

const agent = { type: 'session', id: 's1', employee: null, ancestors: [] } as const;

describe('a worker of another machine', () => {
  it('joins with its code once', () => {
    const worker = fresh();
    expect(worker.send({ ...join, codeHash: 'd'.repeat(43) })).to.include({ code: 'PAIRING_CODE_INVALID' });
    expect(worker.send(join)).to.equal(undefined);
    expect([worker.value, worker.snapshot.context.codeHash]).to.deep.equal(['serving', null]);
    expect(worker.send(join)).to.include({ code: 'PAIRING_CODE_INVALID' });
  });

  it('is no one when nobody joined within ten minutes', () => {
    const worker = fresh();
    worker.advance(600_000);
    expect(worker.value).to.equal('removed');
    expect(worker.send(join)).to.include({ code: 'PAIRING_CODE_INVALID' });
    expect(worker.send({ type: 'worker.invite', codeHash: 'd'.repeat(43) })).to.equal(undefined);
    expect(worker.send({ ...join, codeHash: 'd'.repeat(43) })).to.equal(undefined);
  });

  it('counts its connections, and has none once it was removed', () => {
    const worker = joined();
    expect(worker.send({ ...connect, tokenHash: 'b'.repeat(64) })).to.include({ code: 'UNAUTHENTICATED' });
    for (const epoch of [1, 2, 3]) {
      expect(worker.send(connect)).to.equal(undefined);
      expect(worker.snapshot.context.epoch).to.equal(epoch);
    }
    worker.send({ type: 'worker.remove' });
    expect(worker.snapshot.context.tokenHash).to.equal(null);
    expect(worker.send(connect)).to.include({ code: 'UNAUTHENTICATED' });
    worker.send({ type: 'worker.invite', codeHash });
    worker.send(join);
    worker.send(connect);
    expect(worker.snapshot.context.epoch, 'an older connection is never younger').to.equal(4);
  });

  it('is drained and taken back', () => {
    const worker = joined();
    expect(worker.send({ type: 'worker.resume' })).to.include({ code: 'CONFLICT' });
    worker.send({ type: 'worker.drain' });
    expect(worker.value).to.equal('draining');
    expect(worker.send(connect)).to.equal(undefined);
    worker.send({ type: 'worker.resume' });
    expect(worker.value).to.equal('serving');
  });

  it('is reported while turns wait that it cannot take, since the first report', () => {
    const worker = joined();
    const missed = (why: string | null) => worker.send({ type: 'worker.missed', why, by: pairing });
    const waits = () => workerWaiting(worker.snapshot.context);
    expect(missed('is away')).to.equal(undefined);
    const [{ since, title } = { since: 0, title: '' }] = waits();
    expect(title).to.equal('Worker gpu1 is away, and turns wait for it');
    worker.advance(5_000);
    missed('is drained');
    expect(waits()[0]).to.include({ since, title: 'Worker gpu1 is drained, and turns wait for it' });
    worker.send(connect);
    expect(waits()).to.deep.equal([]);
    missed('is away');
    missed(null);
    expect(waits()).to.deep.equal([]);
    const wrong = { type: 'worker.missed', by: agent } as const;
    expect(worker.send({ ...wrong, why: 'is away' })).to.include({ code: 'FORBIDDEN' });
    expect(missed('x'.repeat(201))).to.include({ code: 'FORBIDDEN' });
  });

  it('is a matter of people, and says nothing that is not bounded', () => {
    const worker = joined();
    const before = worker.json;
    for (const type of ['worker.drain', 'worker.remove'] as const)
      expect(worker.send({ type, by: agent })).to.include({ code: 'PERSON_REQUIRED' });
    expect(worker.send({ ...connect, by: agent })).to.include({ code: 'UNAUTHENTICATED' });
    expect(worker.send({ type: 'worker.promote' })).to.include({ code: 'UNKNOWN_EVENT' });
    for (const wrong of [
      { slots: 0 },
      { slots: 65 },
      { slots: 1.5 },
      { labels: ['../x'] },
      { labels: Array.from({ length: 17 }, () => 'gpu') },
      { engines: ['a b'] },
      { roots: ['srv'] },
      { work: `/${'x'.repeat(1_024)}` },
      { machine: 7 },
    ])
      expect(
        worker.send({ ...connect, offer: { ...offer, ...wrong } } as never),
        JSON.stringify(wrong),
      ).to.include({
        code: 'BAD_REQUEST',
      });
    expect(worker.json).to.equal(before);
    const whole = { ...made, at: 1, by: operator };
    expect(admitWorker(whole)).to.equal(undefined);
    expect(admitWorker({ ...whole, by: agent })).to.include({ code: 'PERSON_REQUIRED' });
    for (const id of ['worker-0123abcd', 'GPU', 'a/b', '-a', 'x'.repeat(33)])
      expect(admitWorker({ ...whole, id }), id).to.include({ code: 'BAD_REQUEST' });
  });
});
