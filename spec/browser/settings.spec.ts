import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAnnouncement } from '../../lib/home/announce.js';
import { layoutOf } from '../../lib/home/layout.js';
import { startInstance, type Instance } from '../../lib/instance.js';
import { wrongWith } from './axe.js';
import { openBrowser, picture, type Viewer } from './browser.js';

/** Settings of the console over a whole gateway: what could only be done in a terminal. */
describe('the settings in the console', () => {
  let folder: string;
  let instance: Instance;
  let viewer: Viewer;
  let token: string;
  before(async () => {
    viewer = await openBrowser();
    folder = await mkdtemp(join(tmpdir(), 'console-settings-'));
    const layout = layoutOf({ home: join(folder, 'home') });
    await mkdir(layout.home);
    await writeFile(layout.config, `gateway:\n  host: ${configured.host}\n  port: ${configured.port}\n`);
    instance = await startInstance({ layout, host: '127.0.0.1', port: 0 });
    token = String((await readAnnouncement(layout.announcement))?.token);
  });
  after(async () => {
    await viewer.close();
    await instance.close();
    await rm(folder, { recursive: true, force: true });
  });
  const configured = { host: 'localhost', port: 4711 };
  const open = () => viewer.open(instance.url, { path: '/', at: '#/settings', token });

  it('make a backup now, and say why not where it is refused', async () => {
    const page = await open();
    await page.waitForSelector('[aria-labelledby=backups-title] >> text=None are made by schedule');
    const target = join(folder, 'copy');
    await page.fill('[aria-label^="Folder for a backup"]', join(folder, 'home'));
    await page.click('button >> text=Back up now');
    await page.waitForSelector('[data-backup] >> text=/home/');
    await page.fill('[aria-label^="Folder for a backup"]', target);
    await page.click('button >> text=Back up now');
    await page.waitForSelector(`[data-backup] >> text=Backed up to ${target}`);
    expect(existsSync(join(target, 'backup.json'))).to.equal(true);
    await page.context().close();
  });

  it('say which tokens there are, and show none; engines are looked for again', async () => {
    const page = await open();
    await page.waitForSelector('[aria-labelledby=tokens-title] >> text=troupe token rotate');
    expect(await page.innerText('main')).not.to.include(token);
    await page.click('button >> text=Search again');
    await page.waitForSelector('[data-refreshed] >> text=/of \\d+ found/');
    await picture(page, 'console-settings-whole-day');
    expect(await wrongWith(page)).to.deep.equal([]);
    await page.context().close();
  });

  // The port of the file was shown as the one in force where the command line had given another
  it('say what the gateway was told at its start where config.yaml says otherwise', async () => {
    const page = await open();
    const { port } = new URL(instance.url);
    const settings = '[aria-label=Settings]';
    const twist = page.locator(`${settings} .twist`, { hasText: 'gateway' });
    await twist.waitFor();
    if ((await twist.getAttribute('aria-expanded')) === 'false') await twist.click();
    await page.waitForSelector(`${settings} >> text=in force: ${port} (config.yaml says ${configured.port})`);
    await page.waitForSelector(
      `${settings} >> text=in force: 127.0.0.1 (config.yaml says ${configured.host})`,
    );
    await page.context().close();
  });

  it('break no rule of their own policy and throw nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
