import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { until } from './browser.js';

/** At which a chart is looked at. */
export const sizes = {
  desk: { viewport: { width: 1440, height: 900 } },
  tablet: { viewport: { width: 1024, height: 768 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
} as const;

/** Is the title of this state in the box, in a size that can be read? `within`: `dialog `, where there are two. */
export const isSeen = (path: string, within = ''): string => `(() => {
  const box = document.querySelector('${within}.chart-box')?.getBoundingClientRect();
  const title = document.querySelector('${within}[data-state="${path}"].lit > .title')?.getBoundingClientRect();
  return box !== undefined && title !== undefined && title.height > 8 && title.left >= box.left && title.right <= box.right &&
    title.top >= box.top && title.bottom <= box.bottom;
})()`;

/** Of the chart in view: each region seen or named, each arrow at the state that it is for, nothing wider than the window. */
export async function checkChart(page: Page, name: string): Promise<void> {
  const active = await page.evaluate<string[]>(
    `[...document.querySelectorAll('.node.lit')].map((one) => one.dataset.state)`,
  );
  const inner = active.filter((path) => !active.some((other) => other.startsWith(`${path}.`)));
  expect(inner.length, name).to.be.at.least(1);
  for (const path of inner)
    await until(
      page,
      `${isSeen(path)} || [...document.querySelectorAll('.out-of-view button')].some((one) => one.textContent.endsWith(' ${path}'))`,
    );
  expect(await page.evaluate(strayEnds), name).to.deep.equal([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), name).to.equal(0);
}

/** Arrows that end anywhere but at the border of the state that they say they lead to. */
const strayEnds = `[...document.querySelectorAll('.chart .arrow')].flatMap((arrow) => {
  const { x, y } = arrow.getPointAtLength(arrow.getTotalLength());
  const target = [...document.querySelectorAll('.node[data-state]')].find((one) => one.dataset.state === arrow.dataset.to);
  const box = target.querySelector('rect');
  const [left, top, width, height] = ['x', 'y', 'width', 'height'].map((name) => Number(box.getAttribute(name)));
  const near = (at, border) => Math.abs(at - border) < 3;
  const isAt = x > left - 3 && x < left + width + 3 && y > top - 3 && y < top + height + 3 &&
    (near(x, left) || near(x, left + width) || near(y, top) || near(y, top + height));
  return isAt ? [] : [arrow.dataset.from + ' → ' + arrow.dataset.to];
})`;
