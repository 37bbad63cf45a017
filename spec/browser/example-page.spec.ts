import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { root } from '../house/sources.js';
import { launch } from './launch.js';

/** `examples/browser-page.ts` as its reader would try it: a page on `troupe/client` in a paired browser. */
describe('the example of a page', () => {
  let folder: string;
  let browser: Browser;
  let example: ChildProcess;
  let page: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'troupe-page-'));
    browser = await launch();
    example = node('dist/examples/browser-page.js', join(folder, 'home'));
    page = await firstLine(example);
  });
  after(async () => {
    const ended = once(example, 'exit');
    example.kill('SIGTERM');
    await ended;
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  });

  const node = (file: string, ...words: string[]): ChildProcess =>
    spawn(process.execPath, [join(root, file), ...words], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env['PATH'], HOME: folder },
    });
  async function firstLine({ stdout }: ChildProcess): Promise<string> {
    if (stdout === null) throw new Error('no output');
    for await (const line of createInterface({ input: stdout })) return line;
    throw new Error('it ended and said nothing');
  }

  it('gives a task and streams the answer, with the cookies of the pairing alone', async () => {
    const complaints: string[] = [];
    const tab = await browser.newPage();
    tab.on('pageerror', (error) => complaints.push(String(error)));
    const opener = node('dist/command/troupe.js', 'open', '--print', '--home', join(folder, 'home'));
    await tab.goto(await firstLine(opener));
    await tab.waitForURL(({ pathname }) => pathname === '/'); // paired, and led to the console
    await tab.goto(page);
    await tab.fill('input[name=task]', 'add "buy milk"');
    await tab.click('button');
    await tab.waitForSelector('output[data-status=idle]', { state: 'attached' });
    expect(await tab.textContent('output')).to.include('Added TRP-1: buy milk.');
    expect(complaints).to.deep.equal([]);
  });
});
