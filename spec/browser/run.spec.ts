import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEvidence } from '../../lib/records/evidence/evidence.js';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { openBrowser, picture, type Viewer } from './browser.js';

/** A run of a workflow in a real browser: its graph, and the gate at which it waits for whoever looks. */
describe('a run in a browser', () => {
  let house: House;
  let viewer: Viewer;
  let folder: string;
  before(async () => {
    viewer = await openBrowser();
    folder = await mkdtemp(join(tmpdir(), 'runs-'));
    house = await openHouse({ evidence: await openEvidence({ standard: folder }) });
  });
  after(async () => {
    await viewer.close();
    await house.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('shows each step with its receipt, and lets a person decide the gate in place', async () => {
    const definition = {
      title: 'Publish <b>the report</b>',
      nodes: [
        { id: 'collect', type: 'step', label: 'Collect figures', actor: { kind: 'noop' } },
        { id: 'draft', type: 'step', label: 'Write a draft', actor: { kind: 'noop' } },
        { id: 'check', type: 'step', label: 'Check the sums', actor: { kind: 'noop' } },
        {
          id: 'ask',
          type: 'gate',
          label: 'May it go out?',
          gate: {
            kind: 'approval',
            approvalRef: 'go',
            description: 'The draft is ready. <img src=x onerror="window.hit=1">',
          },
        },
        { id: 'send', type: 'step', label: 'Send it', actor: { kind: 'noop' } },
      ],
      edges: [
        ['collect', 'draft'],
        ['collect', 'check'],
        ['draft', 'ask'],
        ['check', 'ask'],
        ['ask', 'send'],
      ].map(([from, to]) => ({ id: `${from}-${to}`, from, to })),
    };
    const made = await house.operator.post('/api/workflow-definitions/mutate', {
      operation: 'create',
      definition,
    });
    const id = made.body.definition.id as string;
    const run = (await house.operator.post(`/api/workflow-definitions/${id}/run`, {})).body.runId as string;
    const page = await viewer.open(house.gateway.url, { at: '#/runs' });
    await page.click(`.runs a >> text=${run}`);
    await page.waitForSelector('[data-node=ask][data-status=parked]');
    for (const node of ['collect', 'draft', 'check'])
      expect(await page.locator(`[data-node=${node}]`).getAttribute('data-status'), node).to.equal('done');
    expect(await page.locator('[data-node=send]').getAttribute('data-status')).to.equal('pending');
    await page.focus('[data-node=draft]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#receipt-title >> text=Write a draft');
    await picture(page, 'run-day');
    await page.fill('.gate-panel input', 'looks right');
    await page.click('.gate-panel >> text=Approve');
    await page.waitForSelector('.heading .state >> text=completed');
    await page.waitForSelector('[data-node=send][data-status=done]');
    expect(await page.locator('.gate-panel').count()).to.equal(0);
    expect(await page.evaluate('window.hit ?? null')).to.equal(null);
    expect((await house.operator.get(`/api/workflow-definitions/${id}/runs/${run}`)).body.status).to.equal(
      'completed',
    );
    expect(viewer.complaints).to.deep.equal([]);
    await page.context().close();
  });
});
