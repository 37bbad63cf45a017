import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { parse } from 'yaml';
import { openEvidence } from '../../lib/records/evidence/evidence.js';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { rulesOfColour, wrongWith } from './axe.js';
import { openBrowser, picture, until, type Viewer } from './browser.js';

/** Workflows in the console: read, written in graph, forms and YAML together, approved and started. */
describe('workflows in the console', () => {
  let house: House;
  let viewer: Viewer;
  let folder: string;
  before(async () => {
    viewer = await openBrowser();
    folder = await mkdtemp(join(tmpdir(), 'workflows-'));
    house = await openHouse({ withRoster: true, evidence: await openEvidence({ standard: folder }) });
  });
  after(async () => {
    await viewer.close();
    await house.close();
    await rm(folder, { recursive: true, force: true });
  });

  const open = (at: string, options = {}): Promise<Page> =>
    viewer.open(house.gateway.url, { path: '/', at, ...options });
  const make = async (definition: object): Promise<string> => {
    const made = await house.operator.post('/api/workflow-definitions', { definition });
    expect(made.status, made.text).to.equal(201);
    return made.body.id as string;
  };
  const read = async (id: string) => (await house.operator.get(`/api/workflow-definitions/${id}`)).body;
  const step = (id: string, more: object = {}) => ({ id, type: 'step', actor: { kind: 'noop' }, ...more });
  const small = (name: string) => ({
    name,
    title: `Water the ${name}`,
    nodes: [step('look', { label: 'See what is dry' }), step('water')],
    edges: [{ id: 'then', from: 'look', to: 'water' }],
  });
  const yaml = (page: Page): Promise<string> => page.inputValue('textarea.yaml');

  it('are listed, and one is started with the input that it asks for', async () => {
    const topic = { type: 'string', description: 'What it is about' };
    const input = { type: 'object', properties: { topic, times: { type: 'integer' } }, required: ['topic'] };
    const id = await make({ ...small('ferns'), input });
    const page = await open('#/workflows');
    await page.click(`[data-workflow=${id}] a`);
    await page.waitForSelector('[data-node=look] >> text=See what is dry');
    await page.click('text=Start a run …');
    await page.fill('[data-field=topic] input', 'ferns');
    await page.fill('[data-field=times] input', 'many');
    await page.click('button >> text=Try it');
    await page.waitForSelector('[data-outcome] >> text=/refused: .*times/');
    await page.fill('[data-field=times] input', '2');
    await page.click('button >> text=Try it');
    await page.waitForSelector('[data-outcome] >> text=Nothing was started.');
    expect((await house.operator.get(`/api/workflow-definitions/${id}/runs`)).body.runs).to.deep.equal([]);
    await page.click('form button[type=submit]');
    const run = await page.textContent('[data-started] a');
    await page.waitForSelector(`[data-run="${run}"]`);
    const { body } = await house.operator.get(`/api/workflow-definitions/${id}/runs/${run}`);
    expect(JSON.stringify(body)).to.include('{"topic":"ferns","times":2}');
    await page.context().close();
  });

  // It said `running` of a run that had not begun, and nothing when another could not
  it('say of a run that waits for an earlier one that it is queued, and why one cannot start', async () => {
    const gate = { kind: 'approval', approvalRef: 'go', description: 'Go?' };
    const nodes = [{ id: 'ask', type: 'gate', gate }, step('water')];
    const edges = [{ id: 'then', from: 'ask', to: 'water' }];
    const id = await make({ name: 'held', title: 'Held up', nodes, edges });
    for (let n = 0; n < 2; n += 1) await house.operator.post(`/api/workflow-definitions/${id}/run`);
    const page = await open(`#/workflow/${id}`);
    await page.waitForSelector('[data-run] >> text=/^queued$/');
    await page.waitForSelector('[data-run] >> text=/^parked$/');
    const draft = await make({
      name: 'draft',
      title: 'Draft',
      nodes: [{ id: 't', type: 'trigger' }],
      edges: [],
    });
    await page.evaluate(`location.hash = '#/workflow/${draft}'`);
    await page.waitForSelector('h1 >> text=Draft');
    await page.click('text=Start a run …');
    await page.click('form button[type=submit]');
    await page.waitForSelector('form >> text=The run cannot start: The workflow has no steps.');
    await page.context().close();
  });

  it('show faults at their nodes while one types, and what changed once they are saved', async () => {
    const id = await make(small('moss'));
    const page = await open(`#/workflow-editor/${id}`);
    await page.waitForSelector('#graph-title >> text=sound');
    expect(await page.locator('#patch-title').count()).to.equal(0); // as it is stored, so it is shown
    const text = `# of the garden\n${(await yaml(page)).replace('actor:', 'actor: # no one\n      ').replace('id: water', 'id: water # daily')}`;
    await page.fill('textarea.yaml', text.replace('to: water', 'to: wtaer'));
    await page.waitForSelector('[data-node=look][data-status=fault]');
    await page.click('.fault >> text=wtaer');
    await page.waitForSelector('#form-title >> text=look');
    expect(
      await page.evaluate(
        'document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)',
      ),
    ).to.include('wtaer');
    await page.fill('textarea.yaml', text);
    await page.waitForSelector('#graph-title >> text=sound');
    // A form writes into the same text, around its comments
    await page.fill('[data-field=label] input', 'Check the moss');
    await page.waitForSelector('[data-node=look] >> text=Check the moss');
    await page.selectOption('[aria-label="Add a node after look"]', 'gate');
    await page.fill('[data-field="gate.description"] textarea', 'May I?');
    await page.waitForSelector('.waves >> text=gate (a person decides)');
    const written = await yaml(page);
    expect(written).to.include('# of the garden').and.include('# daily').and.include('label: Check the moss');
    await page.click('button >> text=Try saving');
    await page.waitForSelector('[data-outcome] >> text=It can be saved as version 2. Nothing was saved.');
    expect((await read(id)).version).to.equal(1);
    await page.click('button >> text=Save as version 2');
    await page.waitForSelector('[data-version="2"] pre .added >> text=Check the moss');
    const { version, edges, nodes } = await read(id);
    expect(version).to.equal(2);
    expect(edges.map((edge: { from: string; to: string }) => `${edge.from} ${edge.to}`)).to.include.members([
      'look gate',
      'gate water',
    ]);
    expect(nodes.find((node: { id: string }) => node.id === 'gate').gate.description).to.equal('May I?');
    await page.click('text=Edit');
    await until(page, "document.querySelector('textarea.yaml')?.value.includes('# of the garden') === true");
    await page.context().close();
  });

  it('keep what is written over a closed tab, and refuse it where another has saved meanwhile', async () => {
    const id = await make(small('roses'));
    const page = await open(`#/workflow-editor/${id}`);
    await page.waitForSelector('#graph-title >> text=sound');
    await page.fill('[data-field=title] input', 'Water all roses');
    await page.waitForSelector('[data-outcome] >> text=Draft kept on this device');
    await house.operator.post('/api/workflow-definitions/mutate', {
      operation: 'update',
      workflowId: id,
      patch: { description: 'From elsewhere' },
    });
    await page.reload();
    await page.waitForSelector('h1 >> text=Water all roses');
    await page.waitForSelector('.notice >> text=version 2 was saved meanwhile');
    await page.click('button >> text=Save as version 2');
    await page.waitForSelector('[data-outcome] >> text=/version|changed/i');
    expect(await read(id)).to.include({ version: 2, title: 'Water the roses' });
    await page.click('button >> text=Discard the draft');
    await page.waitForSelector('h1 >> text=Water the roses');
    await page.context().close();
  });

  it('hold every sort of node, and come back from the text as they are stored', async () => {
    const when = [{ path: 'steps.judge.outcome.fields.good', op: 'eq', value: false }];
    const id = await make({
      title: 'All there is',
      description: 'Long: "quoted" # and no comment',
      owner: 'ann',
      runners: ['bob'],
      concurrency: 3,
      input: { type: 'object', properties: { topic: { type: 'string' } } },
      loop: { maxRoundsPerRun: 4 },
      nodes: [
        {
          id: 'go',
          type: 'trigger',
          trigger: { kind: 'schedule', cron: '0 7 * * 1', timezone: 'Europe/Berlin' },
        },
        step('write', {
          actor: { kind: 'employee', ref: 'ann' },
          instructions: 'Write about {{input.topic}}.\n\nTwo  lines.\n',
          optional: true,
          options: {
            model: 'm',
            timeoutMinutes: 5,
            onError: 'error-edge',
            retry: { maxAttempts: 3, on: ['error'] },
          },
        }),
        step('judge', { output: { type: 'object', properties: { good: { type: 'boolean' } } } }),
        step('post', {
          actor: {
            kind: 'http',
            method: 'POST',
            url: 'https://example.org/x',
            headers: { 'X-A': '1' },
            body: [],
          },
          gates: [{ kind: 'flag', flag: 'ready', timeoutMinutes: 7 }],
        }),
        step('note', { actor: { kind: 'work-item', operation: 'create', fields: { title: '123' } } }),
        { id: 'branch', type: 'switch', switchMode: 'firstMatch' },
        { id: 'nap', type: 'wait', waitMinutes: 0.5 },
        { id: 'files', type: 'gate', gate: { kind: 'artifact', glob: '*.md', description: 'yes' } },
        { id: 'both', type: 'merge', mode: 'any' },
        { id: 'broke', type: 'fail', failMessage: 'on' },
        { id: 'done', type: 'end', result: { answer: 'steps.write.outcome.summary' } },
      ],
      edges: [
        { from: 'go', to: 'write' },
        { from: 'write', to: 'judge', kind: 'handoff' },
        { from: 'write', to: 'broke', lane: 'error' },
        { from: 'judge', to: 'branch' },
        { from: 'branch', to: 'write', kind: 'loop', maxRounds: 3, when },
        { from: 'branch', to: 'nap', label: 'null' },
        { from: 'nap', to: 'files' },
        { from: 'files', to: 'post' },
        { from: 'files', to: 'note' },
        { from: 'post', to: 'both' },
        { from: 'note', to: 'both' },
        { from: 'both', to: 'done' },
      ],
    });
    const page = await open(`#/workflow-editor/${id}`);
    await page.waitForSelector('#graph-title >> text=sound');
    const definition = { ...(parse(await yaml(page)) as object), id };
    const { body } = await house.operator.post('/api/workflow-definitions/plan', { definition });
    expect(body.diff).to.include({ changed: false });
    expect(await yaml(page))
      .to.not.include('createdAt')
      .and.not.include('null\n');
    for (const node of ['write', 'post', 'files', 'done', 'go']) {
      await page.click(`[data-node=${node}]`);
      await page.waitForSelector(`#form-title >> text=${node}`);
    }
    await page.context().close();
  });

  // An agent's words are text wherever they are shown, and lend no one's rights before a person has read them
  it('that an agent wrote are approved where they are shown whole, its words as text', async () => {
    const { id: session } = (await house.operator.post('/api/sessions', { prompt: 'x', employee: 'ann' }))
      .body;
    const evil = '<img src=x onerror="window.hit=1">';
    const actor = { kind: 'http', method: 'GET', url: 'https://example.org/quietly' };
    const made = await house.agent(session).post('/api/workflow-definitions/mutate', {
      operation: 'create',
      definition: {
        name: 'send',
        title: evil,
        description: evil,
        owner: 'ann',
        nodes: [step('a', { label: evil, actor })],
        edges: [],
      },
    });
    expect(made.status, made.text).to.equal(201);
    const page = await open('#/workflows');
    await page.click('[data-workflow=send] >> text=<img');
    await page.waitForSelector('.asks >> text=the step "a" sends a request');
    await page.waitForSelector('[data-node=a] >> text=GET https://example.org');
    await page.click('.asks [data-choice=approve]');
    await page.waitForSelector('.asks', { state: 'detached' });
    const { pending } = (await house.operator.get('/api/workflow-approvals')).body;
    expect(pending).to.deep.equal([]);
    await viewer.go(page, '#/workflow-editor/send');
    await page.waitForSelector('#graph-title >> text=sound');
    await page.click('[data-node=a]');
    await page.waitForSelector('[data-field=label]');
    expect(await page.evaluate('window.hit')).to.equal(undefined);
    await page.context().close();
  });

  for (const [sight, options] of Object.entries({
    day: {},
    night: { colorScheme: 'dark' },
    phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
  } as const))
    it(`are drawn by ${sight}: nothing wider than the window, nothing that a checker finds`, async () => {
      const page = await open('#/workflows', { ...options, reducedMotion: 'reduce' });
      for (const [name, at, ready] of [
        ['workflows', '#/workflows', '[data-workflow] >> nth=1'],
        ['workflow', '#/workflow/moss', '[data-version="2"] pre'],
        ['workflow-editor', '#/workflow-editor/all-there-is', '[data-node=branch]'],
        ['workflow-new', '#/workflow-editor', '#graph-title >> text=sound'],
      ] as const) {
        await viewer.go(page, at);
        await page.waitForSelector(ready);
        if (name === 'workflow-editor') await page.click('[data-node=write]');
        await picture(page, `console-${name}-${sight}`);
        const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect(wider, name).to.be.at.most(0);
        expect(await wrongWith(page, sight === 'night' ? rulesOfColour : undefined), name).to.deep.equal([]);
      }
      await page.context().close();
    });

  it('break no rule of their own policy and throw nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
