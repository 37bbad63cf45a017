import { expect } from 'chai';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { openBrowser, type Viewer } from './browser.js';

/** *Now* over more than it lists. */
describe('what the console says of now', () => {
  let house: House;
  let used: House;
  let staffed: House;
  let viewer: Viewer;
  before(async () => {
    viewer = await openBrowser();
    house = await openHouse();
    used = await openHouse();
    staffed = await openHouse({ withRoster: true });
  });
  after(async () => {
    await viewer.close();
    await house.close();
    await used.close();
    await staffed.close();
  });
  const post = async (path: string, body: object) => (await house.operator.post(path, body)).body;

  // At most 30 of each state were read, and twelve shown, and neither was said
  it('counts what is stuck and what runs beyond what it lists, and says how the gateway is', async () => {
    for (let n = 0; n < 60; n += 1) {
      const { workItem } = await post('/api/work-items', { title: `Water room ${n}` });
      await post(`/api/work-items/${workItem.id}/status`, { status: 'blocked', note: 'no water' });
    }
    for (let n = 0; n < 14; n += 1)
      await post('/api/sessions', { prompt: 'hang', title: `Count the chairs ${n}` });
    const page = await viewer.open(house.gateway.url, { path: '/' });
    await page.waitForSelector('.heading >> text=Nothing needs you, 60 stuck, 14 at work.');
    await page.waitForSelector('#stuck-title >> text=/^Stuck 60$/');
    await page.waitForSelector('[aria-labelledby=stuck-title] [data-more] >> text=/^48 more$/');
    await page.waitForSelector('#working-title >> text=/^At work 14$/');
    await page.waitForSelector('[aria-labelledby=working-title] [data-more] >> text=/^2 more$/');
    await page.waitForSelector('[data-health=running] >> text=1 of 2 engines found');
    await page.context().close();
  });

  // A home in use was asked again and again whether it is new, whenever nothing was at work for a moment
  it('asks once whether the home is new', async () => {
    const { id } = (await used.operator.post('/api/sessions', { prompt: 'go', title: 'Water' })).body;
    const page = await viewer.open(used.gateway.url, { path: '/' });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.reload();
    await page.waitForSelector('.heading >> text=nothing runs');
    for (let n = 1; n <= 5; n += 1) {
      await used.operator.post(`/api/sessions/${id}/message`, { message: 'go on' });
      await page.waitForSelector(`[aria-labelledby=since-title] li >> nth=${n - 1}`);
      await page.waitForSelector('.heading >> text=nothing runs');
    }
    const ofFirstRun = asked.filter((path) => /^\/api\/(?:engines|org|status)$/.test(path));
    expect(ofFirstRun.length).to.be.at.most(1);
    await page.context().close();
  });

  // All of them ran, and of one that had not begun its chat said that its model says nothing
  it('says of what waits for its place that it is queued', async () => {
    const opened = async (title: string): Promise<string> =>
      (await used.operator.post('/api/sessions', { prompt: 'hang', title })).body.id as string;
    const begun = await opened('At work');
    const id = await opened('Behind it');
    const page = await viewer.open(used.gateway.url, { path: '/', at: `#/chat/${id}` });
    await page.waitForSelector('.transcript >> text=Its turn waits for a free process');
    expect(await page.locator('.talk').innerText()).to.not.include('It is working');
    await viewer.go(page, '#/now');
    await page.waitForSelector('[data-queued] >> text=/^2 of them wait for a free process/');
    await page.waitForSelector('[aria-labelledby=working-title] li >> text=queued');
    await used.supervisor.ask('session', begun, { type: 'turn.began', turnId: `${begun}:1` });
    await page.waitForSelector('[data-queued] >> text=/^1 of them waits/');
    await page.context().close();
  });

  // The list of keys has them for every list, and they did something in the inbox alone
  it('walks through any list by j and k, and opens what is there by Enter', async () => {
    const page = await viewer.open(used.gateway.url, { path: '/', at: '#/chat' });
    await page.waitForSelector('nav.sessions li >> text=Behind it');
    const at = (): Promise<string> => page.evaluate('document.activeElement.innerText');
    await page.keyboard.press('j');
    const first = await at();
    await page.keyboard.press('j');
    const second = await at();
    expect(second).to.not.equal(first);
    await page.keyboard.press('k');
    expect(await at()).to.equal(first);
    await page.keyboard.press('Enter');
    await page.waitForSelector(`#chat-title >> text=${first.split('\n')[0]}`);
    await page.context().close();
  });

  // It needed a person by three buttons, each of which was refused after five seconds
  it('leaves to an employee what is asked of one, and to a person what is asked of the root', async () => {
    const asked = async (title: string, assignee: string): Promise<void> => {
      const { workItem } = (await staffed.operator.post('/api/work-items', { title, assignee })).body;
      const path = `/api/work-items/${workItem.id}/approval/request`;
      expect((await staffed.operator.post(path, { request: 'May I?' })).status).to.equal(200);
    };
    await asked('Ask Bob', 'ann');
    await asked('Ask the chief', 'bob');
    const { waiting } = (await staffed.operator.get('/api/attention')).body;
    expect(
      waiting.map((one: Record<string, unknown>) => [one['on'], one['operatorEntitled']]),
    ).to.have.deep.members([
      ['bob', false],
      ['chief', true],
    ]);
    const page = await viewer.open(staffed.gateway.url, { path: '/' });
    await page.waitForSelector('.heading >> text=1 thing needs you');
    await page.waitForSelector('[data-others] >> text=One thing waits for employees, who decide');
    expect(await page.locator('.needs .things').innerText()).to.not.include('Ask Bob');
    await viewer.go(page, '#/inbox');
    await page.click('.pick >> text=Ask Bob');
    await page.waitForSelector('.detail >> text=bob decides this, or who stands above.');
    expect(await page.locator('.detail [data-choice]').count()).to.equal(0);
    await page.keyboard.press('a');
    await page.waitForSelector('[data-outcome] >> text=bob decides this.');
    await page.context().close();
  });

  it('breaks no rule of its own policy and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
