import { expect } from 'chai';
import { sessionView, type SessionStatus } from '../../../machines/session/view.js';
import { bad, born, child, cut, good, inState, limited, message, parent, post, stranger } from './beings.js';

type Life = ReturnType<typeof born>;
const view = (life: Life) => sessionView(life.value as SessionStatus, life.snapshot.context);
const prompts = (life: Life): readonly (readonly string[])[] => life.started.map(({ input }) => (input as { messageIds: string[] }).messageIds);

describe('a session', () => {
  describe('at birth', () => {
    it('rests when it was given nothing to do', () => {
      const life = born();
      expect(life.value).to.equal('idle');
      expect(life.started).to.deep.equal([]);
      expect(life.frames('session:created')).to.have.length(1);
    });

    it('begins its first turn at once when it was given a message', () => {
      const life = born({ message: message('m1'), number: 7 });
      expect(life.value).to.equal('running');
      expect(life.effects.get('turn')?.input).to.deep.include({ turnId: 's1:1', messageIds: ['m1'], engine: 'clerk', nativeId: null, deadlineMs: 60_000 });
      expect(life.rows('messages').map(({ n, row }) => [n, (row as { id: string }).id])).to.deep.equal([[1, 'm1']]);
      expect(view(life)).to.deep.include({ title: '#7 - please m1', transportState: 'queued', queueDepth: 1, attemptToken: 's1:1' });
    });

    it('cuts a long first message for its title', () => {
      const life = born({ message: message('m1', 'user', 'a'.repeat(50)), number: 1 });
      expect(view(life).title).to.equal(`#1 - ${'a'.repeat(30)}…`);
    });

    it('is in error from the start when its engine is not available, and tells parent and work item', () => {
      const life = born({ message: message('m1'), unavailable: { reason: 'no such program' }, parentSessionId: 'parent-1', workItemId: 'TRP-1' });
      expect(life.value).to.equal('error');
      expect(view(life)).to.deep.include({ lastError: 'no such program', attemptOutcome: 'failed', queueDepth: 0 });
      expect(life.rows('messages').map(({ row }) => (row as { content: string }).content)).to.deep.equal(['please m1', 'Error: no such program']);
      expect(life.tells('child.finished')).to.have.length(1);
      expect([life.tells('attempt.started').length, life.tells('attempt.ended').length]).to.deep.equal([1, 1]);
    });
  });

  describe('a turn', () => {
    it('ends in idle with the answer as a message, and is accounted for', () => {
      const life = born({ message: message('m1') });
      life.send({ type: 'turn.began', turnId: 's1:1' });
      expect(view(life).transportState).to.equal('running');
      life.finish('turn', good('hello', { usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.25 } }));
      expect(life.value).to.equal('idle');
      expect(life.rows('messages').at(-1)?.row).to.deep.include({ role: 'assistant', content: 'hello' });
      expect(view(life)).to.deep.include({ totalTurns: 1, totalCost: 0.25, attemptOutcome: 'succeeded', attemptTerminalVersion: 1, lastError: null, queueDepth: 0, transportState: 'idle' });
      expect(view(life).usage).to.deep.equal({ inputTokens: 10, outputTokens: 5, cachedTokens: 0 });
    });

    it('ends in error with its reason, as message and as lastError', () => {
      const life = born({ message: message('m1') });
      life.finish('turn', bad('no money'));
      expect(life.value).to.equal('error');
      expect(life.rows('messages').at(-1)?.row).to.deep.include({ content: 'Error: no money' });
      expect(view(life)).to.deep.include({ lastError: 'no money', attemptOutcome: 'failed' });
    });

    it('ends in error when the hand itself breaks', () => {
      const life = born({ message: message('m1') });
      life.fail('turn', 'disk on fire');
      expect(life.value).to.equal('error');
      expect(view(life).lastError).to.equal('disk on fire');
    });

    it('resumes the engine\'s own session in the next turn', () => {
      const life = born({ message: message('m1') });
      life.send({ type: 'turn.native', turnId: 's1:1', nativeId: 'native-7' });
      life.finish('turn', good());
      life.send(post('m2'));
      expect(life.effects.get('turn')?.input).to.deep.include({ turnId: 's1:2', nativeId: 'native-7', messageIds: ['m2'] });
      expect(view(life).engineSessionId).to.equal('native-7');
    });

    it('takes a patched engine for the next turn, with that engine\'s own session', () => {
      const life = inState.idle();
      life.send({ type: 'session.patch', engine: 'other', model: 'big' });
      life.send(post('m2'));
      expect(life.effects.get('turn')?.input).to.deep.include({ engine: 'other', model: 'big', nativeId: null });
    });
  });

  describe('the queue', () => {
    it('keeps messages in order, one turn each, when interrupting is off', () => {
      const life = born({ message: message('m1'), interruptOnNewMessage: false });
      for (const id of ['m2', 'm3']) life.send(post(id));
      expect(view(life).queueDepth).to.equal(3);
      for (let turn = 0; turn < 3; turn += 1) life.finish('turn', good());
      expect(prompts(life)).to.deep.equal([['m1'], ['m2'], ['m3']]);
      expect(life.value).to.equal('idle');
    });

    it('goes on after a failed turn: every accepted message is tried', () => {
      const life = born({ message: message('m1'), interruptOnNewMessage: false });
      life.send(post('m2'));
      life.finish('turn', bad());
      expect(life.value).to.equal('running');
      expect(prompts(life)).to.deep.equal([['m1'], ['m2']]);
    });

    it('interrupts a running user turn for a newer user message, which runs next', () => {
      const life = born({ message: message('m1') });
      life.send(post('m2'));
      expect(life.value).to.equal('running');
      expect(prompts(life)).to.deep.equal([['m1'], ['m2']]);
      expect(life.effects.size).to.equal(1);
      expect(life.rows('queue').filter(({ n }) => n === 1).at(-1)?.row).to.deep.include({ status: 'interrupted' });
      expect(life.frames('session:interrupted')).to.have.length(1);
    });

    it('gives all that people wrote before an interruption to the turn that follows, oldest first', () => {
      const life = born({ message: message('c0', 'callback') });
      for (const id of ['m1', 'm2']) life.send(post(id));
      life.finish('turn', good()); // m1 runs
      life.send(post('m3'));
      expect(prompts(life)).to.deep.equal([['c0'], ['m1'], ['m2', 'm3']]);
    });

    it('hears what an interrupted turn had said, once', () => {
      const life = born({ message: message('m1') });
      life.send(post('m2'));
      for (let again = 0; again < 2; again += 1) life.send({ type: 'turn.partial', turnId: 's1:1', text: 'half a', usage: { costUsd: 1 } });
      expect(life.rows('messages').filter(({ row }) => (row as { partial?: boolean }).partial === true)).to.have.length(1);
      expect(view(life).totalCost).to.equal(1);
    });

    it('lets callbacks and other agents\' messages wait', () => {
      const life = born({ message: message('m1') });
      life.send(post('c1', 'callback'));
      life.send({ ...post('a1', 'agent'), by: stranger });
      life.send({ ...post('u1', 'user'), by: stranger });
      expect(life.started).to.have.length(1);
      expect(view(life).queueDepth).to.equal(4);
    });

    it('lets an ancestor interrupt', () => {
      const life = born({ message: message('m1'), ancestors: ['parent-1', 'top'] });
      life.send({ ...post('m2'), by: parent });
      expect(life.started).to.have.length(2);
    });

    it('answers callbacks in a row with one turn', () => {
      const life = born({ message: message('m1') });
      for (const id of ['c1', 'c2', 'c3']) life.send(post(id, 'callback'));
      life.finish('turn', good());
      expect(prompts(life)).to.deep.equal([['m1'], ['c1', 'c2', 'c3']]);
    });

    it('refuses more than 200 messages and leaves everything as it was', () => {
      const life = born({ message: message('m1'), interruptOnNewMessage: false });
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
      expect(life.value).to.equal('idle');
      life.send({ type: 'queue.resume' });
      expect(life.value).to.equal('running');
    });

    it('cancels a waiting message visibly, and refuses one that runs', () => {
      const life = born({ message: message('m1'), interruptOnNewMessage: false });
      life.send(post('m2'));
      expect(life.send({ type: 'queue.cancel', messageId: 'm1' })).to.include({ code: 'CONFLICT' });
      life.send({ type: 'queue.cancel', messageId: 'm2' });
      expect(life.rows('queue').at(-1)?.row).to.deep.include({ id: 'm2', status: 'cancelled' });
      life.finish('turn', good());
      expect(life.value).to.equal('idle');
    });
  });

  describe('stopping', () => {
    for (const state of Object.keys(inState) as (keyof typeof inState)[]) {
      it(`works from ${state}, and stopping again changes nothing`, () => {
        const life = inState[state]();
        expect(life.send({ type: 'session.stop' })).to.equal(undefined);
        expect(life.value).to.equal('stopped');
        expect(view(life).transportState).to.equal('interrupted');
        expect([life.effects.size, life.timers.size]).to.deep.equal([0, 0]);
        const before = life.json;
        life.send({ type: 'session.stop' });
        expect(life.json).to.equal(before);
      });
    }

    it('cancels what waits and shows it', () => {
      const life = born({ message: message('m1'), interruptOnNewMessage: false });
      life.send(post('m2'));
      life.send({ type: 'session.stop' });
      expect(life.rows('queue').slice(-2).map(({ row }) => (row as { status: string }).status)).to.deep.equal(['interrupted', 'cancelled']);
      expect(view(life)).to.deep.include({ queueDepth: 0, attemptOutcome: 'interrupted' });
    });

    it('is for people and ancestors only', () => {
      const life = born({ message: message('m1'), ancestors: ['parent-1', 'top'] });
      const before = life.json;
      for (const by of [stranger, child, { ...child, id: 's1' }]) expect(life.send({ type: 'session.stop', by })).to.include({ code: 'NOT_DESCENDANT' });
      expect(life.json).to.equal(before);
      expect(life.send({ type: 'session.stop', by: parent })).to.equal(undefined);
    });

    it('does not wake the parent that stopped it', () => {
      const life = born({ message: message('m1'), parentSessionId: 'parent-1', ancestors: ['parent-1'] });
      life.send({ type: 'session.stop', by: parent });
      expect(life.tells('child.finished')).to.deep.equal([]);
    });
  });

  describe('resuming', () => {
    for (const state of ['idle', 'error', 'interrupted', 'stopped'] as const) {
      it(`answers a message in ${state}`, () => {
        const life = inState[state]();
        life.send(post('m9'));
        expect(life.value).to.equal('running');
        expect(prompts(life).at(-1)).to.deep.equal(['m9']);
      });
    }

    it('goes on with the queue after a crash in the middle of a turn', () => {
      const life = born({ message: message('m1'), interruptOnNewMessage: false });
      life.send(post('m2'));
      life.revive();
      life.finish('turn', cut({ text: 'half' })); // what the hand's recover answers
      expect(life.value).to.equal('running');
      expect(prompts(life)).to.deep.equal([['m1'], ['m2']]);
      expect(life.rows('messages').at(-1)?.row).to.deep.include({ content: 'half', partial: true });
    });

    it('stays interrupted with a paused queue beside a process that may still live, and names it', () => {
      const life = born({ message: message('m1'), interruptOnNewMessage: false });
      life.send(post('m2'));
      life.finish('turn', cut({ unconfirmedPid: 4711 }));
      expect(life.value).to.equal('interrupted');
      expect(view(life)).to.deep.include({ queuePaused: true, queueDepth: 1 });
      expect(view(life).lastError).to.include('4711');
      life.send({ type: 'queue.resume' });
      expect(prompts(life).at(-1)).to.deep.equal(['m2']);
    });

    it('pauses even an empty queue beside a process that may still live', () => {
      const life = born({ message: message('m1') });
      life.finish('turn', cut({ unconfirmedPid: 4711 }));
      life.send(post('m2'));
      expect(life.value).to.equal('interrupted');
    });
  });

  describe('a provider\'s limit', () => {
    it('is waited for, and the same message is tried again', () => {
      const life = born({ message: message('m1') });
      life.finish('turn', limited(life.at + 90_000));
      expect(life.value).to.equal('waiting');
      expect(view(life)).to.deep.include({ resetAt: new Date(life.at + 90_000).toISOString(), transportState: 'queued', attemptOutcome: null });
      life.advance(89_999);
      expect(life.value).to.equal('waiting');
      life.advance(1);
      expect(life.value).to.equal('running');
      expect(prompts(life)).to.deep.equal([['m1'], ['m1']]);
    });

    it('that is over at once does not become a hot loop', () => {
      const life = born({ message: message('m1') });
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
      expect(life.value).to.equal('waiting');
      life.send({ type: 'queue.resume' });
      expect(life.value).to.equal('running');
    });

    it('ends quietly when what waited was cancelled, and says so to the work item', () => {
      const life = born({ message: message('m1'), workItemId: 'TRP-1' });
      life.finish('turn', limited(life.at + 60_000));
      life.send({ type: 'queue.clear' });
      expect(life.tells('attempt.ended').map(({ event }) => event['outcome'])).to.deep.equal(['interrupted']);
      life.advance(60_000);
      expect(life.value).to.equal('idle');
    });
  });

  describe('telling others', () => {
    it('tells the parent and the work item once, when the queue is empty', () => {
      const life = born({ message: message('m1'), parentSessionId: 'parent-1', workItemId: 'TRP-1', interruptOnNewMessage: false });
      life.send(post('m2'));
      life.finish('turn', good('one'));
      expect(life.tells('child.finished')).to.deep.equal([]);
      life.finish('turn', good('two'));
      expect(life.tells('child.finished').map(({ to, event }) => [to.id, event['outcome'], event['text']])).to.deep.equal([['parent-1', 'succeeded', 'two']]);
      expect(life.tells('attempt.started')).to.have.length(1);
      expect(life.tells('attempt.ended').map(({ event }) => event['outcome'])).to.deep.equal(['succeeded']);
      life.send({ type: 'session.stop' });
      expect(life.tells('child.finished')).to.have.length(1);
    });

    it('hears of a child as a notification and acts on it', () => {
      const life = inState.idle();
      life.send({ type: 'child.finished', childId: 'c1', outcome: 'succeeded', title: 'dig', text: 'found gold', by: { type: 'session', id: 'c1', employee: null, ancestors: ['s1'] } });
      expect(life.value).to.equal('running');
      expect(life.rows('messages').at(-1)?.row).to.deep.include({ role: 'notification', content: 'Session "dig" (c1) succeeded.\n\nfound gold' });
      expect(life.frames('session:notification')).to.have.length(1);
    });

    it('keeps the notification but does not wake a session that somebody stopped', () => {
      const life = inState.stopped();
      life.send({ type: 'child.finished', childId: 'c1', outcome: 'failed', title: 'dig', text: '' });
      expect(life.value).to.equal('stopped');
      expect(life.rows('messages').at(-1)?.row).to.deep.include({ role: 'notification' });
    });
  });

  describe('refusals', () => {
    const never: readonly [string, Record<string, unknown> & { type: string }, string][] = [
      ['a session that talks to itself', { ...post('m2'), by: { type: 'session', id: 's1', employee: 'ann', ancestors: [] } }, 'SELF_MESSAGE'],
      ['an agent that edits the queue', { type: 'queue.clear', by: stranger }, 'FORBIDDEN'],
      ['an agent that patches', { type: 'session.patch', title: 'mine', by: parent }, 'FORBIDDEN'],
      ['an agent that reports on a turn', { type: 'turn.native', turnId: 's1:1', nativeId: 'x', by: stranger }, 'FORBIDDEN'],
      ['an agent that reports on another\'s end', { type: 'child.finished', childId: 'c1', outcome: 'succeeded', title: '', text: '', by: stranger }, 'FORBIDDEN'],
      ['a message without an id', post(''), 'BAD_REQUEST'],
      ['an empty title', { type: 'session.patch', title: ' ' }, 'BAD_REQUEST'],
      ['an event that nobody knows', { type: 'session.explode' }, 'UNKNOWN_EVENT'],
    ];
    for (const state of Object.keys(inState) as (keyof typeof inState)[]) {
      it(`move nothing in ${state}, asked through the policy or through the guards`, () => {
        for (const [what, event, code] of never) {
          const life = inState[state]();
          const before = life.json;
          expect(life.send(event), what).to.include({ code });
          life.step({ by: { type: 'operator' }, ...event, at: life.at } as { type: string });
          expect(life.json, what).to.equal(before);
        }
      });
    }
  });
});
