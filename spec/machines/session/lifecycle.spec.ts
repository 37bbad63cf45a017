import { expect } from 'chai';
import { sessionIndex } from '../../../machines/session/view.js';
import { type Session, fresh, child, good, inState, message, parent, post, status, view } from './beings.js';

/** What people do with a whole session. */
describe('a session at rest', () => {
  const indexes = (life: Session) =>
    sessionIndex(status(life), life.snapshot.context).map(({ index }) => index);

  for (const [state, make] of Object.entries(inState)) {
    const works = ['running', 'waiting'].includes(state);
    it(`${works ? 'cannot be' : 'is'} archived and deleted while ${state}`, () => {
      for (const type of ['session.archive', 'session.delete'])
        expect(make().send({ type })?.code, type).to.equal(works ? 'CONFLICT' : undefined);
    });
  }

  it('says in its refusal what it is at, and what to do first', () => {
    const refusal = inState.running().send({ type: 'session.archive' });
    expect(refusal).to.include({
      code: 'CONFLICT',
      message:
        'The session x cannot be archived while it is running; it can while it is idle, error, interrupted or ' +
        'stopped. Stop it first.',
    });
    expect(refusal?.details).to.deep.include({
      sessionId: 's1',
      state: 'running',
      states: ['resting.idle', 'resting.error', 'resting.interrupted', 'resting.stopped'],
    });
    expect(inState.waiting().send({ type: 'session.delete' })?.message).to.match(
      /^The session x cannot be deleted while it is waiting; it can while it is idle, .* Stop it first\.$/,
    );
  });

  /**
   * What may be done with it had been read off `resetAt`, which outlived the wait: a session whose queue was
   * emptied while it waited for a limit could never be archived or deleted again.
   */
  it('is archived and deleted also after a limit that nothing waited for in the end', () => {
    for (const type of ['session.archive', 'session.delete']) {
      const life = inState.waiting();
      life.send({ type: 'queue.clear' });
      life.wait();
      expect(status(life)).to.equal('idle');
      expect(life.send({ type }), type).to.equal(undefined);
    }
  });

  it('is put away, out of the lists, and comes back when it is spoken to', () => {
    const life = inState.idle();
    life.send({ type: 'session.archive' });
    expect(view(life).archivedAt).to.be.a('string');
    expect(indexes(life)).to.deep.equal(['archived']);
    life.send({ type: 'session.archive' });
    expect(life.frames('session:updated'), 'twice is once').to.have.length(1);
    life.send(post('m1'));
    expect(view(life).archivedAt).to.equal(null);
    expect(indexes(life)).to.deep.equal(['all', 'group', 'status']);
  });

  it('comes back when a child of its own wakes it', () => {
    const life = inState.idle();
    life.send({ type: 'session.archive' });
    life.send({
      type: 'child.finished',
      childId: 'child-1',
      outcome: 'succeeded',
      title: 'dig',
      text: 'gold',
      by: child,
    });
    expect([status(life), view(life).archivedAt]).to.deep.equal(['running', null]);
  });

  it('begins again: the engine forgets, the transcript is marked', () => {
    const life = inState.running();
    life.send({
      type: 'turn.native',
      turnId: 's1:1',
      nativeId: 'n1',
      by: { type: 'system', part: 'engine-turn' },
    });
    expect(life.send({ type: 'session.reset' })?.code).to.equal('CONFLICT');
    life.finish('turn', good());
    life.send({ type: 'session.reset' });
    expect(view(life)).to.include({ status: 'idle', engineSessionId: null, lastError: null });
    expect(life.rows('messages').at(-1)?.row).to.deep.include({
      role: 'notification',
      meta: { kind: 'reset' },
    });
    life.send(post('m1'));
    expect((life.started.at(-1)?.input as { nativeId: unknown } | undefined)?.nativeId).to.equal(null);
  });

  it('leaves a limit behind by beginning again, and is free of its timer', () => {
    const life = inState.waiting();
    life.send({ type: 'session.reset' });
    expect([status(life), life.timers.size, view(life).queueDepth]).to.deep.equal(['idle', 0, 0]);
  });

  it('is kept as evidence when it attempted a work item', () => {
    const life = fresh({ workItemId: 'TRP-1', message: message('m0') });
    life.finish('turn', good());
    expect(life.send({ type: 'session.delete' })).to.deep.include({
      code: 'CONFLICT',
      details: { preserved: true, workItemId: 'TRP-1' },
    });
  });

  it('is a tombstone once it is deleted: no rows, no lists, no events', () => {
    const life = inState.idle();
    life.send({ type: 'session.delete' });
    expect([status(life), indexes(life)]).to.deep.equal(['deleted', []]);
    expect(life.send(post('m1'))?.code).to.equal('CONFLICT');
  });

  it('belongs to people: no agent archives, resets, patches or deletes', () => {
    for (const type of [
      'session.archive',
      'session.unarchive',
      'session.reset',
      'session.delete',
      'session.patch',
    ]) {
      expect(inState.idle().send({ type, by: parent })?.code, type).to.equal('FORBIDDEN');
    }
  });

  it('may begin with the messages of another', () => {
    const life = fresh({
      transcript: [
        { id: 'a', role: 'user', content: 'hi', timestamp: 1 },
        { id: 'b', role: 'assistant', content: 'hello', timestamp: 2 },
      ],
    });
    expect(life.rows('messages').map(({ n, row }) => [n, (row as { id: string }).id])).to.deep.equal([
      [1, 'a'],
      [2, 'b'],
    ]);
    life.send(post('m1'));
    expect(life.rows('messages').at(-1)?.n).to.equal(3);
  });
});
