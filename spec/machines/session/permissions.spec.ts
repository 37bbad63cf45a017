import { expect } from 'chai';
import { type Session, bad, fresh, good, message, parent, post, status, view } from './beings.js';

/** Tools that wait for a person. */
describe('a permission', () => {
  const hand = { type: 'system', part: 'engine-turn' } as const;
  const asked = (permissionId: string, extra: Record<string, unknown> = {}) => ({
    type: 'permission.asked',
    permissionId,
    turnId: 's1:1',
    tool: 'Bash',
    title: 'ls',
    text: '{"command":"ls"}',
    waitMs: 60_000,
    by: hand,
    ...extra,
  });
  const decided = (
    permissionId: string,
    decision: 'allow' | 'deny',
    extra: Record<string, unknown> = {},
  ) => ({ type: 'permission.decided', permissionId, decision, ...extra });
  const running = (): Session => {
    const life = fresh({ message: message('m0') });
    life.send({ type: 'turn.began', turnId: 's1:1', by: hand });
    return life;
  };
  const states = (life: Session) =>
    life.rows('decisions').map(({ n, row }) => [n, (row as { state: string }).state]);

  it('is a row, a frame and a deadline, and stands in the record', () => {
    const life = running();
    expect(life.send(asked('p1'))).to.equal(undefined);
    expect(life.rows('permissions')[0]).to.deep.include({ n: 1 });
    expect(life.rows('permissions')[0]?.row).to.include({
      id: 'p1',
      tool: 'Bash',
      input: '{"command":"ls"}',
      state: 'pending',
    });
    expect(view(life).pendingPermissions.map(({ id }) => id)).to.deep.equal(['p1']);
    expect(life.frames('session:permission')[0]?.payload).to.include({
      permissionId: 'p1',
      state: 'pending',
    });
    expect([...life.timers.keys()]).to.deep.equal(['permission:p1']);
  });

  // What was allowed had an end that no one had read
  it('shows the beginning of a long input, and says how much is left out', () => {
    const inputOf = (text: string): unknown => {
      const life = running();
      life.send(asked('p1', { text }));
      return (life.rows('permissions')[0]?.row as { input: string } | undefined)?.input;
    };
    expect(inputOf('x'.repeat(8_000))).to.equal('x'.repeat(8_000));
    expect(inputOf('x'.repeat(8_123))).to.equal(
      `${'x'.repeat(8_000)}\n[cut here: 123 more characters are not shown]`,
    );
  });

  it('is answered to the engine, and once', () => {
    const life = running();
    life.send(asked('p1'));
    expect(life.send(decided('p1', 'allow', { note: 'go on' }))).to.equal(undefined);
    expect(life.signals).to.deep.equal([
      { type: 'permission.answered', permissionId: 'p1', decision: 'allow', note: 'go on' },
    ]);
    expect(life.timers.size).to.equal(0);
    expect(states(life)).to.deep.equal([[1, 'allowed']]);
    expect(life.send(decided('p1', 'deny'))?.code).to.equal('CONFLICT');
  });

  it("is a person's to give, not an ancestor's, and only the hand asks", () => {
    const life = running();
    life.send(asked('p1'));
    expect(life.send(decided('p1', 'allow', { by: parent }))?.code).to.equal('PERSON_REQUIRED');
    expect(life.send(asked('p2', { by: parent }))?.code).to.equal('FORBIDDEN');
    expect(life.send(asked('p2', { turnId: 's1:0' }))?.code).to.equal('CONFLICT');
    expect(life.send(asked('p1'))?.code).to.equal('BAD_REQUEST');
    expect(life.send({ type: 'permission.expired', permissionId: 'p1' })?.code).to.equal('UNKNOWN_EVENT');
  });

  it('given always is not asked for again in this session', () => {
    const life = running();
    life.send(asked('p1', { rule: 'Bash(ls)' }));
    life.send(decided('p1', 'allow', { always: true }));
    expect(view(life).toolPolicy).to.deep.equal({ mode: 'allow-list', allow: ['Bash(ls)'] });
    life.finish('turn', good());
    life.send(post('m1'));
    expect((life.started.at(-1)?.input as { toolPolicy: unknown } | undefined)?.toolPolicy).to.deep.equal({
      mode: 'allow-list',
      allow: ['Bash(ls)'],
    });
  });

  // Once "always" on any command was a rule for every command
  it('given always keeps its rule or a narrower word, and never a whole shell', () => {
    const life = running();
    life.send(asked('p1'));
    expect(life.send(decided('p1', 'allow', { always: true }))?.message).to.match(/allow it this once/);
    for (const rule of ['Bash', 'Bash(*)', '*', 'nonsense('])
      expect(life.send(decided('p1', 'allow', { always: true, rule }))?.code, rule).to.equal('BAD_REQUEST');
    expect(view(life).pendingPermissions[0]).to.include({ id: 'p1', rule: null });
    expect(life.send(decided('p1', 'allow', { always: true, rule: 'Edit(src/**)' }))).to.equal(undefined);
    expect(view(life).toolPolicy.allow).to.deep.equal(['Edit(//srv/work/src/**)']);
    expect(life.signals.map(({ type }) => type)).to.deep.equal(['policy.changed', 'permission.answered']);
  });

  it('is lifted and given by people alone, at rest and for the turn that runs', () => {
    const life = running();
    const set = (allow: string[], by?: typeof parent) =>
      life.send({ type: 'permissions.set', toolPolicy: { mode: 'allow-list', allow }, ...(by && { by }) });
    expect(set(['Bash(git *)'], parent)?.code).to.equal('FORBIDDEN');
    expect(set(['Bash(git'])?.code).to.equal('BAD_REQUEST');
    expect(set(['Bash(git *)', 'Edit(**)'])).to.equal(undefined);
    expect(view(life).toolPolicy.allow).to.deep.equal(['Bash(git *)', 'Edit(//srv/work/**)']);
    expect(life.signals).to.deep.equal([{ type: 'policy.changed', toolPolicy: view(life).toolPolicy }]);
    life.finish('turn', good());
    expect(set([])).to.equal(undefined);
    expect(view(life).toolPolicy).to.deep.equal({ mode: 'allow-list', allow: [] });
  });

  it('expires, which the engine hears as a no, also after a restart', () => {
    const life = running();
    life.send(asked('p1'));
    life.revive();
    life.advance(60_000);
    expect(life.signals).to.deep.equal([
      { type: 'permission.answered', permissionId: 'p1', decision: 'deny', note: 'No decision in time.' },
    ]);
    expect(states(life)).to.deep.equal([[1, 'expired']]);
    expect(status(life)).to.equal('running');
  });

  const ends: [string, (life: Session) => void][] = [
    ['succeeds', (life) => life.finish('turn', good())],
    ['fails', (life) => life.finish('turn', bad())],
    [
      'is stopped',
      (life) => {
        life.send({ type: 'session.stop' });
      },
    ],
    [
      'is left for a newer message',
      (life) => {
        life.send(post('m1'));
      },
    ],
  ];
  for (const [name, happens] of ends) {
    it(`is withdrawn when its turn ${name}`, () => {
      const life = running();
      life.send(asked('p1'));
      life.send(asked('p2'));
      happens(life);
      expect(states(life)).to.deep.equal([
        [1, 'withdrawn'],
        [2, 'withdrawn'],
      ]);
      expect(life.timers.size).to.equal(0);
      expect(life.snapshot.context.permissions).to.deep.equal([]);
      expect(life.send(decided('p1', 'allow'))).not.to.equal(undefined);
    });
  }

  it('is refused beyond sixteen at once', () => {
    const life = running();
    for (let n = 1; n <= 16; n++) expect(life.send(asked(`p${n}`))).to.equal(undefined);
    expect(life.send(asked('p17'))?.code).to.equal('QUEUE_FULL');
  });
});
