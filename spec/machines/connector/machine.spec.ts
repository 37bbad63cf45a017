import { expect } from 'chai';
import { deliveryIdOf } from '../../../lib/client/decision.js';
import { system } from '../../../machines/caller.js';
import { connectorView } from '../../../machines/connector/context.js';
import { connectorWaiting } from '../../../machines/connector/waiting.js';
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
      [1, true], // what did not arrive, or may not have, can still be sent again
    ]);
  });

  describe('asks a person what becomes of a message that', () => {
    const settle = (deliveryId: string, choice: string, extra: Record<string, unknown> = {}) => ({
      type: 'delivery.settle',
      deliveryId,
      choice,
      ...extra,
    });
    /** `one` may have arrived, `two` did not. */
    const undelivered = (): Wire => {
      const wire = open();
      for (const id of ['one', 'two']) wire.send(say(id));
      wire.finish('delivery', { outcome: 'unknown', reason: 'the gateway ended' });
      wire.finish('delivery', { outcome: 'failed', reason: 'no such channel' });
      return wire;
    };
    const waits = (wire: Wire) =>
      connectorWaiting(wire.snapshot.value.link, wire.snapshot.context).map(
        ({ id, what, until }) =>
          `${deliveryIdOf(id)} ${what} ${until === null ? 'until decided' : 'for a day'}`,
      );
    const timersOf = (wire: Wire) =>
      [...wire.timers.values()].flatMap(({ event: { type } }) => (type === 'unsettled.over' ? [type] : []));
    const row = (wire: Wire) => wire.rows('deliveries').at(-1)?.row;
    const texts = (wire: Wire) => {
      const kept = new Map(wire.rows('outbox').map(({ n, row: text }) => [n, text]));
      return [...kept].flatMap(([n, text]) => (text === null ? [] : [n]));
    };

    it('did not arrive, or may not have: each waits for itself, with its text', () => {
      const wire = undelivered();
      expect(waits(wire)).to.deep.equal(['one unknown-delivery until decided', 'two delivery for a day']);
      expect(texts(wire)).to.deep.equal([1, 2]);
      wire.send(say('three'));
      wire.finish('delivery', { outcome: 'sent' });
      expect(waits(wire), 'after another has arrived').to.have.length(2);
    });

    it('has arrived after all, says who said so, and asks no more', () => {
      const wire = undelivered();
      expect(wire.send(settle('one', 'arrived'))).to.equal(undefined);
      expect(row(wire)).to.deep.include({ id: 'one', status: 'sent', reason: null });
      expect(row(wire)).to.have.nested.include({ 'decision.choice': 'arrived', 'decision.by': 'operator' });
      expect([waits(wire), texts(wire)]).to.deep.equal([['two delivery for a day'], [2]]);
      expect(view(wire)).to.deep.include({ sent: 1, failed: 1, unknown: 0 });
    });

    it('is given up: it stays what it was', () => {
      const wire = undelivered();
      wire.send(settle('two', 'give-up'));
      expect(row(wire)).to.deep.include({ id: 'two', status: 'failed', reason: 'no such channel' });
      expect([waits(wire), texts(wire)]).to.deep.equal([['one unknown-delivery until decided'], [1]]);
      expect(view(wire)).to.deep.include({ sent: 0, failed: 1, unknown: 1 });
    });

    // A person who read "did not arrive" would have sent it a third time
    it('may have arrived still may where a second try failed, or was stopped before it', () => {
      const wire = undelivered();
      wire.send(settle('one', 'send-again'));
      wire.finish('delivery', { outcome: 'failed', reason: 'no such channel' });
      expect(waits(wire)).to.include('one unknown-delivery until decided');
      expect(row(wire)).to.deep.include({
        id: 'one',
        status: 'unknown',
        reason: 'Sent again; the first try may have arrived. no such channel',
      });
      wire.send(say('three'));
      wire.send(settle('one', 'send-again'));
      wire.send({ type: 'connector.stop' });
      expect(waits(wire)).to.include('one unknown-delivery until decided');
      expect(view(wire)).to.deep.include({ sent: 0, failed: 1, unknown: 1 });
      expect(view(wire).last, 'as its row says').to.deep.include({
        deliveryId: 'one',
        outcome: 'unknown',
        reason:
          'Sent again; the first try may have arrived. The connector was stopped before this message was sent.',
      });
    });

    // A page that was opened before the second try sent a third copy by a click on the first
    it('was tried again since it was read: what is decided of the try before decides nothing', () => {
      const wire = undelivered();
      const idOf = (deliveryId: string): string =>
        connectorWaiting(wire.snapshot.value.link, wire.snapshot.context).find(
          ({ id }) => deliveryIdOf(id) === deliveryId,
        )?.id ?? '';
      const first = idOf('one');
      expect(wire.send(settle('one', 'send-again', { waitingId: first }))).to.equal(undefined);
      wire.advance(1_000);
      wire.finish('delivery', { outcome: 'unknown', reason: 'the gateway ended again' });
      const before = wire.json;
      for (const choice of ['send-again', 'arrived', 'give-up'])
        expect(wire.send(settle('one', choice, { waitingId: first })), choice).to.include({
          code: 'CONFLICT',
          message: 'It was tried again since you read it. See what came of that, then decide.',
        });
      expect(wire.json).to.equal(before);
      expect(wire.send(settle('one', 'send-again', { waitingId: idOf('one') }))).to.equal(undefined);
      expect(wire.effects.get('delivery')?.input).to.deep.include({ deliveryId: 'one' });
    });

    // Its text stayed for as long as no other message came by
    it('failed and was left: a day later its text goes, whether or not another message comes by', () => {
      const wire = open();
      const fails = (id: string): void => {
        wire.send(say(id));
        wire.finish('delivery', { outcome: 'failed', reason: 'no such channel' });
      };
      fails('one');
      wire.advance(3_600_000);
      fails('two');
      wire.advance(86_400_000 - 3_600_000);
      expect([waits(wire), texts(wire)]).to.deep.equal([['two delivery for a day'], [2]]);
      wire.send(settle('two', 'give-up'));
      expect(timersOf(wire), 'nothing is left to wait for').to.deep.equal([]);
      fails('three');
      wire.send({ type: 'connector.stop' });
      wire.advance(86_400_000);
      expect([waits(wire), texts(wire)], 'also of one that is stopped').to.deep.equal([[], []]);
    });

    it('has its id no second time', () => {
      const wire = undelivered();
      expect(wire.send(say('one'))).to.include({ code: 'CONFLICT' });
      expect(wire.send(say('four'))).to.equal(undefined);
      expect(wire.send(say('four'))).to.include({ code: 'CONFLICT' });
    });

    it('was erased with its session: it waits no more, nor is it sent, and its text goes', () => {
      const wire = undelivered();
      const erase = (id: string) => wire.send(settle(id, 'give-up', { by: system('erasure') }));
      for (const id of ['three', 'four']) wire.send(say(id)); // one on its way, one behind it
      for (const id of ['one', 'two', 'three', 'four']) expect(erase(id), id).to.equal(undefined);
      wire.finish('delivery', { outcome: 'unknown', reason: 'the gateway ended' });
      expect([waits(wire), texts(wire)]).to.deep.equal([[], []]);
      expect(wire.effects.get('delivery')).to.equal(undefined);
      expect(wire.send(settle('four', 'give-up', { by: system('other') }))).to.include({
        code: 'PERSON_REQUIRED',
      });
    });

    it('is sent again under its own id, and once, however many people say so', () => {
      const wire = undelivered();
      wire.send(settle('one', 'send-again'));
      expect(wire.effects.get('delivery')?.input).to.deep.include({
        deliveryId: 'one',
        n: 1,
        channel: '#ops',
      });
      const before = wire.json;
      for (const choice of ['send-again', 'arrived', 'give-up'])
        expect(wire.send(settle('one', choice)), choice).to.include({ code: 'CONFLICT' });
      expect(wire.json).to.equal(before);
      wire.finish('delivery', { outcome: 'sent', messageId: 'm-1' });
      expect(row(wire)).to.deep.include({ id: 'one', status: 'sent', messageId: 'm-1' });
      expect(row(wire)).to.have.nested.include({ 'decision.choice': 'send-again' });
      expect([waits(wire), texts(wire)]).to.deep.equal([['two delivery for a day'], [2]]);
    });

    it('is sent again, which fails: then it is asked again', () => {
      const wire = undelivered();
      wire.send(settle('two', 'send-again'));
      wire.finish('delivery', { outcome: 'failed', reason: 'still no such channel' });
      expect(waits(wire)).to.deep.equal(['one unknown-delivery until decided', 'two delivery for a day']);
      expect(view(wire)).to.deep.include({ sent: 0, failed: 1, unknown: 1 });
    });

    it('is sent again once the link is back; from a stopped connector not at all', () => {
      const wire = undelivered();
      wire.fail('holding', 'reset by peer');
      expect(wire.send(settle('one', 'send-again'))).to.equal(undefined);
      expect(view(wire)).to.deep.include({ queueDepth: 1, sending: false });
      wire.advance(1_000);
      wire.finish('opening', undefined);
      expect(wire.effects.get('delivery')?.input).to.deep.include({ deliveryId: 'one' });
      const stopped = undelivered();
      stopped.send({ type: 'connector.stop' });
      const before = stopped.json;
      expect(stopped.send(settle('one', 'send-again'))).to.include({ code: 'CONNECTOR_UNAVAILABLE' });
      expect(stopped.json).to.equal(before);
      expect(stopped.send(settle('one', 'arrived'))).to.equal(undefined);
    });

    it('refuses agents, programs, what is not known, and that one arrived which did not', () => {
      const wire = undelivered();
      const before = wire.json;
      for (const [event, code] of [
        [settle('one', 'send-again', { by: agent }), 'PERSON_REQUIRED'],
        [settle('one', 'send-again', { by: { type: 'system', part: 'cron' } }), 'PERSON_REQUIRED'],
        [settle('none', 'arrived'), 'CONFLICT'],
        [settle('two', 'arrived'), 'CONFLICT'],
        [settle('one', 'perhaps'), 'BAD_REQUEST'],
      ] as const)
        expect(wire.send(event), JSON.stringify(event)).to.include({ code });
      expect(wire.json).to.equal(before);
    });

    it('keeps the list bounded, and lets go of what failed before what may have arrived', () => {
      const wire = open();
      const send = (id: string, outcome: string): void => {
        wire.send(say(id, { channel: 'c'.repeat(120) }));
        wire.finish('delivery', { outcome, reason: 'r'.repeat(600) });
      };
      send('unknown', 'unknown');
      for (let n = 0; n < 120; n += 1) send(`failed-${n}`, 'failed');
      expect(waits(wire)).to.have.length(100);
      expect(waits(wire).slice(0, 2)).to.deep.equal([
        'unknown unknown-delivery until decided',
        'failed-21 delivery for a day',
      ]);
      expect(texts(wire)).to.have.length(100);
      const rows = wire.rows('deliveries').map(({ row: one }) => one as { id: string; reason: string });
      expect(rows.findLast(({ id }) => id === 'failed-20')?.reason, 'and says so').to.match(
        /^No one decided on it, and 100 newer ones wait: its text is gone\. r+$/,
      );
      expect(wire.json.length).to.be.below(128 * 1024);
      wire.advance(86_400_001);
      send('late', 'failed');
      expect(waits(wire), 'after a day').to.deep.equal([
        'unknown unknown-delivery until decided',
        'late delivery for a day',
      ]);
      expect(texts(wire)).to.have.length(2);
    });
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
        [{ type: 'unsettled.over' }, 'UNKNOWN_EVENT'],
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
