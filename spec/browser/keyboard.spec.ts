import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openEvidence } from '../../lib/records/evidence/evidence.js';
import { openHouse, operatorToken, type House } from '../lib/gateway/fixture.js';
import { openBrowser, until, type Viewer } from './browser.js';

/**
 * The console by the keyboard alone: wherever Tab leads one sees where one is, and can leave again; what closes gives
 * the focus back to what opened it, and what was decided or moved does not take it along.
 */
describe('the console, by the keyboard alone', () => {
  let house: House;
  let viewer: Viewer;
  let page: Page;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keyboard-'));
    viewer = await openBrowser();
  });
  after(async () => {
    await viewer.close();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    house = await openHouse({ withRoster: true, evidence: await openEvidence({ standard: folder }) });
  });
  afterEach(async () => {
    await page.context().close();
    await house.close();
  });

  const open = async (at: string, signedIn = true): Promise<void> => {
    page = await viewer.open(house.gateway.url, { path: '/', at, signedIn, reducedMotion: 'reduce' });
  };
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const has = async (selector: string): Promise<void> => {
    const there = `document.activeElement?.matches(${JSON.stringify(selector)})`;
    await until(page, there, 600).catch(async (error: unknown) => {
      const { name } = await page.evaluate<Focused>(focused);
      throw new Error(`The focus is at ${name}`, { cause: error });
    });
  };
  /** It has the focus, and one sees that. */
  const isAt = async (selector: string): Promise<void> => {
    await has(selector);
    expect(await page.evaluate(focused), selector).to.include({ wrong: '' });
  };
  /** Tab until one is there; what is passed must show that one is at it, too. */
  const tabTo = async (selector: string, key = 'Tab'): Promise<void> => {
    for (let presses = 0; presses < 60; presses += 1) {
      if (
        presses > 0 ||
        !(await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`))
      )
        await press(key);
      const { wrong, name } = await page.evaluate<Focused>(focused);
      expect(wrong, `${name}, on the way to ${selector}`).to.equal('');
      if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
    }
    throw new Error(`Tab never came to ${selector}`);
  };
  /** From the beginning of a view to the end of the page, and on: nothing is passed twice, nothing holds one back. */
  const walk = async (): Promise<readonly string[]> => {
    const passed: string[] = [];
    await page.evaluate('delete window.passed');
    await until(page, hasCome); // what comes in between would stand before or behind where one is
    for (let presses = 0; presses < 150; presses += 1) {
      await press('Tab');
      const { wrong, name, isEnd } = await page.evaluate<Focused>(focused);
      if (isEnd) {
        expect(await page.evaluate(isLast), `${passed.at(-1)} is the last`).to.equal(true);
        return passed;
      }
      expect(wrong, `${name}, after ${passed.at(-1)}`).to.equal('');
      expect(await page.evaluate(inOrder), `${name} comes after ${passed.at(-1)}`).to.equal(true);
      passed.push(name);
    }
    throw new Error(`Tab never came to the end: ${passed.slice(-5).join(' | ')}`);
  };
  const item = async (title: string): Promise<string> =>
    (await house.operator.post('/api/work-items', { title })).body.workItem.id as string;
  const asking = async (title: string): Promise<string> => {
    const id = await item(title);
    await house.operator.post(`/api/work-items/${id}/approval/request`, { request: `May I, for ${title}?` });
    return id;
  };
  const read = async (id: string) => (await house.operator.get(`/api/work-items/${id}`)).body.workItem;

  it('begins at the field of the gate, then at a way past the navigation', async () => {
    await open('#/now', false);
    await isAt('#token');
    await page.keyboard.type(operatorToken);
    await press('Enter');
    await page.waitForSelector('[data-connection=live]', { state: 'attached' });
    await tabTo('a.skip');
    await press('Enter');
    await has('#main');
    await page.waitForSelector('.first .composer');
    expect((await walk())[0]).to.not.include('Find');
  });

  it('lists the keys, finds, and gives the focus back to where one was', async () => {
    const id = await asking('one');
    await open('#/inbox');
    await page.waitForSelector('.detail [data-choice=approve]');
    await tabTo('.detail [data-choice=reject]');
    await press('?');
    await isAt('dialog.keys[open] button');
    // The keys of the view behind still decided
    await press('a', 'g', 'n');
    expect(await page.locator('dialog.keys dt').allTextContents()).to.include.members(['a r e', 'm', '?']);
    await press('Escape');
    await isAt('.detail [data-choice=reject]');
    for (const keys of ['/', 'Control+k']) {
      await press(keys);
      await isAt('dialog.palette[open] input');
      await page.keyboard.type('a?');
      await press('Escape');
      await isAt('.detail [data-choice=reject]');
    }
    expect((await read(id)).approvalState).to.equal('pending');
    await press('/');
    await page.keyboard.type('settings');
    await page.waitForSelector('#hit-0[aria-selected=true] >> text=Settings');
    await press('ArrowDown', 'ArrowUp');
    await page.waitForSelector('#hit-0[aria-selected=true]');
    await press('Enter');
    await page.waitForSelector('#engines-title');
    await has('#main');
  });

  // What closes with its dialog keeps the focus until the next frame; on a busy machine the new view came before that,
  // believed that something had it, and the focus was nowhere
  it('begins at the view that was found, also before the next frame', async () => {
    await asking('one');
    await open('#/inbox');
    await page.waitForSelector('.detail [data-choice=approve]');
    await tabTo('.detail [data-choice=reject]');
    await press('/');
    await isAt('dialog.palette[open] input');
    await page.keyboard.type('settings');
    await page.waitForSelector('#hit-0[aria-selected=true] >> text=Settings');
    await press('ArrowDown', 'ArrowUp');
    await page.waitForSelector('#hit-0[aria-selected=true]');
    await page.evaluate(`{
      const frame = requestAnimationFrame;
      requestAnimationFrame = (act) => (queueMicrotask(act), 0);
      addEventListener('keyup', () => { requestAnimationFrame = frame; });
    }`);
    await press('Enter');
    await page.waitForSelector('#engines-title');
    await has('#main');
  });

  // Until the next frame they were taken for words in the field of the dialog that had closed, and lost
  it('hears keys as soon as a dialog has closed', async () => {
    await open('#/now');
    await page.waitForSelector('.heading');
    await press('/');
    await isAt('dialog.palette[open] input');
    await page.evaluate(`{
      const field = document.activeElement;
      field.closest('dialog').close();
      field.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true }));
    }`);
    await isAt('dialog.keys[open] button');
  });

  // What is decided goes away, and took the focus along; a note that was written was left behind
  it('decides in the inbox, with a note, and goes on at the next', async () => {
    const [one, two, three] = [await asking('one'), await asking('two'), await asking('three')];
    await open('#/now');
    await page.waitForSelector('.needs [data-choice=approve] >> nth=2');
    await press('g', 'i');
    await page.waitForSelector('.list li >> nth=2');
    await has('#main');
    await tabTo('.pick');
    await press('a');
    await page.waitForSelector('.list li >> nth=2', { state: 'detached' });
    await page.waitForSelector('.detail >> text=May I, for two?');
    await isAt('.at .pick');
    await press('n');
    await isAt('.detail textarea');
    await page.keyboard.type('Not in winter.');
    await tabTo('.detail [data-choice=approve]');
    await press('r');
    await page.waitForSelector('.detail >> text=May I, for three?');
    await isAt('.at .pick');
    await tabTo('.detail [data-choice=approve]');
    await press('Enter');
    await page.waitForSelector('text=You are done here.');
    const states = await Promise.all([one, two, three].map(async (id) => (await read(id)).approvalState));
    expect(states).to.deep.equal(['approved', 'rejected', 'approved']);
    const { approvals } = (await house.operator.get(`/api/work-items/${two}/approvals`)).body;
    expect(approvals[0]).to.include({ note: 'Not in winter.' });
    await walk();
  });

  // Arrows chose another thing while one read what this one asks, in a box that scrolls
  it('leaves the arrows to a box that scrolls', async () => {
    const { id } = (await house.operator.post('/api/sessions', { prompt: 'hang', title: 'Build' })).body;
    for (const permissionId of ['p1', 'p2'])
      await house.supervisor.ask('session', id, {
        type: 'permission.asked',
        permissionId,
        turnId: `${id}:1`,
        tool: 'Bash',
        title: permissionId,
        text: JSON.stringify({ command: `echo ${permissionId}\n`.repeat(200) }),
        waitMs: 600_000,
      });
    await open('#/inbox');
    await page.waitForSelector('.detail pre >> text=echo p1');
    await tabTo('.detail pre');
    await press('ArrowDown');
    await until(page, 'document.activeElement.scrollTop > 0 || scrollY > 0');
    await isAt('.detail pre');
    await press('j');
    await page.waitForSelector('.detail pre >> text=echo p2');
  });

  it('writes to an agent, and leaves the field', async () => {
    await open('#/now');
    await page.waitForSelector('.heading');
    await press('g', 'c');
    await page.waitForSelector('.new-session option', { state: 'attached' });
    await has('#main');
    await tabTo('.new-session textarea');
    await page.keyboard.type('water the plants');
    await press('Enter');
    await page.waitForSelector('.message.assistant >> text=did: water the plants');
    await tabTo('.composer textarea');
    await page.keyboard.type('and the moss');
    await press('Enter');
    await page.waitForSelector('.message.assistant >> text=did: and the moss');
    await isAt('.composer textarea');
    await press('Shift+Tab', 'g', 'c');
    await page.waitForSelector('.new-session');
    await has('#main');
    await walk();
  });

  // A card that was moved, and a dialog that was answered, left one at the beginning of the page
  it('moves a card, stays with it, and opens it', async () => {
    const id = await item('Water the plants');
    await item('Paint the door');
    const card = `[data-item="${id}"]`;
    await open('#/board');
    await page.waitForSelector(card);
    await tabTo(`${card} .title`);
    await press('m');
    await isAt('.moves-dialog[open] [data-to]:not(:disabled)');
    await press('Escape');
    await isAt(`${card} .title`);
    await press('m');
    await page.waitForSelector('.moves-dialog[open]');
    await tabTo('.moves-dialog [data-to=executing]', 'Tab');
    await press('Enter');
    await isAt(`[data-status=executing] ${card} .title`);
    await press('m');
    await page.waitForSelector('.moves-dialog[open]');
    await tabTo('.moves-dialog [data-to=blocked]');
    await press('Enter');
    await isAt('.moves-dialog textarea');
    await page.keyboard.type('no water');
    await tabTo('.moves-dialog button[type=submit]');
    await press('Enter');
    await isAt(`[data-status=blocked] ${card} .title`);
    await press('Enter');
    await page.waitForSelector('.time-line >> text=no water');
    await has('#main');
    await tabTo('.comment textarea');
    await page.keyboard.type('It rains.');
    await tabTo('.comment button');
    await press('Enter');
    await page.waitForSelector('.time-line >> text=It rains.');
    await isAt('.comment button');
    await tabTo('.facts + .ways button');
    await press('Enter');
    await page.waitForSelector('.moves-dialog[open]');
    await press('Escape');
    await isAt('.facts + .ways button');
    await press('Enter');
    await page.waitForSelector('.moves-dialog[open]');
    await tabTo('.moves-dialog [data-to=executing]');
    await press('Enter');
    await page.waitForSelector('.heading [data-status=executing]');
    await isAt('.facts + .ways button');
    await press('g', 'b');
    await page.waitForSelector(card);
    await has('#main');
    await walk();
  });

  it('adds work items one after the other', async () => {
    await open('#/board');
    await page.waitForSelector('.new-item');
    await tabTo('.new-item input');
    for (const title of ['Water the moss', 'Paint the door']) {
      await page.keyboard.type(title);
      await press('Enter');
      await page.waitForSelector(`.card >> text=${title}`);
      await until(page, 'document.querySelector(".new-item input").value === ""');
      await isAt('.new-item input');
    }
  });

  it('edits a workflow: its graph, its forms, and its text, which lets one go', async () => {
    const nodes = [
      { id: 'look', type: 'step', actor: { kind: 'noop' } },
      { id: 'water', type: 'step', actor: { kind: 'noop' } },
    ];
    const definition = { title: 'Garden', nodes, edges: [{ id: 'then', from: 'look', to: 'water' }] };
    const made = await house.operator.post('/api/workflow-definitions', { definition });
    expect(made.status, made.text).to.equal(201);
    await open('#/now');
    await page.waitForSelector('.heading');
    await press('g', 'w');
    await page.waitForSelector('[data-workflow] a');
    await has('#main');
    await tabTo('[data-workflow] a');
    await press('Enter');
    await page.waitForSelector('[data-node=look]');
    await has('#main');
    await tabTo('a[href*="workflow-editor"]');
    await press('Enter');
    await page.waitForSelector('#graph-title >> text=sound');
    await page.waitForSelector('[data-node=look]');
    await tabTo('[data-node=look]');
    await press('Enter');
    await page.waitForSelector('#form-title >> text=look');
    await isAt('[data-node=look]');
    await tabTo('[data-field=label] input');
    await page.keyboard.type('See');
    await tabTo('textarea.yaml');
    await press('Control+Home');
    await page.keyboard.type('# mine\n');
    await press('Tab');
    await until(page, '!document.activeElement.matches("textarea.yaml")');
    await tabTo('textarea.yaml', 'Shift+Tab');
    expect(await page.inputValue('textarea.yaml')).to.match(/^# mine\n[^\t]*label: See/);
    await page.waitForSelector('#graph-title >> text=sound');
    await tabTo('.heading button', 'Shift+Tab');
    await tabTo('.heading button:first-child', 'Shift+Tab');
    await press('Enter');
    await page.waitForSelector('[data-outcome] >> text=It can be saved');
    await isAt('.heading button:first-child');
    await page.focus('#main');
    await walk();
  });

  it('walks through the rest, from the beginning of each to its end', async () => {
    await open('#/now');
    await page.waitForSelector('.heading');
    for (const [keys, ready] of [
      ['gn', '.since'],
      ['go', '#view-title, h1'],
      ['g$', 'h1'],
      ['gt', 'h1'],
      ['gk', 'h1'],
      ['gf', 'h1'],
      ['gs', '#config-title'],
    ] as const) {
      await press('g', keys.slice(1));
      await page.waitForSelector(ready);
      if (keys !== 'gn') await has('#main');
      else await page.focus('#main');
      await walk();
    }
  });

  it('breaks no rule of its own policy and throws nothing', async () => {
    await open('#/now');
    expect(viewer.complaints).to.deep.equal([]);
  });
});

interface Focused {
  readonly name: string;
  /** What is missing where one is; empty: it can be seen, and that it has the focus. */
  readonly wrong: string;
  /** Past the last thing of the page. */
  readonly isEnd: boolean;
}

const focused = `new Promise((resolve) => requestAnimationFrame(() => {
  const at = document.activeElement;
  const name = at.tagName.toLowerCase() + ' ' + (at.getAttribute('aria-label') ?? at.textContent).trim().slice(0, 40);
  const isEnd = at === document.body || at.matches('.skip');
  const [box] = at.getClientRects();
  const wrong = () => {
    if (at === document.body) return 'nothing has the focus';
    if (box === undefined || box.width === 0 || box.height === 0) return 'it has no size';
    const [left, right] = [Math.max(0, box.left), Math.min(innerWidth, box.right)];
    const [top, bottom] = [Math.max(0, box.top), Math.min(innerHeight, box.bottom)];
    if (right <= left || bottom <= top) return 'it is out of sight';
    if (!at.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return 'it is transparent';
    const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    if (hit === null || !(at.contains(hit) || hit.contains(at))) return 'it is covered by ' + hit?.className;
    const outlined = [at, at.closest('.composer')].some((one) => {
      const style = one && getComputedStyle(one);
      return style && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1;
    });
    const drawn = at.querySelector(':scope > rect');
    if (!outlined && !(drawn && parseFloat(getComputedStyle(drawn).strokeWidth) >= 3)) return 'nothing shows it';
    return '';
  };
  resolve({ name, isEnd, wrong: wrong() });
}))`;

const inOrder = `(() => {
  const [before, at] = [window.passed, document.activeElement];
  window.passed = at;
  return before === undefined || (before.compareDocumentPosition(at) & Node.DOCUMENT_POSITION_FOLLOWING) > 0;
})()`;

/** All that the view reads is there: nothing says that it is loading, and for a while there are as many ways on. */
const hasCome = `(() => {
  const main = document.getElementById('main');
  const ways = main.querySelectorAll('a[href], button, input, select, textarea, summary').length;
  window.rests = window.ways === ways && !main.querySelector('[aria-busy=true]') ? (window.rests ?? 0) + 1 : 0;
  window.ways = ways;
  return window.rests > 30;
})()`;

const isLast = `(() => {
  const tabbable = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
  const all = [...document.querySelectorAll('main :is(' + tabbable + ')')];
  const isThere = (one) => !one.disabled && one.tabIndex === 0 && one.checkVisibility({ visibilityProperty: true });
  const last = all.findLast(isThere);
  return window.passed === last;
})()`;
