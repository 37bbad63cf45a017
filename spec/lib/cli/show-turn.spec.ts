import { expect } from 'chai';
import type { Delta, Run } from '../../../lib/client/index.js';
import { showTurn } from '../../../lib/cli/show-turn.js';
import { layoutOf } from '../../../lib/home/layout.js';

describe('showTurn', () => {
  // Who had spent a budget was told to wait for the provider, for days, and could have granted more
  it('says for what a turn is held, and until when', async () => {
    const said: string[] = [];
    const deltas: readonly Delta[] = [
      { type: 'rate-limited', content: 'The budget of ann is used up.', resetAt: Date.UTC(2026, 11, 1) },
      { type: 'rate-limited', content: '' },
    ];
    await showTurn(deltas as unknown as Run, {
      terminal: { say: (line: string) => said.push(line) } as never,
      layout: layoutOf({ home: '/nowhere' }),
      questions: undefined as never,
    });
    expect(said[0]).to.match(/^\[held until 2026-1\d-\d\d .*: The budget of ann is used up\.\]$/);
    expect(said[1]).to.equal('[held]');
  });
});
