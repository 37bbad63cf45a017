import type { CDPSession, Page } from 'playwright-core';
import { foundMax } from '../../machines/session/transcript.js';
import { openBrowser, type Viewer } from '../browser/browser.js';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { populate, workItems } from './actors.js';
import { inFlight, timed, type Figure, type Measure } from './measure.js';

/**
 * The console's page in a real browser: a board of 5,000 work items that is scrolled and dragged on while items change,
 * a session with 10,000 messages, and 200 sessions that are at work while one watches. What the page takes of a
 * processor is that of its main thread, by the browser's own count, so neighbours on the machine do not show in it.
 */
const items = 5_000;
const messages = 10_000;
const sessions = 200;
const changesPerSecond = 20;
const turnsPerSecond = 5;
const watchedSeconds = 15;
const frames = 180;

export const consolePage: Measure = {
  name: 'console',
  about: `the console's page over ${items} work items, ${messages} messages and ${sessions} sessions at work`,
  async run() {
    const house = await openHouse();
    const viewer = await openBrowser();
    try {
      return [
        ...(await board(house, viewer)),
        ...(await conversation(house, viewer)),
        ...(await fleet(house, viewer)),
      ];
    } finally {
      await viewer.close();
      await house.close();
    }
  },
};

async function board(house: House, viewer: Viewer): Promise<readonly Figure[]> {
  await populate(house.supervisor, workItems, items);
  const page = await viewer.open(house.gateway.url, { path: '/' });
  const nothing = await draw(page);
  const openMs = await timed(async () => {
    await viewer.go(page, '#/board');
    await page.waitForSelector('.card');
  });
  const quiet = await scroll(page, backlog);
  const last = await page.evaluate<number>(reachLast);
  const change = changing(house);
  const busy = await scroll(page, backlog);
  const dragged = await drag(page);
  await change();
  const cards = await page.locator('.card').count();
  await page.context().close();
  return [
    { name: `board of ${items}: opens in`, value: openMs, unit: 'ms' },
    { name: 'board, work items that can be scrolled to', value: last, unit: '', target: { atLeast: items } },
    { name: 'a page in which nothing moves', ...framesOf(nothing) },
    { name: 'board, scrolling', ...framesOf(quiet), target: { atLeast: 50 } },
    {
      name: `board, scrolling at ${changesPerSecond} changes/s`,
      ...framesOf(busy),
      target: { atLeast: 50 },
    },
    {
      name: `board, dragging at ${changesPerSecond} changes/s`,
      ...framesOf(dragged),
      target: { atLeast: 50 },
    },
    { name: 'board, cards in the page', value: cards, unit: 'cards', target: { atMost: 150 } },
  ];
}

const backlog = '.board [data-status=backlog]';

/** How far down one gets; heights are guessed until a card was there, so it takes more than one leap. */
const reachLast = `new Promise((resolve) => {
  let leaps = 0;
  const step = () => {
    const last = [...document.querySelectorAll('${backlog} .card:not(.coming)')].at(-1);
    const at = Number(last?.getAttribute('aria-posinset'));
    if (at === ${items} || leaps === 300) return resolve(at);
    leaps += 1;
    document.scrollingElement.scrollTop = 1e9;
    requestAnimationFrame(step);
  };
  step();
})`;

