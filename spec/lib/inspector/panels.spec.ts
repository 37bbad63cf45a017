import { expect } from 'chai';
import { setup } from 'xstate';
import type { Panel } from '../../../actors/panel.js';
import { defineKind } from '../../../actors/define-kind.js';
import { detail } from '../../../lib/inspector/actors.js';
import { checkPanels } from '../../../lib/inspector/panels.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { openHouse } from '../gateway/fixture.js';

describe('panels', () => {
  const every: readonly Panel[] = [
    {
      type: 'table',
      title: 'Loans',
      columns: ['reader', 'days'],
      rows: [
        ['<b>ann</b>', 12],
        [null, true],
      ],
    },
    { type: 'key-values', title: 'Facts', values: { pages: 320, lent: false, library: null } },
    { type: 'bars', title: 'Wear', unit: '%', bars: [{ label: 'spine', value: 20, of: 100 }] },
    { type: 'text', title: 'Note', text: 'one\ntwo' },
    {
      type: 'links',
      title: 'See',
      links: [
        { label: 'its library', to: { kind: 'library', id: 's 1' } },
        { label: 'its page', to: 'https://example.org/momo' },
      ],
    },
  ];

  it('are answered as the kind gave them', () => {
    expect(checkPanels(every)).to.deep.equal({
      panels: every.map((panel) => ({ ...panel, more: 0 })),
      more: 0,
      error: null,
    });
  });

  it('are refused with the path of what is wrong, whatever a kind gives', () => {
    const [table, values, bars, text, links] = every;
    for (const [given, path] of [
      [undefined, 'panels'],
      ['<b>', 'panels'],
      [[{ ...text, type: 'html' }], 'panels[0].type'],
      [[text, { ...text, text: 1 }], 'panels[1].text'],
      [[{ ...text, onClick: 'x' }], 'panels[0]'],
      [[{ ...table, rows: [['ann', 1], ['bob']] }], 'panels[0].rows[1]'],
      [[{ ...table, rows: [['ann', {}]] }], 'panels[0].rows[0][1]'],
      [[{ ...values, values: [1] }], 'panels[0].values'],
      [[{ ...values, values: { a: Number.NaN } }], 'panels[0].values.a'],
      [[{ ...bars, bars: [{ label: 'x', value: -1 }] }], 'panels[0].bars[0].value'],
      [[{ ...bars, bars: [{ label: 'x', value: Infinity }] }], 'panels[0].bars[0].value'],
      ...['javascript:alert(1)', 'data:text/html,x', '/inspect', '//evil.example', ''].map(
        (to) => [[{ ...links, links: [{ label: 'x', to }] }], 'panels[0].links[0].to'] as const,
      ),
    ] as const) {
      const { panels, error } = checkPanels(given);
      expect(panels, path).to.deep.equal([]);
      expect(error, path).to.match(/ (?:must|Unrecognized) /);
      expect(error?.split(' ')[0]).to.equal(path);
    }
  });

  it('are cut to what a page holds, and say by how much', () => {
    const row = ['x'.repeat(400)];
    const { panels, more, error } = checkPanels([
      { type: 'table', title: 't', columns: ['c'], rows: Array.from({ length: 1_000_000 }, () => row) },
      { type: 'text', title: 't'.repeat(200), text: 'x'.repeat(5_000) },
      {
        type: 'key-values',
        title: 't',
        values: Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`k${n}`, n])),
      },
      ...Array.from({ length: 7 }, () => ({ type: 'text', title: 't', text: '' })),
    ]);
    expect([error, more, panels.length]).to.deep.equal([null, 2, 8]);
    expect(panels.map((panel) => panel.more).slice(0, 3)).to.deep.equal([999_900, 1_000, 10]);
    expect(JSON.stringify(panels).length).to.be.lessThan(60_000);
  });

  it('black out what is called like a secret, as the context beside them', () => {
    const { panels } = checkPanels([
      { type: 'key-values', title: 't', values: { apiKey: 'hunter2', name: 'ann' } },
      { type: 'table', title: 't', columns: ['name', 'password'], rows: [['ann', 'hunter2']] },
    ]);
    expect(JSON.stringify(panels)).to.include('ann').and.not.include('hunter2');
  });

  it('come with the actor, and what a kind throws costs its panels alone', async () => {
    const machine = setup({ types: {} as { events: { type: 'break' } } }).createMachine({
      initial: 'whole',
      states: { whole: { on: { break: 'broken' } }, broken: {} },
    });
    const glass = defineKind({
      kind: 'glass',
      version: 1,
      machine,
      view: ({ value }) => value,
      panels: ({ value }, { revision }) => {
        if (value === 'broken') throw new Error('no glass');
        return [{ type: 'key-values', title: 'Glass', values: { revision } }];
      },
    });
    const supervisor = await createSupervisor({ kinds: [glass], store: memoryStore() });
    await supervisor.spawn('glass', { id: 'g' });
    const read = async () => (await detail(supervisor, { kind: 'glass', id: 'g' }))?.panels;
    expect(await read()).to.deep.equal({
      panels: [{ type: 'key-values', title: 'Glass', values: { revision: 1 }, more: 0 }],
      more: 0,
      error: null,
    });
    await supervisor.ask('glass', 'g', { type: 'break' });
    expect(await read()).to.deep.equal({ panels: [], more: 0, error: 'panels() threw Error: no glass' });
    await supervisor.stop();
  });

  it('of our own kinds are sound', async () => {
    const house = await openHouse();
    const { id } = (await house.operator.post('/api/sessions', { prompt: 'hello', title: 'Hello' })).body;
    const { body } = await house.operator.get(`/api/inspect/actors/session/${id}`);
    expect(body.panels.error).to.equal(null);
    expect(body.panels.panels[0]).to.include({ type: 'key-values', title: 'Used so far' });
    await house.close();
  });
});
