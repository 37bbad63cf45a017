import { expect } from 'chai';
import { nextMoves } from '../../../machines/work-item/next-moves.js';
import { statuses } from '../../../machines/work-item/edges.js';
import { as, ask, callers, inStatus, move, roster, type CallerName } from './beings.js';

describe('nextMoves', () => {
  it('promises what the item then does, and names the refusal it then gives', () => {
    for (const status of statuses) {
      for (const who of Object.keys(callers) as CallerName[]) {
        const item = inStatus(status);
        for (const next of nextMoves(item.snapshot.value, item.snapshot.context, {
          at: item.at,
          by: callers[who],
          facts: roster,
        })) {
          expect(
            ask(item.fork(), as(who, move(next.status))),
            `${who}: ${status} to ${next.status}`,
          ).to.equal(next.refusal?.code);
        }
      }
    }
  });

  it('says which moves need a note', () => {
    const item = inStatus('executing');
    const needed = nextMoves(item.snapshot.value, item.snapshot.context, {
      at: item.at,
      by: callers.operator,
    }).filter(({ noteNeeded }) => noteNeeded);
    expect(needed.map(({ status }) => status)).to.deep.equal(['blocked', 'escalated']);
  });
});
