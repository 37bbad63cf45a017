import { expect } from 'chai';
import fc from 'fast-check';
import { defaultSupervision, supervise, type Supervision } from '../../../machines/supervisor/supervise.js';

const now = 1_000_000;
const spec = (changes: Partial<Supervision> = {}): Supervision => ({ ...defaultSupervision, ...changes });
const children = ['a', 'b', 'c'];

describe('supervise', () => {
  it('restarts the failed child alone, all, or it and those started after it', () => {
    const ids = (strategy: Supervision['strategy'], failed: string) => {
      const verdict = supervise(spec({ strategy }), children, [], failed, false, now);
      return verdict.type === 'restart' ? verdict.ids : [];
    };
    expect(ids('one_for_one', 'b')).to.deep.equal(['b']);
    expect(ids('one_for_all', 'b')).to.deep.equal(['a', 'b', 'c']);
    expect(ids('rest_for_one', 'b')).to.deep.equal(['b', 'c']);
  });

  it('gives up when more failures than the intensity lie within the period, and not before', () => {
    const earlier = [1, 2, 3, 4].map((seconds) => now - seconds * 1000);
    expect(supervise(spec(), children, earlier, 'a', false, now).type).to.equal('restart');
    expect(supervise(spec(), children, [...earlier, now - 5_000], 'a', false, now).type).to.equal('halt');
    expect(
      supervise(spec({ giveUp: 'escalate' }), children, [...earlier, now - 5_000], 'a', false, now).type,
    ).to.equal('escalate');
    expect(supervise(spec(), children, [...earlier, now - 60_000], 'a', false, now).type).to.equal('restart');
  });

  it('lets a normal end be, unless the child is permanent', () => {
    expect(supervise(spec({ restart: 'transient' }), children, [], 'a', true, now).type).to.equal('drop');
    expect(supervise(spec({ restart: 'temporary' }), children, [], 'a', false, now).type).to.equal('drop');
    expect(supervise(spec({ restart: 'permanent' }), children, [], 'a', true, now).type).to.equal('restart');
  });

  it('waits longer before each restart, up to a ceiling', () => {
    let failures: readonly number[] = [];
    const delays: number[] = [];
    for (let n = 0; n < 8; n += 1) {
      const verdict = supervise(
        spec({ backoffMs: 100, backoffMsMax: 2_000, intensity: 10 }),
        children,
        failures,
        'a',
        false,
        now + n,
      );
      failures = verdict.failures;
      delays.push(verdict.type === 'restart' ? verdict.delayMs : -1);
    }
    expect(delays).to.deep.equal([100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
  });

  it('never restarts more often within a period than the intensity allows, and remembers a bounded past', () => {
    const some = fc.record({
      intensity: fc.integer({ min: 0, max: 6 }),
      periodSeconds: fc.integer({ min: 1, max: 30 }),
      strategy: fc.constantFrom<Supervision['strategy']>('one_for_one', 'one_for_all', 'rest_for_one'),
    });
    fc.assert(
      fc.property(some, fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 60 }), (changes, gaps) => {
        const rules = spec(changes);
        let [failures, at] = [[] as readonly number[], now];
        const restarts: number[] = [];
        for (const gap of gaps) {
          at += gap;
          const verdict = supervise(rules, children, failures, 'b', false, at);
          failures = verdict.failures;
          if (verdict.type === 'restart') {
            restarts.push(at);
            expect(verdict.ids).to.include('b');
          }
          expect(failures.every((failure) => at - failure < rules.periodSeconds * 1000)).to.equal(true);
          expect(
            restarts.filter((restart) => at - restart < rules.periodSeconds * 1000).length,
          ).to.be.at.most(rules.intensity);
        }
      }),
    );
  });
});
