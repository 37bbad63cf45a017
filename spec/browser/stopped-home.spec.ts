import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { Troupe } from '../lib/cli/troupe.js';
import { wrongWith } from './axe.js';
import { openBrowser, picture, type Viewer } from './browser.js';

/** What every file of a home holds. */
async function contentsOf(home: string): Promise<Readonly<Record<string, string>>> {
  const names = await readdir(home, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const hashed = files.map(async (path) => [
    path,
    createHash('sha256')
      .update(await readFile(path))
      .digest('hex') + String((await stat(path)).mtimeMs),
  ]);
  return Object.fromEntries(await Promise.all(hashed)) as Record<string, string>;
}

/** The status of a request that names another host than the page's. */
const statusAs = (url: string, headers: Record<string, string>): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });

/** `troupe inspect --home`: the page on a home that no gateway runs. */
describe('the inspector on a stopped home', function () {
  this.timeout(180_000);
  let troupe: Troupe;
  let viewer: Viewer;
  before(async () => {
    viewer = await openBrowser();
    troupe = await Troupe.create();
  });
  after(async () => {
    await viewer.close();
    await troupe.clear();
  });

  it('shows what was left by a gateway that died, lets no one act, and leaves every file as it was', async () => {
    const home = troupe.home();
    const gateway = await troupe.start();
    expect((await troupe.run('run', 'add "water the plants"', '--home', home)).code).to.equal(0);
    const held = await troupe.run('inspect', '--home', home);
    expect(held.code).to.equal(4);
    expect(held.err).to.match(/A gateway runs at .*Its inspector is live: troupe open --home/);
    await gateway.kill('SIGKILL');

    const before = await contentsOf(home);
    const command = troupe.begin({ TMPDIR: troupe.folder }, 'inspect', '--home', home);
    await command.seen(/key=\S+\n/);
    const link = command.out.trim();
    const { origin } = new URL(link);
    expect((await fetch(`${origin}/inspect/api/inspect/fleet`)).status).to.equal(401);
    expect((await fetch(`${origin}/open?key=wrong`)).status).to.equal(403);
    // as many characters as the key has, and more bytes: to compare them threw, and ended the command
    const { length } = new URL(link).searchParams.get('key') ?? '';
    expect((await fetch(`${origin}/open?key=${encodeURIComponent('é'.repeat(length))}`)).status).to.equal(
      403,
    );
    expect(await statusAs(link, { host: 'rebound.example' }), 'a name that leads here').to.equal(421);
    const page = await viewer.open(link, { path: '', signedIn: false });
    await page.waitForSelector('[data-connection=live]', { state: 'attached' });
    expect((await fetch(link)).status, 'it lets in one').to.equal(403);

    await page.waitForSelector('.banner >> text=its gateway is stopped');
    // The feed of the page is open; of the home, which nothing moves any more, it said "Live"
    expect(await page.innerText('[data-connection]')).to.equal('Stopped, read only');
    await viewer.go(page, '#/actor/work-item/TRP-1');
    await page.waitForSelector('h1 >> text=water the plants');
    await page.waitForSelector('.moves li');
    expect(await page.locator('text=Nothing can be sent from here').count()).to.equal(1);
    expect(await page.locator('.moves button').count()).to.equal(0);
    expect(await wrongWith(page), 'by day').to.deep.equal([]);
    await picture(page, 'stopped-home');
    const sent = await page.evaluate(
      `fetch('/inspect/api/inspect/actors/work-item/TRP-1/send', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"event":{"type":"x"}}' }).then((answer) => answer.text().then((text) => answer.status + text))`,
    );
    expect(sent).to.match(/^403.*its gateway is stopped/);
    for (const [at, text] of [
      ['#/fleet', 'TRP-1'],
      ['#/waiting', 'Waiting'],
      ['#/time', 'Time'],
      ['#/supervision', 'work-item'],
      ['#/tree', 'work-item'],
      ['#/runs', 'No workflow has run yet'],
    ] as const) {
      await viewer.go(page, at);
      await page.waitForSelector(`main >> text=${text}`);
    }
    expect(viewer.complaints).to.deep.equal([]);
    await page.context().close();
    // The terminal is closed: a copy of the whole store was left in the temporary folder
    expect((await command.kill('SIGHUP')).code).to.equal(0);
    expect((await readdir(troupe.folder)).filter((name) => name.startsWith('troupe-inspect-'))).to.deep.equal(
      [],
    );
    expect(await contentsOf(home)).to.deep.equal(before);
  });
});
