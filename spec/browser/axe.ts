import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

/**
 * What a checker that others wrote (axe-core) finds wrong with the page as it stands: a line for each element
 * and rule. `rules`: only these; else all of WCAG 2.2 to AA, and what is held to be good besides. What it
 * cannot decide counts too, but for contrast where texts lie over a drawing or scroll beneath something, and
 * for buttons whose text is one sign.
 */
export async function wrongWith(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  source ??= readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  if (await page.evaluate('window.axe === undefined')) await page.evaluate(`${await source}; null`);
  const runOnly = rules === undefined ? { type: 'tag', values: tags } : { type: 'rule', values: rules };
  return page.evaluate(
    `axe.run(document, ${JSON.stringify({ runOnly, resultTypes: ['violations', 'incomplete'] })}).then(({ violations, incomplete }) => [...violations, ...incomplete.filter(({ id }) => !${JSON.stringify(undecided)}.includes(id))].flatMap(${lines}))`,
  );
}

let source: Promise<string> | undefined;
const undecided = ['color-contrast', 'label-content-name-mismatch'];
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const lines =
  '({ id, nodes }) => nodes.map(({ html, any, all, none }) => id + ": " + html.slice(0, 160) + " " + [...any, ...all, ...none].map(({ message }) => message).join("; "))';

/** The rules that a change of colours alone can break. */
export const rulesOfColour: readonly string[] = ['color-contrast', 'link-in-text-block'];
