import { expect } from 'chai';
import { toPromise, waitFor, type AnyActorRef } from 'xstate';
import { counterKind, workerKind } from '../../fixtures/kinds.js';
import { later, openHouse, type House } from '../../fixtures/house.js';

type Counted = { context: { n: number }; status: string; value: string };

describe('a handle', () => {
  let house: House;
  let result: ReturnType<typeof later<string>>;
  beforeEach(async () => {
    result = later<string>();
    house = await openHouse([
      counterKind(),
      workerKind({ guarantee: 'at-least-once', run: () => result.promise }),
    ]);
    await house.supervisor.spawn('counter', { id: 'a' });
    await house.supervisor.spawn('worker', { id: 'w' });
  });
  afterEach(() => house.stop());
  // XState's helpers ask for an ActorRef; of its members they use subscribe and getSnapshot, which is what is
  // proven here.
  const refOf = (kind: string, id: string) => house.supervisor.handle(kind, id) as unknown as AnyActorRef;

  it('sends without ever throwing, whatever becomes of it', async () => {
    const handle = house.supervisor.handle('counter', 'a');
    const { send } = handle;
    send({ type: 'add', n: 2 });
    send({ type: 'add', n: -1 });
    send({ type: 'explode' });
    house.supervisor.handle('counter', 'nobody').send({ type: 'add', n: 1 });
    await house.environment.settle();
    expect((handle.getSnapshot() as Counted).context.n).to.equal(2);
    house.store.fail({ failAt: 1, mode: 'before' });
    send({ type: 'add', n: 1 });
    await house.environment.settle();
    expect((handle.getSnapshot() as Counted).context.n).to.equal(2);
  });

  it('asks like its supervisor', async () => {
    expect(await house.supervisor.handle('counter', 'a').ask({ type: 'add', n: -1 })).to.include({
      code: 'BAD_REQUEST',
    });
  });

  it('works with waitFor', async () => {
    const waiting = waitFor(
      refOf('worker', 'w'),
      (snapshot) =>
        (snapshot as Counted).value === 'idle' &&
        (snapshot as { context: { results: string[] } }).context.results.length > 0,
    );
    await house.supervisor.ask('worker', 'w', { type: 'go', input: null });
    result.resolve('x');
    expect(((await waiting) as { context: unknown }).context).to.deep.include({ results: ['x'] });
  });

  it('works with toPromise: while the actor lives, when it has ended, and when it sleeps', async () => {
    const ending = toPromise(refOf('counter', 'a'));
    await house.supervisor.ask('counter', 'a', { type: 'close' });
    expect(await ending).to.equal(undefined);
    expect(await toPromise(refOf('counter', 'a'))).to.equal(undefined);
    await house.restart();
    expect(await toPromise(refOf('counter', 'a'))).to.equal(undefined);
  });

  it('rejects toPromise with the error that ended the actor', async () => {
    const { childKind } = await import('../../fixtures/kinds.js');
    const other = await openHouse([childKind()]);
    await other.supervisor.spawn('child', { id: 'c' });
    const ending = toPromise(other.supervisor.handle('child', 'c') as unknown as AnyActorRef).then(
      () => 'done',
      (error: unknown) => error,
    );
    await other.supervisor.ask('child', 'c', { type: 'crash' });
    expect(await ending).to.deep.include({ message: 'broke' });
    await other.stop();
  });

  it('keeps the contract of useSyncExternalStore: a stable snapshot, a call per change, none after the end', async () => {
    const handle = house.supervisor.handle('counter', 'a');
    let calls = 0;
    const { unsubscribe } = handle.subscribe(() => {
      calls += 1;
    });
    await house.environment.settle();
    const before = handle.getSnapshot();
    expect(handle.getSnapshot()).to.equal(before);
    calls = 0;
    await handle.ask({ type: 'add', n: 1 });
    expect(calls).to.equal(1);
    expect(handle.getSnapshot()).to.not.equal(before);
    expect((before as Counted).context.n).to.equal(0);
    const after = handle.getSnapshot();
    await handle.ask({ type: 'add', n: -1 });
    expect(handle.getSnapshot()).to.equal(after);
    unsubscribe();
    await handle.ask({ type: 'add', n: 1 });
    expect(calls).to.equal(1);
  });

  it('wakes a sleeping actor for its subscriber and tells it what it found', async () => {
    await house.restart();
    const handle = house.supervisor.handle('counter', 'a');
    expect(handle.getSnapshot()).to.equal(undefined);
    const told: number[] = [];
    handle.subscribe((snapshot) => told.push((snapshot as Counted).context.n));
    await house.environment.settle();
    expect(told).to.deep.equal([0]);
    expect((handle.getSnapshot() as Counted).context.n).to.equal(0);
  });

  it('wakes to the last commit, or a refusal where there is none', async () => {
    await house.restart();
    expect(await house.supervisor.handle('counter', 'a').wake()).to.deep.include({ value: 'open' });
    expect(await house.supervisor.handle('counter', 'nobody').wake()).to.include({ code: 'NOT_FOUND' });
  });
});
