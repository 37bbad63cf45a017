import { expect } from 'chai';
import { sessionWaiting } from '../../../machines/session/view.js';
import { fresh, good, message, post, status, view, type Session } from './beings.js';

/** Turns from which nothing comes. */
describe('a turn that says nothing', () => {
  const by = { type: 'system', part: 'engine-turn' } as const;
  const began = (action: 'show' | 'end' = 'show'): Session => {
    const life = fresh({ message: message('m0') });
    life.send({ type: 'turn.began', turnId: 's1:1', silence: { ms: 600_000, action }, by });
    return life;
  };
  const heard = (life: Session, quietMs = 0) =>
    life.send({ type: 'turn.heard', turnId: 's1:1', quietMs, by });
  const waits = (life: Session) =>
    sessionWaiting(status(life), life.snapshot.context).map(({ id, what, since }) => [id, what, since]);

  it('is shown once it has been silent for as long as it may, and no longer when it is heard', () => {
    const life = began();
    const since = life.at;
    life.advance(599_000);
    expect(waits(life)).to.deep.equal([]);
    life.advance(2_000);
    expect(waits(life)).to.deep.equal([['silent:s1:1', 'silent', since]]);
    expect(view(life).silentSince).to.equal(new Date(since).toISOString());
    expect(life.frames('session:silent')).to.have.length(1);
    heard(life);
    expect(waits(life)).to.deep.equal([]);
    expect(life.signals.filter(({ type }) => type === 'silence.over')).to.have.length(1);
    life.advance(601_000);
    expect(waits(life)).to.have.length(1);
  });

  it('counts from its last output, also where that is reported later', () => {
    const life = began();
    life.advance(120_000);
    heard(life, 90_000);
    life.advance(509_000);
    expect(waits(life)).to.deep.equal([]);
    life.advance(2_000);
    expect(waits(life)).to.have.length(1);
  });

  it('stays silent where a gateway that comes back says how long it has been', () => {
    const life = began();
    const since = life.at;
    life.advance(700_000);
    heard(life, 700_000);
    expect(waits(life)).to.deep.equal([['silent:s1:1', 'silent', since]]);
  });

  it('is not looked at while it waits for a person', () => {
    const life = began();
    life.send({
      type: 'permission.asked',
      permissionId: 'p1',
      turnId: 's1:1',
      tool: 'Bash',
      title: 'ls',
      text: '{}',
      waitMs: 7_200_000,
      by,
    });
    life.advance(3_600_000);
    expect(waits(life).map(([, what]) => what)).to.deep.equal(['permission']);
    life.send({ type: 'permission.decided', permissionId: 'p1', decision: 'allow' });
    heard(life);
    life.advance(601_000);
    expect(waits(life).map(([, what]) => what)).to.deep.equal(['silent']);
  });

  // A turn that had waited an hour for a permission was shown as silent for an hour when it was given
  it('counts from the decision that it waited for, also where its effect knows only of its last output', () => {
    const life = began();
    life.send({
      type: 'permission.asked',
      permissionId: 'p1',
      turnId: 's1:1',
      tool: 'Bash',
      title: 'ls',
      text: '{}',
      waitMs: 7_200_000,
      by,
    });
    life.advance(3_600_000);
    life.send({ type: 'permission.decided', permissionId: 'p1', decision: 'allow' });
    const decidedAt = life.at;
    const heardAt = (): number | undefined => life.snapshot.context.turn?.heardAt;
    expect(heardAt()).to.equal(decidedAt);
    life.advance(30_000);
    heard(life, 3_600_000);
    expect(heardAt(), 'never earlier').to.equal(decidedAt);
  });

  it('is asked to end, again and again, where its rule says so', () => {
    const life = began('end');
    life.advance(601_000);
    life.advance(121_000);
    expect(life.signals.filter(({ type }) => type === 'silence.over').length).to.equal(3);
    life.finish('turn', good());
    expect([status(life), life.timers.size]).to.deep.equal(['idle', 0]);
  });

  it('is forgotten with its turn: the next one begins afresh, and one that was left says nothing', () => {
    const life = began();
    life.send(post('m1'));
    expect([...life.timers.keys()]).to.deep.equal([]);
    heard(life);
    life.advance(700_000);
    expect(waits(life)).to.deep.equal([]);
  });

  it('is reported by its effect alone', () => {
    const life = began();
    const agent = { type: 'session', id: 'x', employee: null, ancestors: [] } as const;
    expect(life.send({ type: 'turn.heard', turnId: 's1:1', quietMs: 0, by: agent })?.code).to.equal(
      'FORBIDDEN',
    );
    expect(life.send({ type: 'turn.silent', turnId: 's1:1', by: agent })?.code).to.equal('UNKNOWN_EVENT');
  });
});
