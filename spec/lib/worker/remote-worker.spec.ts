import { expect } from 'chai';
import { RemoteWorker, type RemoteLink } from '../../../lib/worker/remote-worker.js';
import type { RemoteFrame, RemoteReady } from '../../../lib/worker/remote-frames.js';
import type { ToWorker } from '../../../lib/worker/wire.js';

/** The gateway's side of a worker, with hands in place of its sockets. */
describe('a gateway whose worker is away', () => {
  const turnId = 's1:1';
  const side = { post: () => undefined, confine: () => Promise.reject(new Error('Nothing is started.')) };
  const ready = { offer: { engines: ['talk'] } } as unknown as RemoteReady;
  const turn = {
    engine: { name: 'talk' },
    request: { turnId, sessionId: 's1' },
    tokenHash: 'none',
    settleMs: 1,
  } as never;
  const made = (): RemoteWorker =>
    new RemoteWorker({
      name: 'gpu1',
      redact: (value) => value,
      onFault: () => undefined,
      lostAfterMs: 60_000,
      endMs: 1,
      mayLeave: () => true,
    });
  function link(): RemoteLink & { readonly told: readonly ToWorker[] } {
    const told: ToWorker[] = [];
    return { told, send: (frame) => void told.push(frame), close: () => undefined };
  }
  async function begun(worker: RemoteWorker, over: RemoteLink) {
    const beginning = worker.begin(turn, side, new AbortController().signal);
    worker.take(over, { type: 'attached', turnId, isHere: true } as RemoteFrame);
    return beginning;
  }

  // An agent that was stopped while the network was cut worked on for a minute after its worker had come back
  it('says again, when it is back, which turns are given up', async () => {
    const [worker, first, second, third] = [made(), link(), link(), link()];
    worker.connect(first, ready);
    const { take, lost } = await begun(worker, first);
    worker.leave(first);
    take({ type: 'interrupt' });
    expect(await lost).to.equal('The worker gpu1 did not end a turn that was interrupted.');
    expect(first.told).to.not.deep.include({ type: 'drop', turnId });
    worker.connect(second, ready);
    expect(second.told).to.deep.include({ type: 'drop', turnId });
    // that connection may break as well before it arrives
    worker.leave(second);
    worker.connect(third, ready);
    expect(third.told).to.deep.include({ type: 'drop', turnId });
    worker.cut('The spec is over.');
  });

  it('gives up no turn that was begun again', async () => {
    const [worker, first, second] = [made(), link(), link()];
    worker.connect(first, ready);
    await begun(worker, first);
    worker.drop(turnId);
    await begun(worker, first);
    worker.connect(second, ready);
    expect(second.told).to.deep.equal([{ type: 'attach', turnId, after: 0 }]);
    worker.cut('The spec is over.');
  });
});
