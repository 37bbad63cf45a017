import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEvidence } from '../../lib/records/evidence/evidence.js';
import { openHouse, poll, type House } from '../lib/gateway/fixture.js';
import { wrongWith } from './axe.js';
import { openBrowser, picture, until, type Viewer } from './browser.js';

/** A run of a workflow in a real browser: its graph, and the gate at which it waits for the one who looks. */
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
    await page.waitForSelector('.runs .state >> text=waiting for a decision');
    // The word of its state lay over the place where it waits
    const isOver = `(() => {
      const right = document.querySelector('.runs .state').getBoundingClientRect().right;
      return right > document.querySelector('.runs .state + .soft').getBoundingClientRect().left;
    })()`;
    expect(await page.evaluate(isOver)).to.equal(false);
    await page.click(`.runs a >> text=${run}`);
    await page.waitForSelector('[data-node=ask][data-status=parked]');
    for (const node of ['collect', 'draft', 'check'])
      expect(await page.locator(`[data-node=${node}]`).getAttribute('data-status'), node).to.equal('done');
    expect(await page.locator('[data-node=send]').getAttribute('data-status')).to.equal('pending');
    await page.waitForSelector('#gate-title >> text=It waits at May it go out?'); // it said the id of the node
    // Its bar stood at 0 ms for as long as it waited
    const waited = `document.querySelector('.attempts .bar .wait').getBoundingClientRect().width > 100`;
    await until(page, waited);
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

  it('shows every attempt on the time of the run with its reason, cancels a run and runs it again from a step', async () => {
    const made = await house.operator.post('/api/workflow-definitions/mutate', {
      operation: 'create',
      definition: {
        title: 'Fetch it',
        nodes: [
          { id: 'first', type: 'step', label: 'Look around', actor: { kind: 'noop' } },
          {
            id: 'write',
            type: 'step',
            label: 'Write it',
            instructions: 'fail please',
            actor: { kind: 'engine', ref: 'pen' },
          },
          {
            id: 'ask',
            type: 'gate',
            label: 'Ask',
            gate: { kind: 'approval', approvalRef: 'go', description: 'Go on?' },
          },
        ],
        edges: [
          { id: 'e', from: 'first', to: 'write' },
          { id: 'f', from: 'first', to: 'ask' },
        ],
      },
    });
    expect(made.status, made.text).to.equal(201);
    const id = made.body.definition.id as string;
    const run = (await house.operator.post(`/api/workflow-definitions/${id}/run`, {})).body.runId as string;
    const page = await viewer.open(house.gateway.url, { at: `#/runs/${id}/${run}`, reducedMotion: 'reduce' });
    await page.waitForSelector('.attempts li >> nth=1');
    await page.waitForSelector('.heading .state >> text=failed');
    // It offered to begin again at the gate that was left, after the step that had failed
    await page.waitForSelector('text=Run again from Write it');
    const failed = page.locator('.attempts li', { hasText: 'Write it' }).last();
    expect(await failed.innerText()).to.match(/failed[^]*It broke/);
    expect(await failed.locator('a').getAttribute('href')).to.match(/^#\/actor\/session\//);
    expect(await page.locator('.attempts .bar i').count()).to.be.at.least(2);
    await picture(page, 'run-attempts');
    expect(await wrongWith(page), 'by day').to.deep.equal([]);
    await page.click('.attempts button >> text=Look around');
    expect(await page.locator('.redone').innerText()).to.equal('Done again: Look around, Write it, Ask.');
    await page.click('.attempts button >> text=Write it');
    expect(await page.locator('.redone').innerText()).to.equal(
      'Done again: Write it. Kept as they are: Look around, Ask.',
    );
    await page.click('.attempts button >> text=Look around');
    await page.click('text=Run again from Look around');
    await until(page, `!location.hash.includes('${run}')`);
    await page.waitForSelector('.heading .state >> text=failed');
    const { runs } = (await house.operator.get(`/api/workflow-definitions/${id}/runs`)).body;
    expect(runs).to.have.length(2);
    await viewer.go(page, `#/tree/workflow-run/${run}`);
    await page.waitForSelector('[role=treeitem] >> text=session');
    expect(viewer.complaints).to.deep.equal([]);
    await page.context().close();
  });

  it('holds two runs of a workflow side by side and says in what their steps differ', async () => {
    const made = await house.operator.post('/api/workflow-definitions/mutate', {
      operation: 'create',
      definition: {
        title: 'Add up',
        nodes: [
          { id: 'same', type: 'step', label: 'Look <i>around</i>', actor: { kind: 'noop' } },
          {
            id: 'write',
            type: 'step',
            label: 'Write it',
            instructions: 'about {{input.topic}}',
            actor: { kind: 'engine', ref: 'pen' },
          },
        ],
        edges: [{ id: 'e', from: 'same', to: 'write' }],
      },
    });
    expect(made.status, made.text).to.equal(201);
    const id = made.body.definition.id as string;
    const start = async (topic: string): Promise<string> =>
      (await house.operator.post(`/api/workflow-definitions/${id}/run`, { input: { topic } })).body
        .runId as string;
    const [first, second] = [await start('<img src=x onerror="window.hit=1">'), await start('apples')];
    await poll(
      () => house.operator.get(`/api/workflow-definitions/${id}/runs/${second}`),
      ({ body }) => body.status === 'completed',
    );
    const page = await viewer.open(house.gateway.url, { at: `#/runs/${id}/${first}` });
    await page.waitForSelector('.heading .state >> text=completed');
    await page.selectOption('.compare-with select', second);
    await page.waitForSelector('text=1 of 2 steps differ');
    expect(await page.locator('tr[data-node=same]').getAttribute('data-differs')).to.equal('false');
    await page.click('tr[data-node=write] summary');
    const told = await page.locator('tr[data-node=write] .diff').first().innerText();
    expect(told).to.include('<img src=x onerror="window.hit=1">').and.to.include('apples');
    expect(await page.evaluate('window.hit ?? null')).to.equal(null);
    expect(await wrongWith(page), 'by day').to.deep.equal([]);
    await picture(page, 'run-compare');
    await page.reload(); // the address names both
    await page.waitForSelector('text=1 of 2 steps differ');
    // On a phone the second run stood outside of what is seen
    await page.setViewportSize({ width: 390, height: 844 });
    await until(
      page,
      '[...document.querySelectorAll(".compared td .state")].every((one) => one.getBoundingClientRect().right <= 390)',
    );
    expect(await wrongWith(page), 'on a phone').to.deep.equal([]);
    await picture(page, 'run-compare-phone');
    expect(viewer.complaints).to.deep.equal([]);
    await page.context().close();
  });

  // The same gate could be undone in the list of what waits, and not here
  it('holds a decision at its gate with its note, where the gateway holds decisions', async () => {
    const holding = await openHouse({
      evidence: await openEvidence({ standard: await mkdtemp(join(folder, 'holds-')) }),
      holds: true,
    });
    const gate = { kind: 'approval', approvalRef: 'go', description: 'Go on?' };
    const made = await holding.operator.post('/api/workflow-definitions/mutate', {
      operation: 'create',
      definition: {
        title: 'Wait',
        nodes: [
          { id: 'ask', type: 'gate', label: 'Ask', gate },
          { id: 'send', type: 'step', label: 'Send', actor: { kind: 'noop' } },
        ],
        edges: [{ id: 'e', from: 'ask', to: 'send' }],
      },
    });
    expect(made.status, made.text).to.equal(201);
    const id = made.body.definition.id as string;
    const run = (await holding.operator.post(`/api/workflow-definitions/${id}/run`, {})).body.runId as string;
    const page = await viewer.open(holding.gateway.url, { at: `#/runs/${id}/${run}` });
    await page.fill('.gate-panel input', 'looks right');
    await page.click('.gate-panel .decide >> text=Reject');
    await page.click('.gate-panel [data-held] >> text=Undo');
    await page.click('.gate-panel .decide >> text=Approve');
    await page.waitForSelector('.gate-panel [data-held]');
    await page.waitForSelector('.run-actions .outcome >> text=Approved.');
    const { body } = await holding.operator.get(`/api/workflow-definitions/${id}/runs/${run}`);
    expect(JSON.stringify(body.gateDecisions)).to.include('looks right');
    expect(await wrongWith(page)).to.deep.equal([]);
    expect(viewer.complaints).to.deep.equal([]);
    await page.context().close();
    await holding.close();
  });

  it('cancels a run that waits', async () => {
    const gate = { kind: 'approval', approvalRef: 'go', description: 'Go on?' };
    const made = await house.operator.post('/api/workflow-definitions/mutate', {
      operation: 'create',
      definition: {
        title: 'Wait',
        nodes: [
          { id: 'ask', type: 'gate', label: 'Ask', gate },
          { id: 'send', type: 'step', label: 'Send', actor: { kind: 'noop' } },
        ],
        edges: [{ id: 'e', from: 'ask', to: 'send' }],
      },
    });
    const id = made.body.definition.id as string;
    const run = (await house.operator.post(`/api/workflow-definitions/${id}/run`, {})).body.runId as string;
    const page = await viewer.open(house.gateway.url, { at: `#/runs/${id}/${run}` });
    await page.click('text=Cancel this run');
    await page.waitForSelector('.heading .state >> text=cancelled');
    expect(viewer.complaints).to.deep.equal([]);
    await page.context().close();
  });
});
