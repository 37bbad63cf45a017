import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { setup } from 'xstate';
import type { Kind } from '../../actors/contracts.js';
import { openEvidence } from '../../lib/records/evidence/evidence.js';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { rulesOfColour, wrongWith } from './axe.js';
import { openBrowser, until, type Viewer } from './browser.js';

/** Every view in every state that it can be in, by day and by night, before a checker that others wrote. */
describe('the accessibility of the page', () => {
  let house: House;
  let viewer: Viewer;
  let page: Page;
  let folder: string;
  const ids = { item: '', session: '', workflow: '', run: '', creation: 0 };
  before(async () => {
    viewer = await openBrowser();
    folder = await mkdtemp(join(tmpdir(), 'axe-'));
    house = await openHouse({ evidence: await openEvidence({ standard: folder }), kinds: [glass] });
    page = await viewer.open(house.gateway.url, { reducedMotion: 'reduce' });
  });
  after(async () => {
    await viewer.close();
    await house.close();
    await rm(folder, { recursive: true, force: true });
  });

  const post = async (path: string, body: object = {}) => (await house.operator.post(path, body)).body;
  const see = async (at: string, ready: string): Promise<void> => {
    await viewer.go(page, at);
    await page.waitForSelector(ready);
  };
  /** By day all rules; by night those of colour, which is all that changes then. */
  const isSound = async (what: string): Promise<void> => {
    expect(await wrongWith(page), `${what}, by day`).to.deep.equal([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await wrongWith(page, rulesOfColour), `${what}, by night`).to.deep.equal([]);
    await page.emulateMedia({ colorScheme: 'light' });
  };

  it('holds where nothing has happened yet', async () => {
    await see('#/fleet', '.empty >> text=No actors yet');
    await isSound('the empty fleet');
    await see('#/time', '.empty');
    await isSound('the empty log');
    await see('#/runs', '.empty');
    await isSound('no runs');
    // A part that comes while the checker looks moves the others from where it found them
    for (const part of ['[aria-labelledby=dead-title] .empty', '#quotas-title', '#workers-title'])
      await see('#/supervision', part);
    await isSound('supervision of nobody');
  });

  it('holds for the fleet: listed, followed, narrowed to a state that no one is in', async () => {
    await see('#/fleet', '.empty');
    await populate();
    await page.waitForSelector('.row >> nth=20');
    await page.waitForSelector('.activity >> text=NO_PENDING_APPROVAL');
    await page.focus('.virtual');
    await page.waitForSelector('.row.at');
    await isSound('the fleet');
    await see('#/fleet?kind=work-item&state=work.blocked', '.row .state.bad');
    await isSound('a state');
    await see('#/fleet?kind=work-item&state=work.done', '.empty >> text=See all of this kind');
    await isSound('a state without anybody');
  });

  it('holds for an actor: waited for, sent to, laid open, past, unborn, halted, absent', async () => {
    await see(`#/actor/work-item/${ids.item}`, '.node.lit');
    await page.click('[data-event="item.move"][data-to="blocked"] > button');
    for (const summary of await page.locator('main summary').all()) await summary.click();
    await isSound('an actor laid open');
    await see(`#/actor/work-item/${ids.item}?at=${ids.creation + 1}`, '.view.past .history li.later');
    await isSound('the past of an actor');
    await see(`#/actor/work-item/${ids.item}?at=${ids.creation - 1}`, '.notice >> text=did not exist yet');
    await isSound('an actor before its birth');
    await see(`#/actor/session/${ids.session}`, '.facts .lamp.busy');
    await isSound('an actor with an effect in flight');
    await see('#/actor/glass/g', '.notice.bad >> text=Halted');
    await page.waitForSelector('#letters-title');
    await isSound('a halted actor');
    expect(
      await page.locator('[data-event=break] > button').count(),
      'events to send to who is halted',
    ).to.equal(0);
    await see('#/actor/session/nobody', '.empty h1');
    await isSound('an actor that is not there');
  });

  it('holds for supervision with failures, for time with its causes, and for runs at their gate', async () => {
    await see('#/supervision', '.heading .state.bad');
    await page.waitForSelector('[aria-labelledby=dead-title] li');
    await isSound('supervision');
    await see('#/time', '.sequence');
    await page.click('summary >> text=Event and context');
    await isSound('time');
    await see('#/runs', '.runs a');
    await isSound('runs');
    await see(`#/runs/${ids.workflow}/${ids.run}`, '[data-node=ask][data-status=parked]');
    await page.click('[data-node=draft]');
    await page.waitForSelector('#receipt-title >> text=Write a draft');
    await isSound('a run at its gate');
    await see('#/runs/nowhere/nothing', 'h1 >> text=Not found');
    await isSound('a run that is not there');
  });

  it('holds on a phone', async () => {
    await page.setViewportSize({ width: 375, height: 812 });
    for (const [at, ready] of [
      ['#/fleet', '.row'],
      [`#/actor/work-item/${ids.item}`, '.node.lit'],
      ['#/time', '.sequence'],
      ['#/supervision', '#tree-title'],
      ['#/runs', '.runs a'],
    ] as const) {
      await see(at, ready);
      await isSound(`${at} on a phone`);
    }
    await page.setViewportSize({ width: 1360, height: 900 });
  });

  it('holds for the dialogs', async () => {
    await page.keyboard.press('?');
    await page.waitForSelector('dialog.keys[open]');
    await isSound('the keys');
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.waitForSelector('dialog.jump[open]');
    await isSound('the way to an actor');
    await page.keyboard.press('Escape');
  });

  it('holds where the gateway errs, is gone, or does not know who looks', async () => {
    await page.route('**/api/**', (route) =>
      route.fulfill({ status: 500, json: { error: 'It broke.', code: 'INTERNAL' } }),
    );
    for (const view of ['fleet', 'supervision', 'runs', 'time']) {
      await see(`#/${view}`, 'main h1');
      await until(page, 'document.querySelector("main").innerText.includes("It broke.")');
      await isSound(`${view} with an error`);
    }
    await page.unroute('**/api/**');
    const outsider = await viewer.open(house.gateway.url, { signedIn: false, reducedMotion: 'reduce' });
    const own = page;
    page = outsider;
    await page.waitForSelector('#token');
    await isSound('the gate');
    await page.fill('#token', 'x'.repeat(43));
    await page.press('#token', 'Enter');
    await page.waitForSelector('#token-note.bad');
    await isSound('a wrong token');
    await page.route('**/api/inspect/fleet', (route) => route.abort());
    await page.reload();
    await page.waitForSelector('h1 >> text=does not answer');
    await isSound('a gateway that does not answer');
    // A proxy's login page was shown as a gateway that does not answer
    const login = { status: 401, contentType: 'text/html', body: '<h1>Company login</h1>' };
    await page.unroute('**/api/inspect/fleet');
    await page.route('**/api/**', (route) => route.fulfill(login));
    await page.reload();
    await page.waitForSelector('h1 >> text=A proxy wants you to sign in');
    await isSound('a proxy that answers for the gateway');
    page = own;
    await house.gateway.close(100);
    await page.waitForSelector('.banner');
    await isSound('a gateway that is gone');
  });

  it('is looked at by rules that do find what is wrong', async () => {
    await page.evaluate(`{
      const faint = document.createElement('p');
      faint.textContent = 'faint';
      faint.style.color = '#ccc';
      document.querySelector('main').append(faint, document.createElement('button'));
    }`);
    expect((await wrongWith(page)).map((line) => line.split(':')[0])).to.have.members([
      'color-contrast',
      'button-name',
    ]);
    expect((await wrongWith(page, rulesOfColour)).map((line) => line.split(':')[0])).to.deep.equal([
      'color-contrast',
    ]);
  });

  async function populate(): Promise<void> {
    const items: string[] = [];
    for (let n = 0; n < 30; n += 1)
      items.push((await post('/api/work-items', { title: `Water the plants in room ${n}` })).workItem.id);
    const [first = '', ...others] = items;
    ids.item = first;
    ids.creation = (
      await house.operator.get(`/api/inspect/actors/work-item/${first}/history`)
    ).body.entries.at(-1).seq;
    for (const id of others.slice(0, 3))
      await post(`/api/work-items/${id}/status`, { status: 'blocked', note: 'no water' });
    await post(`/api/work-items/${first}/approval`, { decision: 'approve' }); // refused
    await post(`/api/work-items/${first}/status`, { status: 'executing' });
    await post(`/api/work-items/${first}/comments`, { text: 'There is no water.' });
    await post(`/api/work-items/${first}/approval/request`, { request: 'May I?' });
    ids.session = (await post('/api/sessions', { prompt: 'hang on', title: 'Plan the garden' })).id;
    await house
      .agent(ids.session)
      .post('/api/sessions', { prompt: 'count the chairs', title: 'Count the chairs' });
    await post('/api/sessions', { prompt: 'fail please', title: 'Fix the fence' });
    ids.workflow = (
      await post('/api/workflow-definitions/mutate', { operation: 'create', definition })
    ).definition.id;
    ids.run = (await post(`/api/workflow-definitions/${ids.workflow}/run`)).runId;
    await house.supervisor.spawn('glass', { id: 'g' });
    for (let n = 0; n < 2; n += 1)
      await house.supervisor.ask('glass', 'g', { type: 'break' }).catch(() => undefined);
  }
});

const definition = {
  title: 'Publish the report',
  nodes: [
    { id: 'draft', type: 'step', label: 'Write a draft', actor: { kind: 'noop' } },
    {
      id: 'ask',
      type: 'gate',
      label: 'May it go out?',
      gate: { kind: 'approval', approvalRef: 'go', description: 'The draft is ready.' },
    },
    { id: 'send', type: 'step', label: 'Send it', actor: { kind: 'noop' } },
  ],
  edges: [
    ['draft', 'ask'],
    ['ask', 'send'],
  ].map(([from, to]) => ({ id: `${from}-${to}`, from, to })),
};

/**
 * Breaks at a touch, and is given up with the second time: so there is a halted actor, a dead letter, a
 * subsystem that fails.
 */
const machine = setup({
  types: {} as { events: { type: 'break' } },
  guards: {
    broken: () => {
      throw new Error('it broke');
    },
  },
}).createMachine({
  id: 'glass',
  initial: 'whole',
  states: { whole: { on: { break: { guard: 'broken' } } } },
});
const glass = {
  kind: 'glass',
  version: 1,
  machine,
  view: ({ value }) => value,
  operatorEvents: { break: {} },
  // Longer than the specs take: the page must not change while it is checked
  supervision: { intensity: 1, periodSeconds: 3_600, backoffMs: 0, giveUp: 'escalate' },
} satisfies Kind<typeof machine> as unknown as Kind; // a list of kinds forgets the type of each one's machine
