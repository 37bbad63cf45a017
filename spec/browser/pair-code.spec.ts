import { expect } from 'chai';
import { Troupe } from '../lib/cli/troupe.js';
import { openBrowser, type Viewer } from './browser.js';

/**
 * The page at `/pair` in a real browser, under its own strict policy: a code that is typed, and one that came
 * by link.
 */
describe('the page that pairs', () => {
  let troupe: Troupe;
  let viewer: Viewer;
  let url: string;
  before(async () => {
    viewer = await openBrowser();
    troupe = await Troupe.create();
    await troupe.start();
    ({ url } = await troupe.announcement());
  });
  after(async () => {
    await viewer.close();
    await troupe.clear();
  });
  const pair = async (): Promise<{ readonly code: string; readonly links: readonly string[] }> =>
    JSON.parse((await troupe.run('pair', '--json', '--home', troupe.home())).out);

  it('takes a code from the link, shows it, and redeems it only when a person says so', async () => {
    const { code, links } = await pair();
    const page = await viewer.open(url, { signedIn: false });
    await page.goto(links[0] ?? '');
    expect(await page.inputValue('input')).to.equal(code);
    expect(page.url(), 'the code is gone from the address').to.equal(`${url}/pair`);
    expect(JSON.parse((await troupe.run('pair', '--json', '--home', troupe.home())).out).code).not.to.equal(
      code,
    );
    await page.click('button');
    await page.waitForURL(`${url}/`);
    await page.waitForSelector('[data-connection=live]', { state: 'attached' });
    expect(await page.evaluate('document.cookie')).to.equal('');
    await page.context().close();
  });

  it('says so when a typed code is wrong, and takes the right one after it, in any case', async () => {
    const { code } = await pair();
    const page = await viewer.open(url, { signedIn: false });
    await page.goto(`${url}/pair`);
    await page.fill('input', 'AAAA-BBBB-CCCC');
    await page.click('button');
    await page.waitForSelector('text=Invalid or expired pairing code.');
    await page.fill('input', code.toLowerCase().replaceAll('-', ''));
    await page.press('input', 'Enter');
    await page.waitForURL(`${url}/`);
    await page.context().close();
  });

  it('breaks no rule of its policy and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
