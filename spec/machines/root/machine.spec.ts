import { expect } from 'chai';
import { reasonsOf } from '../../../machines/root/machine.js';
import { fresh } from './beings.js';

const fails = (name = 'store', reason = 'the disk is full') => ({ type: 'subsystem.failed', name, reason });
const recovers = (name = 'store') => ({ type: 'subsystem.recovered', name });

const inState = {
  booting: () => fresh(),
  running: () => {
    const root = fresh();
    root.send({ type: 'boot.finished' });
    return root;
  },
  degraded: () => {
    const root = fresh();
    root.send({ type: 'boot.finished' });
    root.send(fails());
    return root;
  },
  draining: () => {
    const root = fresh();
    root.send({ type: 'drain.begin' });
    return root;
  },
  stopped: () => {
    const root = fresh();
    root.send({ type: 'drain.begin' });
    root.send({ type: 'drain.finished' });
    return root;
  },
};

describe('the root system', () => {
  it('boots into running, or into degraded when something failed on the way', () => {
    expect(inState.running().value).to.equal('running');
    const hurt = fresh();
    hurt.send(fails());
    hurt.send({ type: 'boot.finished' });
    expect(hurt.value).to.equal('degraded');
  });

  it('is degraded until the last failing subsystem has recovered, and says why', () => {
    const root = inState.degraded();
    root.send(fails('gateway', 'port taken'));
    expect(reasonsOf(root.snapshot.context)).to.deep.equal([
      'store: the disk is full',
      'gateway: port taken',
    ]);
    root.send(recovers('store'));
    expect(root.value).to.equal('degraded');
    root.send(recovers('gateway'));
    expect([root.value, reasonsOf(root.snapshot.context)]).to.deep.equal(['running', []]);
    expect(
      root.frames('system:status').map(({ payload }) => (payload as { status: string }).status),
    ).to.deep.equal(['running', 'degraded', 'degraded', 'degraded', 'running']);
  });

  it('drains from everywhere and never comes back', () => {
    for (const state of ['booting', 'running', 'degraded'] as const) {
      const root = inState[state]();
      root.send({ type: 'drain.begin' });
      expect(root.value).to.equal('draining');
      for (const event of [{ type: 'boot.finished' }, fails(), recovers(), { type: 'drain.begin' }])
        root.send(event);
      expect(root.value).to.equal('draining');
      root.send({ type: 'drain.finished' });
      expect([root.value, root.snapshot.status]).to.deep.equal(['stopped', 'done']);
    }
  });

  for (const state of Object.keys(inState) as (keyof typeof inState)[]) {
    it(`moves for no unknown event in ${state}`, () => {
      const root = inState[state]();
      const before = root.json;
      const code = state === 'stopped' ? 'CONFLICT' : 'UNKNOWN_EVENT';
      expect(root.send({ type: 'drain.cancel' })).to.include({ code });
      root.step(Object.assign({ at: root.at }, { type: 'drain.cancel' }));
      expect(root.json).to.equal(before);
    });
  }
});
