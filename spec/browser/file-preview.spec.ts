import { expect } from 'chai';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { wrongWith } from './axe.js';
import { openBrowser, picture, until, type Viewer } from './browser.js';

/** Files in the console: found by name, and looked at before they are saved. */
describe('files in the console', () => {
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

  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC',
    'base64',
  );
  const hostile = '# Fish\n\n<img src=x onerror="window.hit=1"> **two**\n';
  const files = [
    { id: 'f1', filename: 'pond.png', type: 'image/png', body: png },
    { id: 'f2', filename: 'fish.md', type: 'text/markdown', body: hostile },
    { id: 'f3', filename: 'fish.csv', type: 'text/csv', body: 'name,age\nkoi,3\n' },
    { id: 'f4', filename: 'fish.zip', type: 'application/zip', body: Buffer.from([80, 75, 0, 255]) },
    { id: 'f5', filename: 'drawing.svg', type: 'image/svg+xml', body: '<svg onload="window.hit=1"/>' },
  ];

  // They could only be saved
  it('are shown as what they are: a picture, Markdown, a text; never as a page', async () => {
    const page = await viewer.open(house.gateway.url, { path: '/' });
    const createdAt = new Date().toISOString();
    await page.route('**/api/files', (route) =>
      route.fulfill({ json: files.map(({ id, filename }) => ({ id, filename, size: 9, createdAt })) }),
    );
    for (const { id, type, body } of files)
      await page.route(`**/api/files/${id}`, (route) => route.fulfill({ contentType: type, body }));
    await viewer.go(page, '#/files');
    await page.click('[aria-label="Show pond.png"]');
    await until(page, 'document.querySelector("[data-preview] img")?.naturalWidth === 10');
    await page.fill('[aria-label="Find a file"]', 'FISH');
    await page.waitForSelector('[aria-label="Show pond.png"]', { state: 'detached' });
    await page.click('[aria-label="Show fish.md"]');
    await page.waitForSelector('[data-preview] strong >> text=two');
    await picture(page, 'console-file-preview-day');
    expect(await wrongWith(page)).to.deep.equal([]);
    await page.click('[aria-label="Show fish.csv"]');
    await page.waitForSelector('[data-preview] pre >> text=koi,3');
    await page.click('[aria-label="Show fish.zip"]');
    await page.waitForSelector('[data-preview] >> text=It is neither a picture nor a text.');
    await page.fill('[aria-label="Find a file"]', 'drawing');
    await page.click('[aria-label="Show drawing.svg"]');
    await page.waitForSelector('[data-preview] pre >> text=<svg onload');
    await page.click('[data-preview] >> text=Close');
    await page.waitForSelector('[data-preview]', { state: 'detached' });
    expect(await page.evaluate('window.hit')).to.equal(undefined);
    await page.context().close();
  });

  it('break no rule of its own policy and throw nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
