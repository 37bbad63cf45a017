import { expect } from 'chai';
import type { Kind } from '../../../actors/contracts.js';
import type { EntriesFrame, InspectFrame } from '../../../lib/client/inspector-frames.js';
import { openChannel } from '../../../lib/inspector/channel.js';
import { entryOf } from '../../../lib/inspector/entry-of.js';
import { Channels } from '../../../lib/inspector/watch.js';
import { keys } from '../../../lib/store/keys.js';
import { openHouse, type House } from '../../fixtures/house.js';
import { counterKind } from '../../fixtures/kinds.js';

/**
 * Watches and the channel that they share, on a clock that the spec moves: what is held back is held back
 * until it says so.
 */
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
    const watch = channels.watch(
      filter,
      since,
      {
        send: (frame) => {
          frames.push(JSON.parse(String(frame)) as InspectFrame);
        },
        drained: async () => undefined,
      },
      (error) => {
        throw error;
      },
    );
    const told = () => frames.filter((frame): frame is EntriesFrame => frame.event === 'entries');
    return {
      watch,
      frames,
      told,
      seqs: () => told().flatMap(({ payload }) => payload.entries.map(({ seq }) => seq)),
    };
  };
  const from = (first: number, last: number): number[] =>
    Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n);

  it('tells each entry once to the one who joins while others are held back, wherever it stood', async () => {
    const early = begin(0);
    await house.environment.settle();
    await add();
    await house.environment.advance(1); // told at once: nothing was told for long
    for (let n = 0; n < 4; n += 1) await add(); // held back: ten frames a second
    const head = house.supervisor.inspection.head;
    const late = from(0, head).map((since) => ({ since, ...begin(since) }));
    await house.environment.settle();
    await add();
    await house.environment.advance(200);
    await add();
    await house.environment.advance(200);
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
    await house.environment.settle();
    await house.environment.advance(1_000);
    for (let tick = 0; tick < 20; tick += 1) {
      await add();
      await house.environment.advance(50);
    }
    expect(told().length).to.be.within(10, 11);
    expect(told()[0]?.payload.entries).to.have.length(1);
  });

  // Ten watchers of 500 events a second cost the gateway 8 % more per event, most of it by the writes of sockets
  it('tells six times a second where much happens, everything nevertheless', async () => {
    const { told, seqs } = begin();
    await house.environment.settle();
    await house.environment.advance(1_000);
    const before = house.supervisor.inspection.head;
    for (let tick = 0; tick < 25; tick += 1) {
      for (let n = 0; n < 12; n += 1) await add();
      await house.environment.advance(40);
    }
    await house.environment.advance(1_000);
    expect(told().length).to.be.within(6, 8);
    expect(seqs()).to.deep.equal(from(before + 1, house.supervisor.inspection.head));
  });

  // What is shown live is put together from what was written, not read again; history reads.
  it('shows live what history shows, secrets blacked out', async () => {
    const { told } = begin();
    await house.environment.settle();
    const events = [
      { type: 'add', n: 1 },
      { type: 'add', n: 2, apiToken: 'hunter2', note: 'said "token":' },
      { type: 'add', n: 3, inner: [{ Password: 'hunter2', 'api-key': 'hunter2' }] },
      { type: 'add', n: 4, text: 'ä"\\\n\u2028', tokens: 12 },
    ];
    for (const event of events) await house.supervisor.ask('counter', 'c', event);
    await house.supervisor.spawn('counter', { id: 'd', parent: { kind: 'counter', id: 'c' } });
    await house.environment.advance(1_000);
    const live = told().flatMap(({ payload }) => payload.entries);
    const { inspection } = house.supervisor;
    const logged = await inspection.entries((live[0]?.seq ?? 0) - 1, 100);
    expect(live).to.have.length(events.length + 1);
    expect(live).to.deep.equal(JSON.parse(JSON.stringify(logged.map(entryOf))));
    expect(JSON.stringify(live)).to.not.include('hunter2');
  });

  // A watch that ended while its channel was being opened once took the channel with it, and the next heard
  // nothing any more.
  it('leaves nothing behind when it ends, also while it is still catching up', async () => {
    for (let n = 0; n < 10; n += 1) await add();
    const stopped = begin(0);
    stopped.watch.stop();
    const running = begin(0);
    await house.environment.settle();
    expect(stopped.frames.length).to.equal(0);
    expect(channels.size).to.equal(1);
    running.watch.stop();
    expect(channels.size).to.equal(0);
    const before = running.frames.length;
    await add();
    await house.environment.advance(1_000);
    expect(running.frames.length).to.equal(before);
    expect(running.watch.position).to.equal(11);
  });

  // Housekeeping may drop a page of the log between the look at the floor and the read of the page.
  it('says reset, as the log itself does, when what should come next is gone, whatever the floor says', async () => {
    for (let n = 0; n < 10; n += 1) await add();
    const { store, supervisor } = house;
    const { seq, chain } = store.head;
    const gone = from(1, 5).map((at): [string, null] => [keys.log(at), null]);
    await store.write({ first: seq + 1, last: seq, chain, ops: gone });
    const { frames, seqs } = begin(0);
    await house.environment.settle();
    expect(frames.map(({ event }) => event)).to.deep.equal(['hello', 'reset']);
    await add();
    await house.environment.advance(200);
    expect(seqs()).to.deep.equal([12]);
    for await (const entry of supervisor.watch({ since: 0 })) {
      expect(entry.event).to.deep.include({ type: 'reset', head: 12 });
      break;
    }
  });

  // Its creation was told while the channel was being opened, and its parent's tree never heard of it.
  it('knows who is created into its tree while it is opened, however late that is published', async () => {
    const { supervisor } = house;
    // The commit of the creation is durable when the channel opens, and published a moment later
    const inspection = Object.create(supervisor.inspection, {
      head: { value: supervisor.inspection.head + 1 },
    });
    const wrapped = Object.create(supervisor, { inspection: { value: inspection } }) as typeof supervisor;
    const channel = await openChannel(wrapped, { tree: { kind: 'counter', id: 'c' } }, () => undefined);
    const leave = channel.join(() => undefined);
    await supervisor.spawn('counter', { id: 'late', parent: { kind: 'counter', id: 'c' } });
    expect(channel.wants({ kind: 'counter', id: 'late' })).to.equal(true);
    leave();
  });
});
