import { expect } from 'chai';
import type { Kind } from '../../../actors/contracts.js';
import type { EntriesFrame, InspectFrame } from '../../../lib/inspector/frames.js';
import { Channels } from '../../../lib/inspector/watch.js';
import { openHouse, type House } from '../../fixtures/house.js';
import { counterKind } from '../../fixtures/kinds.js';

/** Watches and the channel that they share, on a clock that the spec moves: what is held back is held back until it says so. */
describe('an inspecting watch', () => {
  let house: House;
  let channels: Channels;
  beforeEach(async () => {
    house = await openHouse([counterKind() as unknown as Kind]);
    channels = new Channels(house.supervisor);
    await house.supervisor.spawn('counter', { id: 'c' });
  });
  afterEach(() => house.stop());

  const add = () => house.supervisor.ask('counter', 'c', { type: 'add', n: 1 });
  const begin = (since?: number, filter = {}) => {
    const frames: InspectFrame[] = [];
    const watch = channels.watch(filter, since, { send: (frame) => { frames.push(JSON.parse(String(frame)) as InspectFrame); }, drained: async () => undefined }, (error) => { throw error; });
    const told = () => frames.filter((frame): frame is EntriesFrame => frame.event === 'entries');
    return { watch, frames, told, seqs: () => told().flatMap(({ payload }) => payload.entries.map(({ seq }) => seq)) };
  };
  const from = (first: number, last: number): number[] => Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n);

  it('tells each entry once to whoever joins while others are held back, wherever it stood', async () => {
    const early = begin(0);
    await house.world.settle();
    await add();
    await house.world.advance(1); // told at once: nothing was told for long
    for (let n = 0; n < 4; n += 1) await add(); // held back: ten frames a second
    const head = house.supervisor.inspection.head;
    const late = from(0, head).map((since) => ({ since, ...begin(since) }));
    await house.world.settle();
    await add();
    await house.world.advance(200);
    await add();
    await house.world.advance(200);
    const last = house.supervisor.inspection.head;
    expect(early.seqs()).to.deep.equal(from(1, last));
    for (const { since, seqs, told, watch } of late) {
      expect(seqs(), `since ${since}`).to.deep.equal(from(since + 1, last));
      expect(watch.position).to.equal(last);
      told().forEach(({ payload }, n, all) => expect(payload.from).to.equal(all[n - 1]?.seq ?? since));
    }
    expect(channels.size).to.equal(1);
  });

  it('tells the first after a pause at once and then ten times a second', async () => {
    const { told } = begin();
    await house.world.settle();
    await house.world.advance(1_000);
    for (let tick = 0; tick < 20; tick += 1) {
      await add();
      await house.world.advance(50);
    }
    expect(told().length).to.be.within(10, 11);
    expect(told()[0]?.payload.entries).to.have.length(1);
  });

  // A watch that ended while its channel was being opened once took the channel with it, and the next heard nothing any more.
  it('leaves nothing behind when it ends, also while it is still catching up', async () => {
    for (let n = 0; n < 10; n += 1) await add();
    const stopped = begin(0);
    stopped.watch.stop();
    const running = begin(0);
    await house.world.settle();
    expect(stopped.frames.length).to.equal(0);
    expect(channels.size).to.equal(1);
    running.watch.stop();
    expect(channels.size).to.equal(0);
    const before = running.frames.length;
    await add();
    await house.world.advance(1_000);
    expect(running.frames.length).to.equal(before);
    expect(running.watch.position).to.equal(11);
  });
});
