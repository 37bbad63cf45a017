import { expect } from 'chai';
import { limits, type TurnInput } from '../../../machines/session/context.js';
import { resumesMax } from '../../../machines/session/resume.js';
import { fresh, cut, good, inState, message, post, prompts, status, outsider, view } from './beings.js';

/** Turns that the end of their gateway cut off. */
describe('an interrupted session', () => {
  it('goes on when a person says so, once, with a word that it was interrupted', () => {
    const life = inState.interrupted();
    expect(life.send({ type: 'session.resume' })).to.equal(undefined);
    expect(status(life)).to.equal('running');
    const last = life.rows('messages').at(-1)?.row as { id: string; role: string; content: string };
    expect(last.role).to.equal('notification');
    expect(last.content).to.include('interrupted');
    expect(prompts(life).at(-1)).to.deep.equal([last.id, 'm0']);
    expect(life.send({ type: 'session.resume' })?.code).to.equal('CONFLICT');
    expect(prompts(life)).to.have.length(2);
    expect(life.frames('session:resumed')).to.have.length(1);
  });

  for (const state of ['idle', 'error', 'stopped', 'running', 'waiting'] as const)
    it(`is nothing that one is that is ${state}`, () => {
      const refused = inState[state]().send({ type: 'session.resume' });
      expect(refused?.code).to.equal('CONFLICT');
      expect(refused?.message).to.equal(
        `The session x cannot be resumed while it is ${state}; it can while it is interrupted.`,
      );
    });

  it('is resumed by people alone, and not beside a process that may still live', () => {
    expect(inState.interrupted().send({ type: 'session.resume', by: outsider })?.code).to.equal('FORBIDDEN');
    const life = inState.running();
    life.finish('turn', cut({ unconfirmedPid: 7 }));
    const refused = life.send({ type: 'session.resume' });
    expect([refused?.code, refused?.message.includes('process 7')]).to.deep.equal(['CONFLICT', true]);
  });

  it('goes on by itself in the commit that ends the turn, before what waits, and reports no end', () => {
    const life = fresh({ message: message('m0'), parentSessionId: 'parent-1', workItemId: 'TRP-1' });
    life.send({ type: 'message.post', message: message('m1', 'agent'), by: outsider });
    life.finish('turn', cut({ cut: 'resume' }));
    expect(status(life)).to.equal('running');
    expect(prompts(life).at(-1)?.[0]).to.match(/^resume-/);
    expect([life.tells('child.finished').length, life.tells('attempt.ended').length]).to.deep.equal([0, 0]);
    life.finish('turn', good());
    expect(prompts(life).at(-1)).to.deep.equal(['m1']);
    life.finish('turn', good());
    expect([life.tells('child.finished').length, life.tells('attempt.ended').length]).to.deep.equal([1, 1]);
  });

  it('waits for a person after a few cuts in a row, so that no turn ends its gateway for ever', () => {
    const life = inState.running();
    for (let n = 0; n < resumesMax; n += 1) {
      life.finish('turn', cut({ cut: 'resume' }));
      expect(status(life)).to.equal('running');
    }
    life.finish('turn', cut({ cut: 'resume' }));
    expect([status(life), view(life).attemptOutcome]).to.deep.equal(['interrupted', 'interrupted']);
    life.send({ type: 'session.resume' });
    life.finish('turn', good());
    life.send(post('m1'));
    life.finish('turn', cut({ cut: 'resume' }));
    expect(status(life)).to.equal('running');
  });

  // An agent that resumes its own conversation was told only of the interruption, whether it had seen the message or not.
  it('is asked again all that the turn before was asked, once, however often it is cut', () => {
    const life = inState.running();
    for (let n = 0; n < 2; n += 1) life.send({ type: 'message.post', message: message(`a${n}`, 'callback') });
    life.finish('turn', good());
    expect(prompts(life).at(-1)).to.deep.equal(['a0', 'a1']);
    life.send({ type: 'message.post', message: message('later', 'agent'), by: outsider });
    for (let n = 0; n < 2; n += 1) {
      life.finish('turn', cut({ cut: 'resume' }));
      expect(prompts(life).at(-1)?.slice(1)).to.deep.equal(['a0', 'a1']);
    }
    life.finish('turn', good());
    expect(prompts(life).at(-1)).to.deep.equal(['later']);
    const became = life.rows('queue').filter(({ row }) => (row as { id: string }).id === 'a1');
    expect(became.at(-1)?.row).to.include({ status: 'completed' });
    life.finish('turn', cut());
    life.send({ type: 'session.resume' });
    expect(prompts(life).at(-1)?.slice(1)).to.deep.equal(['later']);
  });

  it('says of a turn whether it goes on and is asked nothing else', () => {
    const life = inState.running();
    const isResumed = () => (life.started.at(-1)?.input as unknown as TurnInput | undefined)?.isResumed;
    expect(isResumed()).to.equal(undefined);
    life.finish('turn', cut({ cut: 'resume' }));
    expect(isResumed()).to.equal(true);
    life.send({ type: 'message.post', message: message('news', 'callback') });
    life.finish('turn', good());
    expect([prompts(life).at(-1), isResumed()]).to.deep.equal([['news'], undefined]);
  });

  it('loses none of as many messages as a turn can have', () => {
    const life = inState.running();
    const ids = Array.from({ length: limits.joinedMax }, (_, n) => `a${n}`);
    for (const id of ids) life.send({ type: 'message.post', message: message(id, 'callback') });
    life.finish('turn', good());
    expect(prompts(life).at(-1)).to.deep.equal(ids);
    life.finish('turn', cut());
    life.send({ type: 'session.resume' });
    life.finish('turn', good());
    expect(prompts(life).slice(-2).flat().slice(1)).to.deep.equal(ids);
    expect(status(life)).to.equal('running');
  });

  for (const type of ['session.reset', 'session.erase'])
    it(`holds nothing to be asked again after ${type}`, () => {
      const life = inState.interrupted();
      life.send({ type });
      expect(life.snapshot.context.unfinished).to.equal(null);
    });

  it('is not begun by itself while its queue is paused', () => {
    const life = inState.running();
    life.send({ type: 'queue.pause' });
    life.finish('turn', cut({ cut: 'resume' }));
    expect(status(life)).to.equal('interrupted');
  });
});
