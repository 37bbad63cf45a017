import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { root } from '../house/sources.js';
import { operatorToken } from '../lib/gateway/fixture.js';
import { buildPages } from '../../lib/build-pages.js';
import { launch } from './launch.js';

/** A real browser that came from the registry of packages, and the page as a person opens it. */
export interface Viewer {
  /** The page at `/inspect` or `path`, with the operator's token given. `at`: `#/actor/session/s1`; default the fleet. */
  open(url: string, options?: Opening): Promise<Page>;
  /** Another place in the same page, which one then looks at. */
  go(page: Page, at: string): Promise<void>;
  /** What went wrong in any page so far: errors, what the policy forbade, failed loads. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

export interface Opening extends BrowserContextOptions {
  readonly at?: string;
  readonly path?: string;
  readonly token?: string;
  readonly signedIn?: boolean;
}

let built: Promise<void> | undefined;

export async function openBrowser(): Promise<Viewer> {
  await (built ??= buildPages());
  const browser = await launch();
  const complaints: string[] = [];
  return {
    complaints,
    async open(url, { at, path = '/inspect', token = operatorToken, signedIn = true, ...options } = {}) {
      const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, ...options });
      context.setDefaultTimeout(60_000);
      const page = await context.newPage();
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error' && !expected.test(message.text())) complaints.push(message.text());
      });
      await page.goto(`${url}${path}${at ?? (path === '/inspect' ? '#/fleet' : '')}`);
      if (!signedIn) return page;
      await page.fill('#token', token);
      await page.press('#token', 'Enter');
      await page.waitForSelector('[data-connection=live]', { state: 'attached' });
      return page;
    },
    async go(page, at) {
      await page.bringToFront(); // where several are open, only what one looks at is surely drawn
      await page.evaluate(`location.hash = ${JSON.stringify(at)}`);
    },
    close: () => browser.close(),
  };
}

/**
 * Browsers complain of every answer that is no success, and of a gateway that is gone: both are part of the
 * story.
 */
const expected = /Failed to load resource|WebSocket connection to|ERR_CONNECTION_REFUSED/;

/**
 * Wait for an expression to hold in the page, a frame of the screen at a time. The page's own policy forbids
 * what the driver would do for that. A page that is not drawn has no frames: that is said, rather than waited for.
 */
export async function until(page: Page, expression: string, framesMax = 6_000): Promise<void> {
  let undrawn = 0;
  for (let frames = 0; frames < framesMax; frames += 1) {
    const seen = await page.evaluate<'holds' | 'not' | 'undrawn'>(
      `new Promise((resolve) => {
        const look = (otherwise) => resolve(Boolean(${expression}) ? 'holds' : otherwise);
        const late = setTimeout(() => (cancelAnimationFrame(frame), look('undrawn')), ${frameMs});
        const frame = requestAnimationFrame(() => (clearTimeout(late), look('not')));
      })`,
    );
    if (seen === 'holds') return;
    undrawn = seen === 'undrawn' ? undrawn + 1 : 0;
    if (undrawn === undrawnMax) break;
  }
  const state = undrawn > 0 ? await page.evaluate<string>('document.visibilityState') : '';
  throw new Error(
    `never held: ${expression}${undrawn > 0 ? `; the page (${state}) had no frame for ${undrawn} s` : ''}. ${await whatIsShown(page)}`,
  );
}

const frameMs = 1_000;
const undrawnMax = 60;

/** Wait for a selector, and say what the page shows instead where it never comes. */
export async function shown(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(selector).catch(async (error: unknown) => {
    throw new Error(`${selector} did not come. ${await whatIsShown(page)}`, { cause: error });
  });
}

async function whatIsShown(page: Page): Promise<string> {
  const text = await page.innerText('main').catch(String);
  const focus = await page.evaluate<string>('document.activeElement?.outerHTML.slice(0, 300)').catch(String);
  return `The focus is at ${focus}. The page shows:\n${text.slice(0, 4_000)}`;
}

/** A picture for people to look at, in a folder that git does not know. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = join(root, 'pictures');
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
