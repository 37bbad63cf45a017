import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { openLevelStore } from '../../lib/store/level.js';
import { openBrowser } from '../browser/browser.js';
import { openGroup, type Group } from '../browser/group.js';
import { operatorToken } from '../lib/gateway/fixture.js';
import { percentile, withHome, type Figure, type Measure } from './measure.js';
import type { WatchRequest } from './watch-clients.js';

/**
 * The inspector's page in a real browser over 100,000 actors on LevelDB, beside nine others who watch: how long after
 * its commit an event can be seen while five hundred of them happen every second, and how many frames a second are
 * drawn while one scrolls from end to end, beside an empty page on the same machine.
 */
const actors = 100_000;
const perSecond = 500;
const others = 9;
const loadedSeconds = 15;
const scrollFrames = 240;

export const page: Measure = {
  name: 'page',
  about: `the inspector's page over ${actors} actors at ${perSecond} events a second`,
  run: () => withHome(measured),
};

async function measured(home: string): Promise<readonly Figure[]> {
  const group = await openGroup(actors, await openLevelStore({ directory: home }));
  const viewer = await openBrowser();
  const audience = fork(fileURLToPath(new URL('watch-clients.js', import.meta.url)));
  try {
    audience.send({
      port: group.gateway.port,
      count: others,
      path: '/ws/inspect?refusals=1',
      token: operatorToken,
    } satisfies WatchRequest);
    await once(audience, 'message');
    const blank = await viewer.open(group.gateway.url, { signedIn: false }); // the gate, where nothing moves
    const nothing = await draw(blank);
    await blank.context().close();
    const opened = await viewer.open(group.gateway.url);
    await opened.waitForSelector('.row .who');
    await thereAndBack(opened);
    const quiet = await scroll(opened);
    const { lags, frames } = await latency(group, opened);
    const load = drive(group, (2 * scrollFrames) / 60 + 2);
    const busy = await scroll(opened);
    await load;
    const rows = await opened.locator('.row').count();
    const heap = await opened.evaluate<number>(
      'performance.memory ? performance.memory.usedJSHeapSize / 1e6 : 0',
    );
    const figures: Figure[] = [
      {
        name: 'commit to screen, p99',
        value: percentile(lags, 0.99),
        unit: 'ms',
        target: { atMost: 200 },
        note: `${lags.length} events in ${frames} frames of the feed`,
      },
      { name: 'commit to screen, median', value: percentile(lags, 0.5), unit: 'ms' },
      { name: 'scrolling, frames a second', value: quiet, unit: '/s', target: { atLeast: 50 } },
      { name: 'an empty page, frames a second', value: nothing, unit: '/s' },
      { name: 'scrolling while events come in', value: busy, unit: '/s', target: { atLeast: 50 } },
      { name: 'rows in the page', value: rows, unit: 'rows', target: { atMost: 200 } },
      { name: 'memory of the page after scrolling through all actors', value: heap, unit: 'MB' },
    ];
    return figures;
  } finally {
    audience.disconnect();
    await viewer.close();
    await group.close();
  }
}

/** Frames a second of a page in which nothing happens. */
const draw = (page: Page): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    let frame = 0;
    let began;
    const step = (at) => {
      began ??= at;
      if (frame === ${scrollFrames}) return resolve(frame * 1000 / (at - began));
      frame += 1;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`);

/** To the end of the list, until its last row is there, and back. */
async function thereAndBack(opened: Page): Promise<void> {
  await opened.evaluate('document.querySelector(".virtual").scrollTop = 1e9');
  await opened.waitForSelector(`#row-${actors - 1} .who`, { timeout: 120_000 });
  await opened.evaluate('document.querySelector(".virtual").scrollTop = 0');
}

/**
 * Frames a second over a ride from the top to the end, thousands of rows in each frame's leap and a few in
 * every second one.
 */
async function scroll(opened: Page): Promise<number> {
  return opened.evaluate<number>(`new Promise((resolve) => {
    const box = document.querySelector('.virtual');
    const leap = (box.scrollHeight - box.clientHeight) / ${scrollFrames / 2};
    let frame = 0;
    let began;
    const step = (at) => {
      began ??= at;
      if (frame === ${scrollFrames}) return resolve(frame * 1000 / (at - began));
      box.scrollTop += frame % 2 === 0 ? leap : 120;
      frame += 1;
      requestAnimationFrame(step);
    };
    box.scrollTop = 0;
    requestAnimationFrame(step);
  })`);
}

/**
 * For every event: when a frame of the feed that told of it was in the page and drawn, minus when it was
 * committed. Batching is part of it.
 */
async function latency(group: Group, opened: Page): Promise<{ lags: readonly number[]; frames: number }> {
  await opened.evaluate(`(() => {
    window.seen = [];
    let last = 0;
    new MutationObserver(() => {
      const seq = Number(document.querySelector('.activity [data-seq]')?.dataset.seq ?? 0);
      if (seq === last) return;
      last = seq;
      requestAnimationFrame(() => window.seen.push([seq, Date.now()]));
    }).observe(document.querySelector('.activity'), { childList: true, subtree: true });
  })()`);
  const committed = await drive(group, loadedSeconds);
  const seen = await opened.evaluate<[number, number][]>('window.seen');
  const lags: number[] = [];
  let next = 0;
  for (const [seq, since] of [...committed].sort(([a], [b]) => a - b)) {
    while (next < seen.length && (seen[next]?.[0] ?? 0) < seq) next += 1;
    const drawn = seen[next];
    if (drawn !== undefined) lags.push(drawn[1] - since);
  }
  return { lags, frames: seen.length };
}

/** Five hundred events a second, spread over each second; when each was committed, by its log position. */
async function drive({ supervisor }: Group, seconds: number): Promise<ReadonlyMap<number, number>> {
  const committed = new Map<number, number>();
  const began = performance.now();
  let sent = 0;
  const asked: Promise<unknown>[] = [];
  while (sent < seconds * perSecond) {
    const due = Math.min(seconds * perSecond, Math.floor(((performance.now() - began) / 1_000) * perSecond));
    for (; sent < due; sent += 1) {
      asked.push(
        supervisor.ask('counter', `a${(sent * 7) % actors}`, { type: 'add', n: 1 }).then((view) => {
          if ('position' in view) committed.set(view.position, Date.now());
        }),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await Promise.all(asked);
  return committed;
}
