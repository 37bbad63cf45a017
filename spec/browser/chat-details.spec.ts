import { expect } from 'chai';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { openBrowser, type Viewer } from './browser.js';

/** What a conversation in the console keeps, and how it says what became of a thing. */
describe('the details of a conversation in the console', () => {
  let house: House;
  let viewer: Viewer;
  before(async () => {
    viewer = await openBrowser();
    house = await openHouse();
  });
  after(async () => {
    await viewer.close();
    await house.close();
  });
  const open = (at: string) => viewer.open(house.gateway.url, { path: '/', at });
  const session = async (title: string, more: object = {}): Promise<string> =>
    (await house.operator.post('/api/sessions', { prompt: 'x', title, ...more })).body.id as string;

  // The second was ignored without a word
  it('takes files that come while others are on their way', async () => {
    const page = await open('#/chat');
    let sent = 0;
    await page.route('**/api/files', (route) => {
      sent += 1;
      return route.fulfill({ status: 201, json: { id: `f${sent}`, filename: `file ${sent}` } });
    });
    await page.waitForSelector('.composer textarea');
    await page.evaluate(`for (const name of ['one.txt', 'two.txt', 'three.txt']) {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['x'], name));
      const drop = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true });
      document.querySelector('.composer').dispatchEvent(drop);
    }`);
    await page.waitForSelector('.attached li >> nth=2');
    expect(sent).to.equal(3);
    await page.context().close();
  });

  // A question stood there like a tool that had done its work, with a green light, even where it was denied
  it('says of a permission whether it was given', async () => {
    const id = await session('Publish it');
    const page = await open('#/now');
    const about = { role: 'assistant', timestamp: Date.now(), toolCall: 'Bash' };
    const asked = (state: string, note?: string) => ({
      ...about,
      id: state,
      content: 'Asked to use Bash: npm publish',
      meta: { kind: 'permission', state, toolInput: '{"command":"npm publish"}', note },
    });
    await page.route(
      ({ pathname }) => pathname === `/api/sessions/${id}`,
      async (route) => {
        const answer = await route.fetch();
        const messages = [asked('pending'), asked('denied', 'Not on a Friday.'), asked('allowed')];
        await route.fulfill({ response: answer, json: { ...(await answer.json()), messages } });
      },
    );
    await viewer.go(page, `#/chat/${id}`);
    await page.waitForSelector('[data-message=pending] .tool.running >> text=asked');
    await page.waitForSelector('[data-message=allowed] .tool.done >> text=allowed');
    await page.click('[data-message=denied] .tool.failed >> text=denied');
    await page.waitForSelector('[data-message=denied] >> text=Not on a Friday.');
    await page.context().close();
  });

  // How a command ended and how long it took was nowhere to be seen, though the engine had said it
  it('says of a tool how it ended and how long it took, and of one that runs since when', async () => {
    const id = await session('Build it');
    const page = await open('#/now');
    const used = (name: string, timestamp: number, meta: object) => ({
      id: name,
      role: 'assistant',
      content: 'Using Bash',
      timestamp,
      toolCall: 'Bash',
      meta: { kind: 'tool', toolInput: '{"command":"make"}', ...meta },
    });
    await page.route(
      ({ pathname }) => pathname === `/api/sessions/${id}`,
      async (route) => {
        const answer = await route.fetch();
        const messages = [
          used('bad', Date.now(), { state: 'failed', toolOutput: 'x', exitCode: 2, durationMs: 1_500 }),
          used('good', Date.now(), { state: 'done', toolOutput: 'x', exitCode: 0, durationMs: 20 }),
          used('plain', Date.now(), { state: 'done', toolOutput: 'x' }),
          used('slow', Date.now() - 600_000, { state: 'running' }),
        ];
        await route.fulfill({ response: answer, json: { ...(await answer.json()), messages } });
      },
    );
    await viewer.go(page, `#/chat/${id}`);
    await page.waitForSelector('[data-message=bad] .tool.failed >> text=failed exit 2 1.5 s');
    await page.waitForSelector('[data-message=good] .tool.done >> text=exit 0 20 ms');
    await page.waitForSelector('[data-message=slow] .tool.running >> text=running 10 min');
    expect(await page.locator('[data-message=plain] .num.end').innerText()).to.equal('');
    await page.context().close();
  });

  // What it had said before it used a tool stood there twice until its turn was over
  it('says once what it said before it used a tool', async () => {
    const { id } = (await house.operator.post('/api/sessions', { prompt: 'hang', title: 'Look' })).body;
    const page = await open('#/now');
    const remark = {
      id: `${id}:1:1`,
      role: 'assistant',
      content: 'I look.',
      timestamp: Date.now(),
      meta: { kind: 'remark', turnId: `${id}:1` },
    };
    await page.route(
      ({ pathname }) => pathname === `/api/sessions/${id}`,
      async (route) => {
        const answer = await route.fetch();
        await route.fulfill({ response: answer, json: { ...(await answer.json()), messages: [remark] } });
      },
    );
    const text = 'I look. Found it.';
    const words = { messageId: `${id}:1:answer`, text, end: text.length, at: new Date().toISOString() };
    await page.route(`**/api/sessions/${id}/words`, (route) => route.fulfill({ json: words }));
    await viewer.go(page, `#/chat/${id}`);
    await page.waitForSelector('[data-live] >> text=Found it.');
    expect(await page.locator('.assistant .prose').allTextContents()).to.deep.equal(['I look.', 'Found it.']);
    await page.context().close();
  });

  // It said how many tokens, and not of how many
  it('says how full the context is where the engine says how much it holds', async () => {
    const id = await session('Full');
    const page = await open('#/now');
    let more: object = { lastContextTokens: 68_000, contextWindow: 200_000 };
    await page.route(
      ({ pathname }) => pathname === `/api/sessions/${id}`,
      async (route) => {
        const answer = await route.fetch();
        await route.fulfill({ response: answer, json: { ...(await answer.json()), ...more } });
      },
    );
    await viewer.go(page, `#/chat/${id}`);
    await page.waitForSelector('.talk-head >> text=68,000 tokens, 34 % of its context');
    more = { lastContextTokens: 420, contextWindow: null };
    await viewer.go(page, '#/now');
    await viewer.go(page, `#/chat/${id}`);
    await page.waitForSelector('.talk-head >> text=/^420 tokens$/');
    await page.context().close();
  });

  it('shows the sessions that it opened as a tree', async () => {
    const root = await session('Root');
    const child = await session('Child', { parentSessionId: root });
    const grandchild = await session('Grandchild', { parentSessionId: child });
    const page = await open(`#/chat/${root}`);
    await page.click(`.children .children a[href*="${grandchild}"]`);
    await page.waitForSelector('#chat-title >> text=Grandchild');
    await page.context().close();
  });

  it('breaks no rule of its own policy and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
