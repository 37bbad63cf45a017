import { expect } from 'chai';
import { connectorView } from '../../../machines/connector/context.js';
import { fresh, type Wire } from './beings.js';

const view = (wire: Wire) => connectorView(wire.snapshot.value, wire.snapshot.context);
const say = (deliveryId: string, extra: Record<string, unknown> = {}) => ({
  type: 'delivery.request',
  deliveryId,
  channel: '#ops',
  text: `hello ${deliveryId}`,
  thread: null,
  ...extra,
});
const agent = { type: 'session', id: 's1', employee: 'ann', ancestors: [] } as const;
const open = (): Wire => {
  const wire = fresh();
  wire.finish('opening', undefined);
  return wire;
};
const fates = (wire: Wire) =>
  wire.rows('deliveries').map(({ row }) => {
    const { id, status } = row as { id: string; status: string };
    return `${id} ${status}`;
  });

const inState = {
  stopped: () => fresh({ autostart: false }),
  starting: () => fresh(),
  running: open,
  error: () => {
    const wire = fresh();
    wire.fail('opening', 'no route');
    return wire;
  },
};

describe('a connector', () => {
  it('opens its link, runs, and holds it', () => {
    const wire = fresh();
    expect([view(wire).status, wire.effects.get('opening')?.input]).to.deep.equal([
      'starting',
      { name: 'hook', connectorType: 'webhook', mode: 'open' },
    ]);
    wire.finish('opening', undefined);
    expect([view(wire).status, wire.effects.get('holding')?.input]).to.deep.equal([
      'running',
      { name: 'hook', connectorType: 'webhook', mode: 'hold' },
    ]);
  });

  it('tries again after a growing pause when the far side is not there', () => {
    const wire = fresh();
    const pauses: number[] = [];
    for (let n = 0; n < 11; n += 1) {
      wire.fail('opening', 'no route');
      expect(view(wire)).to.deep.include({ status: 'error', detail: 'no route' });
      const due = [...wire.timers.values()][0]?.due ?? 0;
      pauses.push(due - wire.at);
      wire.advance(due - wire.at);
      expect(view(wire).status).to.equal('starting');
    }
    expect(pauses).to.deep.equal(
      [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1000),
    );
  });

  it('forgets failures only after it ran steadily, so that a flapping link is not tried ever faster', () => {
    const wire = inState.error();
    wire.advance(1_000);
    wire.finish('opening', undefined);
    wire.fail('holding', 'reset by peer');
    expect(wire.snapshot.context.failures).to.equal(2);
    wire.advance(2_000);
    wire.finish('opening', undefined);
    wire.advance(60_000);
    expect(wire.snapshot.context.failures).to.equal(0);
  });

  it('stops from everywhere and stays stopped', () => {
    for (const make of Object.values(inState)) {
      const wire = make();
      wire.send({ type: 'connector.stop' });
      expect([view(wire).status, wire.effects.size, wire.timers.size]).to.deep.equal(['stopped', 0, 0]);
      wire.advance(3_600_000);
      expect(view(wire).status).to.equal('stopped');
      wire.send({ type: 'connector.start' });
      expect(view(wire).status).to.equal('starting');
    }
  });

  it('sends one message at a time, in order, and tells the fate of each', () => {
    const wire = open();
    for (const id of ['one', 'two', 'three']) wire.send(say(id));
    expect(wire.effects.get('delivery')?.input).to.deep.include({ deliveryId: 'one', n: 1 });
    wire.finish('delivery', { outcome: 'sent', messageId: 'm-1' });
    wire.finish('delivery', { outcome: 'failed', reason: 'no such channel' });
    wire.fail('delivery', 'the hand broke');
    expect(fates(wire)).to.deep.equal([
      'one queued',
      'two queued',
      'three queued',
      'one sent',
      'two failed',
      'three unknown',
    ]);
    expect(view(wire)).to.deep.include({ sent: 1, failed: 1, unknown: 1, queueDepth: 0, sending: false });
    expect(view(wire).last).to.deep.equal({
      deliveryId: 'three',
      outcome: 'unknown',
      reason: 'the hand broke',
      messageId: null,
    });
    expect(wire.rows('outbox').map(({ n, row }) => [n, row === null])).to.deep.equal([
      [1, false],
      [2, false],
      [3, false],
      [1, true],
      [2, true],
      [3, true],
    ]);
  });

  it('keeps what waits through a break of the link', () => {
    const wire = open();
    for (const id of ['one', 'two']) wire.send(say(id));
    wire.fail('holding', 'reset by peer');
    wire.finish('delivery', { outcome: 'unknown', reason: 'cut' });
    expect([view(wire).queueDepth, view(wire).sending]).to.deep.equal([1, false]);
    wire.revive();
    wire.advance(1_000);
    wire.finish('opening', undefined);
    expect(wire.effects.get('delivery')?.input).to.deep.include({ deliveryId: 'two' });
  });

  it('fails what waits when it is stopped, visibly', () => {
    const wire = open();
    for (const id of ['one', 'two']) wire.send(say(id));
    wire.send({ type: 'connector.stop' });
    expect(fates(wire).at(-1)).to.equal('two failed');
    wire.finish('delivery', { outcome: 'sent' });
    expect(fates(wire).at(-1)).to.equal('one sent');
  });

  it('opens again with a reload', () => {
    const wire = open();
    wire.send({ type: 'connector.reload', employee: 'ann' });
    expect([view(wire).status, view(wire).employee]).to.deep.equal(['starting', 'ann']);
    wire.send({ type: 'connector.reload' });
    expect(wire.started.filter(({ id }) => id === 'opening')).to.have.length(3);
  });

  it('goes on sending through a reload: re-entering one region must not reset the other, which lost the delivery under way', () => {
    const wire = open();
    wire.send(say('one'));
    wire.send({ type: 'connector.reload' });
    expect([view(wire).sending, wire.effects.has('delivery')]).to.deep.equal([true, true]);
    wire.finish('delivery', { outcome: 'sent' });
    expect(fates(wire).at(-1)).to.equal('one sent');
  });

  it('keeps its queue and snapshot bounded', () => {
    const wire = open();
    for (let n = 0; n <= 100; n += 1)
      expect(
        wire.send(say(`d-${n}`.padEnd(64, 'x'), { channel: 'c'.repeat(120), thread: 't'.repeat(120) })),
      ).to.equal(undefined);
    const before = wire.json;
    expect(wire.send(say('more'))).to.include({ code: 'QUEUE_FULL' });
    expect(wire.json).to.equal(before);
    expect(before.length).to.be.below(64 * 1024);
  });

  for (const state of Object.keys(inState) as (keyof typeof inState)[]) {
    it(`refuses agents, malformed messages and unknown events in ${state}, and nothing moves`, () => {
      const never: readonly [Record<string, unknown> & { type: string }, string][] = [
        [{ type: 'connector.stop', by: agent }, 'FORBIDDEN'],
        [{ type: 'connector.reload', by: agent }, 'FORBIDDEN'],
        [{ type: 'link.opened' }, 'UNKNOWN_EVENT'],
        [say('x', { by: agent, facts: { senders: ['ben'] } }), 'FORBIDDEN'],
        [say('x', { text: ' ' }), 'BAD_REQUEST'],
        [say('x', { channel: 'c'.repeat(200) }), 'PAYLOAD_TOO_LARGE'],
        ...(state === 'running'
          ? []
          : [[say('x'), 'CONNECTOR_UNAVAILABLE'] as [Record<string, unknown> & { type: string }, string]]),
      ];
      const wire = inState[state]();
      const before = wire.json;
      for (const [event, code] of never) {
        expect(wire.send(event), code).to.include({ code });
        expect(wire.json, JSON.stringify(event)).to.equal(before);
      }
    });
  }

  it('lets an agent send whose employee lists it', () => {
    expect(open().send(say('x', { by: agent, facts: { senders: ['ann'] } }))).to.equal(undefined);
  });
});
