import { expect } from 'chai';
import { operator } from '../../../machines/caller.js';
import { admitHeldDecision } from '../../../machines/held-decision/machine.js';
import { fresh, made, withdraw } from './beings.js';

const agent = { type: 'session', id: 's1', employee: null, ancestors: [] } as const;

describe('a held decision', () => {
  const done = { refusal: null };

  it('is carried out when its time ends, once, with all that was decided', () => {
    const held = fresh();
    held.advance(4_999);
    expect([held.value, held.started]).to.deep.equal(['held', []]);
    held.advance(1);
    expect(held.effects.get('decide')?.input).to.deep.include({
      ...made,
      by: operator,
      until: held.at,
    });
    held.finish('decide', done);
    expect([held.value, held.started.length]).to.deep.equal(['decided', 1]);
    expect(held.frames('decision:carried-out')).to.have.length(1);
  });

  it('is not carried out once it was withdrawn, and not withdrawn once it is carried out', () => {
    const first = fresh();
    expect(first.send(withdraw)).to.equal(undefined);
    first.advance(60_000);
    expect([first.value, first.started]).to.deep.equal(['withdrawn', []]);
    const second = fresh();
    second.advance(5_000);
    const before = second.json;
    expect(second.send(withdraw)).to.include({ code: 'CONFLICT' });
    expect(second.json).to.equal(before);
  });

  it('says why it was refused', () => {
    const held = fresh();
    held.advance(5_000);
    held.finish('decide', { refusal: 'It has changed.' });
    expect([held.value, held.snapshot.context.reason]).to.deep.equal(['refused', 'It has changed.']);
    expect(held.frames('decision:refused')[0]?.payload).to.include({ reason: 'It has changed.' });
  });

  it('is tried again with growing pauses where the gateway cannot answer, and not for ever', () => {
    const held = fresh();
    held.advance(5_000);
    held.fail('decide', 'starting');
    held.advance(999);
    expect(held.value).to.equal('pausing');
    held.advance(1);
    expect(held.value).to.equal('deciding');
    for (let tries = 0; held.value !== 'refused' && tries < 30; tries += 1) {
      held.fail('decide', 'starting');
      held.wait();
    }
    expect([held.value, held.started.length]).to.deep.equal(['refused', 20]);
  });

  it('is made and withdrawn by people alone, for at most a minute', () => {
    const held = fresh();
    const before = held.json;
    expect(held.send({ ...withdraw, by: agent })).to.include({ code: 'PERSON_REQUIRED' });
    expect(held.send({ type: 'decision.hasten' })).to.include({ code: 'UNKNOWN_EVENT' });
    expect(held.json).to.equal(before);
    const whole = { ...made, at: 1, by: operator };
    expect(admitHeldDecision(whole)).to.equal(undefined);
    expect(admitHeldDecision({ ...whole, by: agent })).to.include({ code: 'PERSON_REQUIRED' });
    expect(admitHeldDecision({ ...whole, by: { type: 'system', part: 'cron' } })?.code).to.equal(
      'PERSON_REQUIRED',
    );
    for (const wrong of [{ holdMs: 60_001 }, { holdMs: 0 }, { choice: 'allow' }, { digest: 7 }])
      expect(admitHeldDecision({ ...whole, ...wrong } as never), JSON.stringify(wrong)).to.include({
        code: 'BAD_REQUEST',
      });
  });
});
