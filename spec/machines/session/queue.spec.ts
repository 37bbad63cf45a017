import { expect } from 'chai';
import type { Caller } from '../../../machines/caller.js';
import {
  bad,
  fresh,
  child,
  cut,
  good,
  inState,
  limited,
  message,
  parent,
  post,
  prompts,
  status,
  outsider,
  view,
} from './beings.js';

describe('a session and what waits for it', () => {
  describe('the queue', () => {
    it('keeps messages in order, one turn each, when interrupting is off', () => {
      const life = fresh({ message: message('m1'), interruptOnNewMessage: false });
      for (const id of ['m2', 'm3']) life.send(post(id));
      expect(view(life).queueDepth).to.equal(3);
      for (let turn = 0; turn < 3; turn += 1) life.finish('turn', good());
      expect(prompts(life)).to.deep.equal([['m1'], ['m2'], ['m3']]);
      expect(status(life)).to.equal('idle');
    });

    it('goes on after a failed turn: every accepted message is tried', () => {
      const life = fresh({ message: message('m1'), interruptOnNewMessage: false });
      life.send(post('m2'));
      life.finish('turn', bad());
      expect(status(life)).to.equal('running');
      expect(prompts(life)).to.deep.equal([['m1'], ['m2']]);
    });

    it('interrupts a running user turn for a newer user message, which runs next', () => {
      const life = fresh({ message: message('m1') });
      life.send(post('m2'));
      expect(status(life)).to.equal('running');
      expect(prompts(life)).to.deep.equal([['m1'], ['m2']]);
      expect(life.effects.size).to.equal(1);
      expect(
        life
          .rows('queue')
          .filter(({ n }) => n === 1)
          .at(-1)?.row,
      ).to.deep.include({ status: 'interrupted' });
      expect(life.frames('session:interrupted')).to.have.length(1);
    });

    it('gives all that people wrote before an interruption to the turn that follows, oldest first', () => {
      const life = fresh({ message: message('c0', 'callback') });
      for (const id of ['m1', 'm2']) life.send(post(id));
      life.finish('turn', good()); // m1 runs
      life.send(post('m3'));
      expect(prompts(life)).to.deep.equal([['c0'], ['m1'], ['m2', 'm3']]);
    });

    it('hears what an interrupted turn had said, once', () => {
      const life = fresh({ message: message('m1') });
      life.send(post('m2'));
      for (let again = 0; again < 2; again += 1)
        life.send({ type: 'turn.partial', turnId: 's1:1', text: 'half a', usage: { costUsd: 1 } });
      expect(
        life.rows('messages').filter(({ row }) => (row as { partial?: boolean }).partial === true),
      ).to.have.length(1);
      expect(view(life).totalCost).to.equal(1);
    });

    it("lets callbacks and other agents' messages wait", () => {
      const life = fresh({ message: message('m1') });
      life.send(post('c1', 'callback'));
      life.send({ ...post('a1', 'agent'), by: outsider });
      life.send({ ...post('u1', 'user'), by: outsider });
      expect(life.started).to.have.length(1);
      expect(view(life).queueDepth).to.equal(4);
    });

    it('lets an ancestor interrupt', () => {
      const life = fresh({ message: message('m1'), ancestors: ['parent-1', 'top'] });
      life.send({ ...post('m2'), by: parent });
      expect(life.started).to.have.length(2);
    });

    it('answers callbacks in a row with one turn', () => {
      const life = fresh({ message: message('m1') });
      for (const id of ['c1', 'c2', 'c3']) life.send(post(id, 'callback'));
      life.finish('turn', good());
      expect(prompts(life)).to.deep.equal([['m1'], ['c1', 'c2', 'c3']]);
    });

    it('refuses more than 200 messages and leaves everything as it was', () => {
      const life = fresh({ message: message('m1'), interruptOnNewMessage: false });
      for (let n = 2; n <= 200; n += 1) expect(life.send(post(`m${n}`))).to.equal(undefined);
      const before = life.json;
      expect(life.send(post('m201'))).to.include({ code: 'QUEUE_FULL' });
      expect(life.json).to.equal(before);
      expect(before.length).to.be.below(64 * 1024);
    });

    it('waits while it is paused, and goes on when resumed', () => {
      const life = inState.idle();
      life.send({ type: 'queue.pause' });
      life.send(post('m2'));
      expect(status(life)).to.equal('idle');
      life.send({ type: 'queue.resume' });
      expect(status(life)).to.equal('running');
    });

    const ids = (life: ReturnType<typeof fresh>) =>
      (life.snapshot.context as { queue: readonly { id: string }[] }).queue.map(({ id }) => id);

    it('lets a person move what waits, and takes it in that order', () => {
      const life = fresh({ message: message('m1'), interruptOnNewMessage: false });
      for (const id of ['m2', 'm3', 'm4']) life.send(post(id));
      const { length } = life.frames('queue:updated');
      expect(life.send({ type: 'queue.move', messageId: 'm4', place: 1 })).to.equal(undefined);
      expect(ids(life)).to.deep.equal(['m4', 'm2', 'm3']);
      expect(life.frames('queue:updated')).to.have.length(length + 1);
      life.send({ type: 'queue.move', messageId: 'm4', place: 200 }); // behind the end is the end
      life.send({ type: 'queue.move', messageId: 'm3', place: 1 });
      life.revive();
      life.finish('turn', cut());
      for (let turn = 0; turn < 3; turn += 1) life.finish('turn', good());
      expect(prompts(life)).to.deep.equal([['m1'], ['m3'], ['m2'], ['m4']]);
      expect(status(life)).to.equal('idle');
    });

    it('moves nothing that is not queued, to no place that is none, and for no agent', () => {
      const life = fresh({ message: message('m1'), interruptOnNewMessage: false });
      for (const id of ['m2', 'm3']) life.send(post(id));
      const before = life.json;
      const move = (messageId: string, place: unknown, by?: Caller) =>
        life.send({ type: 'queue.move', messageId, place, ...(by && { by }) });
      expect(move('m1', 1), 'it runs').to.include({ code: 'CONFLICT' });
      expect(move('gone', 1)).to.include({ code: 'CONFLICT' });
      for (const place of [0, -1, 1.5, '1', null, undefined, NaN])
        expect(move('m3', place), String(place)).to.include({ code: 'BAD_REQUEST' });
      expect(move('m3', 1, outsider)).to.include({ code: 'FORBIDDEN' });
      expect(move('m3', 2), 'it stands there').to.equal(undefined);
      expect(life.json).to.equal(before);
    });

    // what shares a turn does so by standing behind the one before it
    it('parts those that share a turn where another is put between them, and lets no other join them', () => {
      const life = fresh({ message: message('m1') });
      for (const id of ['c1', 'c2', 'c3', 'c4']) life.send(post(id, 'callback'));
      life.send({ ...post('a1', 'agent'), by: outsider });
      life.send({ type: 'queue.move', messageId: 'a1', place: 3 });
      life.send({ type: 'queue.move', messageId: 'c2', place: 1 });
      expect(ids(life)).to.deep.equal(['c2', 'c1', 'a1', 'c3', 'c4']);
      for (let turn = 0; turn < 4; turn += 1) life.finish('turn', good());
      expect(prompts(life)).to.deep.equal([['m1'], ['c2', 'c1'], ['a1'], ['c3', 'c4']]);
    });

    it('cancels a waiting message visibly, and refuses one that runs', () => {
      const life = fresh({ message: message('m1'), interruptOnNewMessage: false });
      life.send(post('m2'));
      expect(life.send({ type: 'queue.cancel', messageId: 'm1' })).to.include({ code: 'CONFLICT' });
      life.send({ type: 'queue.cancel', messageId: 'm2' });
      expect(life.rows('queue').at(-1)?.row).to.deep.include({ id: 'm2', status: 'cancelled' });
      life.finish('turn', good());
      expect(status(life)).to.equal('idle');
    });
  });

  describe('stopping', () => {
    for (const state of Object.keys(inState) as (keyof typeof inState)[]) {
      it(`works from ${state}, and stopping again changes nothing`, () => {
        const life = inState[state]();
        expect(life.send({ type: 'session.stop' })).to.equal(undefined);
        expect(status(life)).to.equal('stopped');
        expect(view(life).transportState).to.equal('interrupted');
        expect([life.effects.size, life.timers.size]).to.deep.equal([0, 0]);
        const before = life.json;
        life.send({ type: 'session.stop' });
        expect(life.json).to.equal(before);
      });
    }

    it('cancels what waits and shows it', () => {
      const life = fresh({ message: message('m1'), interruptOnNewMessage: false });
      life.send(post('m2'));
      life.send({ type: 'session.stop' });
      expect(
        life
          .rows('queue')
          .slice(-2)
          .map(({ row }) => (row as { status: string }).status),
      ).to.deep.equal(['interrupted', 'cancelled']);
      expect(view(life)).to.deep.include({ queueDepth: 0, attemptOutcome: 'interrupted' });
    });

    it('is for people and ancestors only', () => {
      const life = fresh({ message: message('m1'), ancestors: ['parent-1', 'top'] });
      const before = life.json;
      for (const by of [outsider, child, { ...child, id: 's1' }])
        expect(life.send({ type: 'session.stop', by })).to.include({ code: 'NOT_DESCENDANT' });
      expect(life.json).to.equal(before);
      expect(life.send({ type: 'session.stop', by: parent })).to.equal(undefined);
    });

    it('does not wake the parent that stopped it', () => {
      const life = fresh({ message: message('m1'), parentSessionId: 'parent-1', ancestors: ['parent-1'] });
      life.send({ type: 'session.stop', by: parent });
      expect(life.tells('child.finished')).to.deep.equal([]);
    });
  });

  describe('resuming', () => {
    for (const state of ['idle', 'error', 'interrupted', 'stopped'] as const) {
      it(`answers a message in ${state}`, () => {
        const life = inState[state]();
        life.send(post('m9'));
        expect(status(life)).to.equal('running');
        expect(prompts(life).at(-1)).to.deep.equal(['m9']);
      });
    }

    it('goes on with the queue after a crash in the middle of a turn', () => {
      const life = fresh({ message: message('m1'), interruptOnNewMessage: false });
      life.send(post('m2'));
      life.revive();
      life.finish('turn', cut({ text: 'half' })); // what the hand's recover answers
      expect(status(life)).to.equal('running');
      expect(prompts(life)).to.deep.equal([['m1'], ['m2']]);
      expect(life.rows('messages').at(-1)?.row).to.deep.include({ content: 'half', partial: true });
    });

    it('stays interrupted with a paused queue beside a process that may still live, and names it', () => {
      const life = fresh({ message: message('m1'), interruptOnNewMessage: false });
      life.send(post('m2'));
      life.finish('turn', cut({ unconfirmedPid: 4711 }));
      expect(status(life)).to.equal('interrupted');
      expect(view(life)).to.deep.include({ queuePaused: true, queueDepth: 1 });
      expect(view(life).lastError).to.include('4711');
      life.send({ type: 'queue.resume' });
      expect(prompts(life).at(-1)).to.deep.equal(['m2']);
    });

    it('does so whatever the turn came to: a limit or a success must not begin the next turn beside that process', () => {
      for (const outcome of [
        good('done', { unconfirmedPid: 4711 }),
        { ...limited(), unconfirmedPid: 4711 },
        { ...bad('it broke'), unconfirmedPid: 4711 },
      ]) {
        const life = fresh({ message: message('m1'), interruptOnNewMessage: false });
        life.send(post('m2'));
        life.finish('turn', outcome);
        expect([status(life), life.effects.size, life.timers.size]).to.deep.equal(['interrupted', 0, 0]);
        expect(view(life).lastError).to.include('4711');
      }
    });

    it('pauses even an empty queue beside a process that may still live', () => {
      const life = fresh({ message: message('m1') });
      life.finish('turn', cut({ unconfirmedPid: 4711 }));
      life.send(post('m2'));
      expect(status(life)).to.equal('interrupted');
    });
  });

  describe("a provider's limit", () => {
    it('is waited for, and the same message is tried again', () => {
      const life = fresh({ message: message('m1') });
      life.finish('turn', limited(life.at + 90_000));
      expect(status(life)).to.equal('waiting');
      expect(view(life)).to.deep.include({
        resetAt: new Date(life.at + 90_000).toISOString(),
        transportState: 'queued',
        attemptOutcome: null,
      });
      life.advance(89_999);
      expect(status(life)).to.equal('waiting');
      life.advance(1);
      expect(status(life)).to.equal('running');
      expect(prompts(life)).to.deep.equal([['m1'], ['m1']]);
    });

    it('that is over at once does not become a hot loop', () => {
      const life = fresh({ message: message('m1') });
      const pauses: number[] = [];
      for (let n = 0; n < 5; n += 1) {
        life.finish('turn', limited(life.at));
        const due = [...life.timers.values()][0]?.due ?? 0;
        pauses.push(due - life.at);
        life.advance(due - life.at);
      }
      expect(pauses).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000]);
    });

    it('lets messages wait, and a person try at once', () => {
      const life = inState.waiting();
      life.send(post('m2'));
      expect(status(life)).to.equal('waiting');
      life.send({ type: 'queue.resume' });
      expect(status(life)).to.equal('running');
    });

    it('ends quietly when what waited was cancelled, and says so to the work item', () => {
      const life = fresh({ message: message('m1'), workItemId: 'TRP-1' });
      life.finish('turn', limited(life.at + 60_000));
      life.send({ type: 'queue.clear' });
      expect(life.tells('attempt.ended').map(({ event }) => event['outcome'])).to.deep.equal(['interrupted']);
      life.advance(60_000);
      expect(status(life)).to.equal('idle');
    });
  });
});