/** Work items are blocked and taken up again, so many a second, until one says stop. */
function changing(house: House): () => Promise<void> {
  let stopped = false;
  let changes = 0;
  const began = Date.now();
  const run = async (): Promise<void> => {
    while (!stopped) {
      const due = ((Date.now() - began) / 1_000) * changesPerSecond;
      for (; changes < due; changes += 1)
        await house.operator.post(`/api/work-items/a${(changes * 7) % items}/status`, {
          status: 'blocked',
          note: 'no water',
        });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const running = run();
  return async () => {
    stopped = true;
    await running;
  };
}

async function conversation(house: House, viewer: Viewer): Promise<readonly Figure[]> {
  const { id } = (await house.operator.post('/api/sessions', { prompt: 'go' })).body as { id: string };
  await atRest(house, id);
  for (let n = 0; n < messages; n += foundMax) {
    await new Promise((resolve) => setTimeout(resolve, 2)); // only what is later than the last is new
    const timestamp = Date.now();
    await house.supervisor.ask('session', id, {
      type: 'transcript.found',
      entries: Array.from({ length: foundMax }, (_, m) => ({
        id: `line-${n + m}`,
        role: m % 2 === 0 ? ('user' as const) : ('assistant' as const),
        content: `Message **${n + m}** about the plants.\n\n- one\n- two`,
        timestamp,
      })),
    });
  }
  const page = await viewer.open(house.gateway.url, { path: '/' });
  const openMs = await timed(async () => {
    await viewer.go(page, `#/chat/${id}`);
    await page.waitForSelector(`.messages >> text=Message ${messages - 1} `);
  });
  const reachMs = await timed(() => page.evaluate(reachFirst));
  const all = await scroll(page, '.transcript');
  await page.context().close();
  return [
    {
      name: `session of ${messages} messages: opens in`,
      value: openMs,
      unit: 'ms',
      target: { atMost: 1_000 },
    },
    { name: 'session, from the last to the first message', value: reachMs, unit: 'ms' },
    { name: 'session, scrolling through all', ...framesOf(all), target: { atLeast: 50 } },
  ];
}

/** To the top again and again, until nothing older comes. */
const reachFirst = `new Promise((resolve) => {
  const box = document.querySelector('.transcript');
  const step = () => {
    if (box.querySelector('.older') === null) return resolve();
    if (box.scrollTop > 0) box.scrollTop = 0;
    requestAnimationFrame(step);
  };
  step();
})`;

async function fleet(house: House, viewer: Viewer): Promise<readonly Figure[]> {
  const ids: string[] = [];
  await inFlight(10, sessions, async (_lane, n) => {
    const { body } = await house.operator.post('/api/sessions', { prompt: 'go', title: `Session ${n}` });
    ids.push(body.id as string);
  });
  const figures: Figure[] = [];
  const page = await viewer.open(house.gateway.url, { path: '/', at: '#/now' });
  const thread = await page.context().newCDPSession(page);
  await thread.send('Performance.enable', { timeDomain: 'threadTicks' });
  for (const [view, ready] of [
    ['now', '.view.now'],
    ['chat', '.sessions li'],
  ] as const) {
    await viewer.go(page, `#/${view}`);
    await page.waitForSelector(ready);
    const quiet = await busyShare(thread, 4);
    const began = Date.now();
    let sent = 0;
    const share = busyShare(thread, watchedSeconds);
    while (Date.now() - began < watchedSeconds * 1_000) {
      const due = ((Date.now() - began) / 1_000) * turnsPerSecond;
      for (; sent < due; sent += 1)
        void house.operator.post(`/api/sessions/${ids[sent % ids.length]}/message`, { message: 'go on' });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    figures.push(
      { name: `${view}, nothing happens: the page takes`, value: quiet * 100, unit: '% core' },
      {
        name: `${view}, ${sessions} sessions, ${turnsPerSecond} turns/s: the page takes`,
        value: (await share) * 100,
        unit: '% core',
        target: { atMost: 10 },
        note: `${sent} turns in ${watchedSeconds} s`,
      },
    );
  }
  await page.context().close();
  return figures;
}

/** How much of a core the page's own thread took. */
async function busyShare(thread: CDPSession, seconds: number): Promise<number> {
  const spent = async (): Promise<number> => {
    const { metrics } = await thread.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  };
  const before = await spent();
  const began = performance.now();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  return ((await spent()) - before) / ((performance.now() - began) / 1_000);
}

const atRest = async (house: House, id: string): Promise<void> => {
  for (;;) {
    const { body } = await house.operator.get(`/api/sessions/${id}?messages=0`);
    if (body.status !== 'running') return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

interface Ride {
  readonly perSecond: number;
  /** The longest that a frame waited for the one before. */
  readonly longestMs: number;
  /** Of the page's thread. */
  readonly cpuMs: number;
}

/**
 * As many as the page's thread has the time for, at most what a screen shows: those that were drawn also tell how busy
 * the rest of the machine is.
 */
const framesOf = ({ perSecond, longestMs, cpuMs }: Ride) => ({
  value: Math.min(60, 1_000 / cpuMs),
  unit: 'frames/s',
  note: `${cpuMs.toFixed(1)} ms of processor a frame; ${perSecond.toFixed(0)} drawn, longest wait ${longestMs.toFixed(0)} ms`,
});

/** What is done in each of so many frames: `step` is the body of a function of `box` and `frame`. */
async function ride(page: Page, step: string, within = 'body'): Promise<Ride> {
  const thread = await page.context().newCDPSession(page);
  await thread.send('Performance.enable', { timeDomain: 'threadTicks' });
  const spent = async (): Promise<number> =>
    (await thread.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration')
      ?.value ?? 0;
  const before = await spent();
  const { perSecond, longestMs } = await page.evaluate<Omit<Ride, 'cpuMs'>>(`new Promise((resolve) => {
    let box = document.querySelector('${within}');
    while (box !== null && !(box.scrollHeight > box.clientHeight && /auto|scroll/.test(getComputedStyle(box).overflowY))) box = box.parentElement;
    box ??= document.scrollingElement;
    const leap = (box.scrollHeight - box.clientHeight) / ${frames};
    const down = box.scrollTop < 10 ? 1 : -1;
    let frame = 0, began, last, longestMs = 0;
    const step = (at) => {
      began ??= at;
      longestMs = Math.max(longestMs, at - (last ?? at));
      last = at;
      if (frame === ${frames}) return resolve({ perSecond: frame * 1000 / (at - began), longestMs });
      ${step};
      frame += 1;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`);
  const cpuMs = (((await spent()) - before) * 1_000) / frames;
  await thread.detach();
  return { perSecond, longestMs, cpuMs };
}

const draw = (page: Page): Promise<Ride> => ride(page, '');

/** From one end to the other of what moves around an element. */
const scroll = (page: Page, within: string): Promise<Ride> =>
  ride(page, 'box.scrollTop += down * leap', within);

/** A card in the hand, to and fro over the columns. */
async function drag(page: Page): Promise<Ride> {
  await page.evaluate('document.querySelector(".board").scrollIntoView()');
  const card = await page.locator(`${backlog} .card`).first().boundingBox();
  const to = await page.locator('.board [data-status=executing]').boundingBox();
  if (card === null || to === null) throw new Error('there is no board to drag on');
  await page.mouse.move(card.x + 20, card.y + 10);
  await page.mouse.down();
  let over = false;
  const moves = (async () => {
    for (let n = 0; !over; n += 1)
      await page.mouse.move(n % 2 === 0 ? to.x + 20 : card.x + 40, to.y + 100 + (n % 50), { steps: 10 });
  })();
  const frames = await draw(page);
  over = true;
  await moves;
  await page.keyboard.press('Escape');
  await page.mouse.up();
  return frames;
}
