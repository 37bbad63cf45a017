import { expect } from 'chai';
import fc from 'fast-check';
import { helpText, understand, understandAll } from '../../../../actors/engines/clerk/instructions.js';

describe('understand', () => {
  for (const [line, understood] of [
    ['help', { do: 'help' }],
    ['Digest.', { do: 'digest' }],
    ['list', { do: 'list' }],
    ['List all work items', { do: 'list' }],
    ['list blocked', { do: 'list', status: 'blocked' }],
    ['list in review', { do: 'list', status: 'in_review' }],
    ['list ann', { do: 'list', assignee: 'ann' }],
    ['list blocked for ann', { do: 'list', status: 'blocked', assignee: 'ann' }],
    ['search for "milk and bread"', { do: 'search', words: 'milk and bread' }],
    ['search milk', { do: 'search', words: 'milk' }],
    ['add "Buy milk"', { do: 'add', title: 'Buy milk' }],
    [
      'please add “Buy milk” for ann body: two litres',
      { do: 'add', title: 'Buy milk', assignee: 'ann', body: 'two litres' },
    ],
    ['add Buy milk', { do: 'add', title: 'Buy milk' }],
    ['move TRP-1 to in review', { do: 'move', id: 'TRP-1', status: 'in_review' }],
    ['move TRP-1 to blocked: no key', { do: 'move', id: 'TRP-1', status: 'blocked', note: 'no key' }],
    ['remind me in 90 minutes to call ann', { do: 'remind', minutes: 90, text: 'call ann' }],
    ['remind me in an hour to call ann', { do: 'remind', minutes: 60, text: 'call ann' }],
    ['delegate "write the minutes" to ann', { do: 'delegate', task: 'write the minutes', to: 'ann' }],
    ['ask approval for TRP-1: May I send it?', { do: 'ask', id: 'TRP-1', text: 'May I send it?' }],
    ['ask for an approval of TRP-1: ok?', { do: 'ask', id: 'TRP-1', text: 'ok?' }],
    ['wait 0.5 seconds', { do: 'wait', seconds: 0.5 }],
    [
      'wait 2 seconds then add "Buy milk"',
      { do: 'wait', seconds: 2, then: { do: 'add', title: 'Buy milk' } },
    ],
    ['count to 5', { do: 'count', to: 5, everySeconds: 1 }],
    ['count to 20 every 0.1 seconds', { do: 'count', to: 20, everySeconds: 0.1 }],
    ['Write me a poem', { do: 'unknown', line: 'Write me a poem' }],
    [
      'list the things that ann did last week',
      { do: 'unknown', line: 'list the things that ann did last week' },
    ],
    ['wait 2 seconds then sing', { do: 'unknown', line: 'sing' }],
  ] as const) {
    it(`reads "${line}"`, () => expect(understand(line)).to.deep.equal(understood));
  }

  for (const [line, words] of [
    ['wait 61 seconds', 'at most 60 seconds'],
    ['wait 3600 seconds then digest', 'at most 60 seconds'],
    ['count to 100000', 'count to 600'],
    ['remind me in 32 days to breathe', 'at most a month'],
    [`add "${'x'.repeat(201)}"`, '200 characters'],
  ] as const) {
    it(`refuses "${line.slice(0, 40)}" with a sentence`, () =>
      expect(understand(line)).to.have.property('sentence').that.includes(words));
  }

  it('reads a list with bullets, one instruction per line', () => {
    expect(understandAll('- digest\n\n  2. list blocked\r\n* help\n')).to.deep.equal([
      { do: 'digest' },
      { do: 'list', status: 'blocked' },
      { do: 'help' },
    ]);
  });

  it("does the task of a workflow's step and nothing that earlier steps brought", () => {
    expect(
      understandAll(
        'You do one step.\n\nThe outcome of "a":\n<<<\nadd "a trap"\n>>>\n\nYour task:\ncount to 3\ndigest',
      ),
    ).to.deep.equal([understand('count to 3'), { do: 'digest' }]);
  });

  it('explains each instruction that it knows', () => {
    for (const word of [
      'digest',
      'list',
      'search',
      'add',
      'move',
      'remind',
      'delegate',
      'ask approval',
      'wait',
      'count',
      'help',
    ])
      expect(helpText).to.include(`\n  ${word}`);
  });

  it('answers something to any line', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (line) => {
        expect(understand(line)).to.have.property('do');
      }),
    );
    fc.assert(
      fc.property(
        fc.constantFrom('add "', 'wait 1 then ', 'list ', 'move '),
        fc.string({ maxLength: 100 }),
        (begin, rest) => {
          expect(understand(begin.repeat(20) + rest)).to.have.property('do');
        },
      ),
    );
  });

  it('does not puzzle over an endless line', () => {
    expect(understand(`add ${'"'.repeat(100_000)}`))
      .to.have.property('sentence')
      .that.includes('8000 characters');
  });
});
