import { expect } from 'chai';
import type { Kind } from '../../../actors/contracts.js';
import { createPool, type Pool } from '../../../actors/engines/pool.js';
import { workerKind } from '../../../actors/worker/kind.js';
import type { App } from '../../../lib/commands/app.js';
import { followMissedWorkers } from '../../../lib/commands/missed-workers.js';
import { remoteWorkers, type RemoteWorkers } from '../../../lib/worker/remote-workers.js';
import { openHouse, type House } from '../../fixtures/house.js';
import { connect, join, made, offer } from '../../machines/worker/beings.js';

/** A turn that waits for a worker which is away, and no one was told of it. */
describe('followMissedWorkers', () => {
  let house: House;
  let remote: RemoteWorkers;
  let pool: Pool;
  let missed: { close(): void };
  const faults: unknown[] = [];
  const ready = { type: 'ready', pid: 1, startedAt: 1, running: 0, offer } as const;
  const link = { send: () => undefined, close: () => undefined };

  beforeEach(async () => {
    house = await openHouse([workerKind() as unknown as Kind]); // a list of kinds forgets the type of its machine
    const { id, codeHash } = made;
    await house.supervisor.spawn('worker', { id, input: { codeHash } });
    for (const event of [join, connect]) await house.supervisor.ask('worker', id, event, { by: event.by });
    remote = remoteWorkers({ waitMs: 60_000, redact: (value) => value, onFault: () => undefined });
    pool = createPool({ places: remote.places });
    remote.onChange(pool.serve);
    follow();
  });
  afterEach(async () => {
    missed.close();
    expect([...faults, ...house.faults]).to.deep.equal([]);
    await house.stop();
  });
  function follow(): void {
    const workers = { remote, slots: pool.stats, stranded: pool.stranded };
    const app = { supervisor: house.supervisor, workers } as unknown as App;
    missed = followMissedWorkers(app, (error) => void faults.push(error));
  }
  function wait(placement: object, engine = 'claude'): AbortController {
    const waiting = new AbortController();
    const { signal } = waiting;
    const turn = { sessionId: engine, rootId: engine, engine, signal, placement: placement as never };
    pool.take(turn).then(
      (slot) => slot.release(),
      () => undefined,
    );
    return waiting;
  }
  const titles = async () => (await house.supervisor.waiting()).items.map(({ waiting: { title } }) => title);
  const away = 'Worker gpu1 is away, and turns wait for it';

  it('reports one that is away while turns wait for it by name or labels, until it is back', async () => {
    for (const placement of [
      { worker: 'gpu1', labels: [] },
      { worker: null, labels: ['gpu'] },
    ]) {
      const waiting = wait(placement);
      await house.environment.advance(25_000);
      expect(await titles(), 'it may only be starting').to.deep.equal([]);
      await house.environment.advance(25_000);
      expect(await titles()).to.deep.equal([away]);
      remote.connect('gpu1', link, ready, false);
      await house.supervisor.ask('worker', 'gpu1', connect, { by: connect.by });
      expect(await titles(), 'at once').to.deep.equal([]);
      await house.environment.advance(60_000);
      expect(await titles()).to.deep.equal([]);
      remote.disconnect('gpu1', link);
      waiting.abort();
    }
  });

  it('says what it is or lacks, and goes when nothing waits any more, over a restart too', async () => {
    remote.connect('gpu1', link, ready, false);
    const codex = wait({ worker: 'gpu1', labels: [] }, 'codex');
    await house.environment.advance(60_000);
    expect(await titles()).to.deep.equal(['Worker gpu1 has no engine codex, and turns wait for it']);
    remote.disconnect('gpu1', link);
    await house.environment.advance(60_000);
    expect(await titles()).to.deep.equal([away]);
    missed.close();
    await house.restart();
    expect(await titles()).to.deep.equal([away]);
    follow();
    codex.abort();
    await house.environment.advance(20_000);
    expect(await titles()).to.deep.equal([]);
    const { position } = house.supervisor.status;
    await house.environment.advance(600_000);
    expect(house.supervisor.status.position, 'where nothing changes nothing is written').to.equal(position);
  });

  it('reports one that was removed, and none of which a fellow could take the turn', async () => {
    await house.supervisor.ask('worker', 'gpu1', { type: 'worker.remove' });
    wait({ worker: 'gpu1', labels: [] });
    await house.environment.advance(60_000);
    expect(await titles()).to.deep.equal(['Worker gpu1 was removed, and turns wait for it']);
    remote.connect('gpu2', link, ready, false);
    for (const busy of ['a', 'b', 'c', 'd']) pool.hold({ sessionId: busy, engine: 'claude' }, 'gpu2');
    wait({ worker: null, labels: ['gpu'] }, 'claude');
    expect(pool.stranded().length, 'its slots are taken').to.equal(1);
  });
});
