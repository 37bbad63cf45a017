import { expect } from 'chai';
import { childKind, counterKind, parentKind } from '../../fixtures/kinds.js';
import { openHouse, rejection, seen, type House } from '../../fixtures/house.js';
import type { ActorKey } from '../../../machines/outputs.js';

describe('durable children', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse([parentKind(), childKind(), counterKind()]);
    await house.supervisor.spawn('parent', { id: 'p' });
  });
  afterEach(() => house.stop());

  const heard = async (): Promise<unknown> => seen(await house.supervisor.get('parent', 'p'))['heard'];
  const kid = async (): Promise<ActorKey> => {
    const entry = (await house.log()).find(({ kind, from }) => kind === 'child' && from === null);
    return { kind: 'child', id: entry?.id ?? '?' };
  };
  const ask = (key: ActorKey, event: { type: string; [member: string]: unknown }) =>
    house.supervisor.ask(key.kind, key.id, event);

  it('are created in the commit of their parent', async () => {
    await house.supervisor.ask('parent', 'p', { type: 'begin' });
    const entries = (await house.log()).slice(1, 3);
    expect(entries.map(({ kind, transaction: tx, last }) => [kind, tx, last])).to.deep.equal([
      ['parent', entries[0]?.position, false],
      ['child', entries[0]?.position, true],
    ]);
    expect(entries[0]?.effects).to.deep.equal(['helper']);
    expect((await house.supervisor.get('child', entries[1]?.id ?? '?'))?.meta.parent).to.deep.equal({
      kind: 'parent',
      id: 'p',
    });
  });

  it('have ids that every caller can write', async () => {
    await house.supervisor.ask('parent', 'p', { type: 'begin' });
    expect((await kid()).id).to.match(/^[A-Za-z0-9._:-]{1,200}$/);
  });

  // A name that was cut to 200 characters was the parent's own id, and the second child's as well.
  it('have ids of their own however long the id of their parent is', async () => {
    const id = 'p'.repeat(200);
    await house.supervisor.spawn('parent', { id });
    for (let n = 0; n < 2; n += 1) {
      expect(await house.supervisor.ask('parent', id, { type: 'begin' })).to.not.have.property('code');
      await house.supervisor.ask('parent', id, { type: 'leave' });
      await house.environment.settle();
    }
    const fresh = (await house.log()).filter(({ kind, revision: rev }) => kind === 'child' && rev === 1);
    expect(new Set(fresh.map((entry) => entry.id)).size).to.equal(2);
    for (const entry of fresh) expect(entry.id).to.match(/^p{156}\.[A-Za-z0-9_-]{43}$/);
  });

  it('are heard by their parent from their first step on', async () => {
    await house.supervisor.ask('parent', 'p', { type: 'begin' });
    await house.environment.settle();
    expect(await heard()).to.deep.equal(['born kid']);
  });

  it('tell their parent their output when they are done', async () => {
    await house.supervisor.ask('parent', 'p', { type: 'begin' });
    await ask(await kid(), { type: 'finish', output: 'all well' });
    await house.environment.settle();
    expect(seen(await house.supervisor.get('parent', 'p'))).to.deep.include({
      state: 'idle',
      heard: ['born kid', 'done {"said":"kid: all well"}'],
    });
  });

  it('tell their parent the error that ended them', async () => {
    await house.supervisor.ask('parent', 'p', { type: 'begin' });
    await ask(await kid(), { type: 'crash' });
    await house.environment.settle();
    expect(seen(await house.supervisor.get('parent', 'p'))).to.deep.include({
      state: 'idle',
      heard: ['born kid', 'failed broke'],
    });
  });

  it('end when their parent leaves the state that invoked them, and their late words move no one', async () => {
    await house.supervisor.ask('parent', 'p', { type: 'begin' });
    const key = await kid();
    await house.supervisor.ask('parent', 'p', { type: 'leave' });
    await house.environment.settle();
    expect(await house.supervisor.get('child', key.id)).to.include({ status: 'done' });
    expect(await ask(key, { type: 'finish', output: 'late' })).to.include({ code: 'CONFLICT' });
    expect(seen(await house.supervisor.get('parent', 'p'))).to.deep.include({
      state: 'idle',
      heard: ['born kid'],
    });
  });

  it('are not ended twice: a stop that comes after the end changes nothing', async () => {
    await house.supervisor.ask('parent', 'p', { type: 'begin' });
    const key = await kid();
    house.store.fail({ mode: 'hold' });
    const both = [
      ask(key, { type: 'finish', output: 'x' }),
      house.supervisor.ask('parent', 'p', { type: 'leave' }),
    ];
    await house.environment.settle();
    house.store.fail(undefined);
    house.store.release();
    await Promise.all(both);
    await house.environment.settle();
    expect(await house.supervisor.get('child', key.id)).to.include({
      status: 'done',
      value: 'finished',
      revision: 2,
    });
    expect(seen(await house.supervisor.get('parent', 'p'))).to.include({ state: 'idle' });
  });

  it('whose late error no one awaits do not break their former parent', async () => {
    await house.supervisor.ask('parent', 'p', { type: 'begin' });
    const key = await kid();
    house.store.fail({ mode: 'hold' });
    const left = house.supervisor.ask('parent', 'p', { type: 'leave' });
    const crashed = ask(key, { type: 'crash' });
    await house.environment.settle();
    house.store.fail(undefined);
    house.store.release();
    await Promise.all([left, crashed]);
    await house.environment.settle();
    expect(await house.supervisor.get('parent', 'p')).to.include({ status: 'active' });
    expect(seen(await house.supervisor.ask('parent', 'p', { type: 'begin' }))).to.include({
      state: 'working',
    });
  });

  it('spawned under a durable name can be told, stopped and heard', async () => {
    await house.supervisor.ask('parent', 'p', { type: 'adopt', name: 'Ada' });
    await house.environment.settle();
    await house.crash();
    await house.supervisor.ask('parent', 'p', { type: 'tell', what: 'hello' });
    await house.environment.settle();
    expect(seen(await house.supervisor.get('child', 'adopted-child'))['told']).to.deep.equal(['hello']);
    await house.supervisor.ask('child', 'adopted-child', { type: 'report', what: 'hi' });
    await house.supervisor.ask('child', 'adopted-child', { type: 'finish', output: 'bye' });
    await house.environment.settle();
    expect(await heard()).to.deep.equal(['born Ada', 'said hi', 'adopted done {"said":"Ada: bye"}']);
    expect(house.faults).to.deep.equal([]);
  });

  it('are refused under a name that a living sibling has', async () => {
    await house.supervisor.ask('parent', 'p', { type: 'adopt', name: 'Ada' });
    expect(
      (await rejection(house.supervisor.ask('parent', 'p', { type: 'adopt', name: 'Eve' }))).message,
    ).to.match(/"adopted" already exists/);
    await house.supervisor.ask('child', 'adopted-child', { type: 'finish', output: 'x' });
    await house.environment.settle();
    expect(await heard()).to.deep.equal(['born Ada', 'adopted done {"said":"Ada: x"}']);
  });

  it('stopped by their parent end, also after a crash', async () => {
    await house.supervisor.ask('parent', 'p', { type: 'adopt', name: 'Ada' });
    await house.crash();
    await house.supervisor.ask('parent', 'p', { type: 'dismiss' });
    await house.environment.settle();
    expect(await house.supervisor.get('child', 'adopted-child')).to.include({ status: 'done' });
  });

  it('never take the place of an actor that lives already', async () => {
    await house.supervisor.spawn('child', { id: 'adopted-child', input: { name: 'first' } });
    await house.supervisor.ask('parent', 'p', { type: 'adopt', name: 'second' }).catch(() => undefined);
    await house.environment.settle();
    expect(seen(await house.supervisor.get('child', 'adopted-child'))).to.include({ name: 'first' });
    expect(seen(await house.supervisor.get('parent', 'p'))).to.include({ name: 'invoked' });
    expect(await house.supervisor.deadLetters()).to.have.length(1);
  });

  it('given to a parent by spawn report to it, and their end does not disturb it', async () => {
    await house.supervisor.spawn('child', {
      id: 'given',
      input: { name: 'Eve' },
      parent: { kind: 'parent', id: 'p' },
    });
    await ask({ kind: 'child', id: 'given' }, { type: 'crash' });
    await house.environment.settle();
    expect(await house.supervisor.get('child', 'given')).to.include({ status: 'error' });
    expect(await house.supervisor.get('parent', 'p')).to.include({ status: 'active' });
    expect(await heard()).to.deep.equal(['born Eve']);
  });

  it('are still awaited after a crash', async () => {
    await house.supervisor.ask('parent', 'p', { type: 'begin' });
    const key = await kid();
    await house.crash();
    await ask(key, { type: 'finish', output: 'after the crash' });
    await house.environment.settle();
    expect(await heard()).to.deep.equal(['born kid', 'done {"said":"kid: after the crash"}']);
  });
});
