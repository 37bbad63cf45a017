import { expect } from 'chai';
import { bad, fresh, cut, good, inState, message, parent, post, status, outsider, view } from './beings.js';

describe('a session', () => {
  describe('at creation', () => {
    it('rests when it was given nothing to do', () => {
      const life = fresh();
      expect(status(life)).to.equal('idle');
      expect(life.started).to.deep.equal([]);
      expect(life.frames('session:created')).to.have.length(1);
    });

    it('begins its first turn at once when it was given a message', () => {
      const life = fresh({ message: message('m1'), number: 7 });
      expect(status(life)).to.equal('running');
      expect(life.effects.get('turn')?.input).to.deep.include({
        turnId: 's1:1',
        messageIds: ['m1'],
        engine: 'clerk',
        nativeId: null,
        deadlineMs: 60_000,
      });
      expect(life.rows('messages').map(({ n, row }) => [n, (row as { id: string }).id])).to.deep.equal([
        [1, 'm1'],
      ]);
      expect(view(life)).to.deep.include({
        title: '#7 - please m1',
        transportState: 'queued',
        queueDepth: 1,
        attemptToken: 's1:1',
      });
    });

    it('cuts a long first message for its title', () => {
      const life = fresh({ message: message('m1', 'user', 'a'.repeat(50)), number: 1 });
      expect(view(life).title).to.equal(`#1 - ${'a'.repeat(30)}…`);
    });

    it('is in error from the start when its engine is not available, and tells parent and work item', () => {
      const life = fresh({
        message: message('m1'),
        unavailable: { reason: 'no such program' },
        parentSessionId: 'parent-1',
        workItemId: 'TRP-1',
      });
      expect(status(life)).to.equal('error');
      expect(view(life)).to.deep.include({
        lastError: 'no such program',
        attemptOutcome: 'failed',
        queueDepth: 0,
      });
      expect(life.rows('messages').map(({ row }) => (row as { content: string }).content)).to.deep.equal([
        'please m1',
        'Error: no such program',
      ]);
      expect(life.tells('child.finished')).to.have.length(1);
      expect([life.tells('attempt.started').length, life.tells('attempt.ended').length]).to.deep.equal([
        1, 1,
      ]);
    });
  });

  describe('taking up work again', () => {
    const told = (life: ReturnType<typeof fresh>) => life.frames('session:resumed').length;

    for (const state of ['interrupted', 'stopped'] as const) {
      it(`is told of one that was ${state}, before its turn is`, () => {
        const life = inState[state]();
        expect(told(life)).to.equal(0);
        life.send(post('m1'));
        expect(status(life)).to.equal('running');
        const frames = life.wishes.flatMap((wish) =>
          wish.type === 'kernel.publish' && wish.event.startsWith('session:') ? [wish.event] : [],
        );
        expect(frames.slice(-2)).to.deep.equal(['session:resumed', 'session:started']);
      });
    }

    it('is told of one whose turn was cut while more waited', () => {
      const life = inState.running();
      life.send(post('m1', 'callback'));
      life.finish('turn', cut());
      expect([status(life), told(life)]).to.deep.equal(['running', 1]);
    });

    for (const state of ['idle', 'error'] as const) {
      it(`is not told of one in ${state}`, () => {
        const life = inState[state]();
        life.send(post('m1'));
        expect([status(life), told(life)]).to.deep.equal(['running', 0]);
      });
    }

    it('is not told where a turn ended well and the next one waits', () => {
      const life = inState.running();
      life.send(post('m1', 'callback'));
      life.finish('turn', good());
      expect([status(life), told(life)]).to.deep.equal(['running', 0]);
    });
  });

  describe('a turn', () => {
    it('ends in idle with the answer as a message, and is accounted for', () => {
      const life = fresh({ message: message('m1') });
      life.send({ type: 'turn.began', turnId: 's1:1' });
      expect(view(life).transportState).to.equal('running');
      life.finish('turn', good('hello', { usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.25 } }));
      expect(status(life)).to.equal('idle');
      expect(life.rows('messages').at(-1)?.row).to.deep.include({ role: 'assistant', content: 'hello' });
      expect(view(life)).to.deep.include({
        totalTurns: 1,
        totalCost: 0.25,
        attemptOutcome: 'succeeded',
        attemptTerminalVersion: 1,
        lastError: null,
        queueDepth: 0,
        transportState: 'idle',
      });
      expect(view(life).usage).to.deep.equal({ inputTokens: 10, outputTokens: 5, cachedTokens: 0 });
      expect(view(life)).to.include({ lastContextTokens: 15, contextWindow: null });
    });

    // The sums of a turn count the same context as often as it was read
    it('says how full the context is, and of how much as long as that is known', () => {
      const life = fresh({ message: message('m1') });
      const usage = { inputTokens: 900, outputTokens: 50, contextTokens: 300, contextWindow: 1_000 };
      life.finish('turn', good('hello', { usage }));
      expect(view(life)).to.include({ lastContextTokens: 300, contextWindow: 1_000 });
      life.send({ type: 'message.post', message: message('m2') });
      life.finish('turn', good('hello', { usage: { inputTokens: 400, outputTokens: 20 } }));
      expect(view(life)).to.include({ lastContextTokens: 420, contextWindow: null });
    });

    it('ends in error with its reason, as message and as lastError', () => {
      const life = fresh({ message: message('m1') });
      life.finish('turn', bad('no money'));
      expect(status(life)).to.equal('error');
      expect(life.rows('messages').at(-1)?.row).to.deep.include({ content: 'Error: no money' });
      expect(view(life)).to.deep.include({ lastError: 'no money', attemptOutcome: 'failed' });
    });

    it('ends in error when the effect itself breaks', () => {
      const life = fresh({ message: message('m1') });
      life.fail('turn', 'disk on fire');
      expect(status(life)).to.equal('error');
      expect(view(life).lastError).to.equal('disk on fire');
    });

    it("resumes the engine's own session in the next turn", () => {
      const life = fresh({ message: message('m1') });
      life.send({ type: 'turn.native', turnId: 's1:1', nativeId: 'native-7' });
      life.finish('turn', good());
      life.send(post('m2'));
      expect(life.effects.get('turn')?.input).to.deep.include({
        turnId: 's1:2',
        nativeId: 'native-7',
        messageIds: ['m2'],
      });
      expect(view(life).engineSessionId).to.equal('native-7');
    });

    it("takes a patched engine for the next turn, with that engine's own session", () => {
      const life = inState.idle();
      life.send({ type: 'session.patch', engine: 'other', model: 'big' });
      life.send(post('m2'));
      expect(life.effects.get('turn')?.input).to.deep.include({
        engine: 'other',
        model: 'big',
        nativeId: null,
      });
    });
  });

  describe('telling others', () => {
    it('tells the parent and the work item once, when the queue is empty', () => {
      const life = fresh({
        message: message('m1'),
        parentSessionId: 'parent-1',
        workItemId: 'TRP-1',
        interruptOnNewMessage: false,
      });
      life.send(post('m2'));
      life.finish('turn', good('one'));
      expect(life.tells('child.finished')).to.deep.equal([]);
      life.finish('turn', good('two'));
      expect(
        life.tells('child.finished').map(({ to, event }) => [to.id, event['outcome'], event['text']]),
      ).to.deep.equal([['parent-1', 'succeeded', 'two']]);
      expect(life.tells('attempt.started')).to.have.length(1);
      expect(life.tells('attempt.ended').map(({ event }) => event['outcome'])).to.deep.equal(['succeeded']);
      life.send({ type: 'session.stop' });
      expect(life.tells('child.finished')).to.have.length(1);
    });

    it('tells its work item what this piece of work cost, not what the session cost before', () => {
      const life = fresh({ workItemId: 'TRP-1', message: message('m1') });
      life.finish('turn', good('done', { usage: { costUsd: 0.1 } }));
      life.send(post('m2'));
      life.send(post('m3', 'callback'));
      life.finish('turn', good('half', { usage: { costUsd: 0.2 } }));
      life.finish('turn', good('whole', { usage: { costUsd: 0.1 } }));
      life.send(post('m4'));
      life.finish('turn', good('for nothing'));
      expect(life.tells('attempt.ended').map(({ event }) => event['costUsd'])).to.deep.equal([
        0.1,
        0.3,
        undefined,
      ]);
    });

    it('hears of a child as a notification and acts on it', () => {
      const life = inState.idle();
      life.send({
        type: 'child.finished',
        childId: 'c1',
        outcome: 'succeeded',
        title: 'dig',
        text: 'found gold',
        by: { type: 'session', id: 'c1', employee: null, ancestors: ['s1'] },
      });
      expect(status(life)).to.equal('running');
      expect(life.rows('messages').at(-1)?.row).to.deep.include({
        role: 'notification',
        content: 'Session "dig" (c1) succeeded.\n\nfound gold',
      });
      expect(life.frames('session:notification')).to.have.length(1);
    });

    it('keeps the notification but does not wake a session that someone stopped', () => {
      const life = inState.stopped();
      life.send({ type: 'child.finished', childId: 'c1', outcome: 'failed', title: 'dig', text: '' });
      expect(status(life)).to.equal('stopped');
      expect(life.rows('messages').at(-1)?.row).to.deep.include({ role: 'notification' });
    });
  });

  describe('refusals', () => {
    const never: readonly [string, Record<string, unknown> & { type: string }, string][] = [
      [
        'a session that talks to itself',
        { ...post('m2'), by: { type: 'session', id: 's1', employee: 'ann', ancestors: [] } },
        'SELF_MESSAGE',
      ],
      ['an agent that edits the queue', { type: 'queue.clear', by: outsider }, 'FORBIDDEN'],
      ['an agent that patches', { type: 'session.patch', title: 'mine', by: parent }, 'FORBIDDEN'],
      [
        'an agent that reports on a turn',
        { type: 'turn.native', turnId: 's1:1', nativeId: 'x', by: outsider },
        'FORBIDDEN',
      ],
      [
        "an agent that reports on another's end",
        { type: 'child.finished', childId: 'c1', outcome: 'succeeded', title: '', text: '', by: outsider },
        'FORBIDDEN',
      ],
      ['a message without an id', post(''), 'BAD_REQUEST'],
      ['an empty title', { type: 'session.patch', title: ' ' }, 'BAD_REQUEST'],
      ['an event that nobody knows', { type: 'session.explode' }, 'UNKNOWN_EVENT'],
    ];
    for (const state of Object.keys(inState) as (keyof typeof inState)[]) {
      it(`move nothing in ${state}`, () => {
        for (const [what, event, code] of never) {
          const life = inState[state]();
          const before = life.json;
          expect(life.send(event), what).to.include({ code });
          expect(life.json, what).to.equal(before);
        }
      });
    }
  });
});
