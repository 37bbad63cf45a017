import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Troupe } from '../lib/cli/troupe.js';
import { makeClient } from '../lib/gateway/fixture.js';
import { openBrowser, type Viewer } from './browser.js';

/** A program that polls, as the console lets it be approved. */
describe('the approval of a program in the console', () => {
  let troupe: Troupe;
  let viewer: Viewer;
  before(async () => {
    viewer = await openBrowser();
    troupe = await Troupe.create();
    await troupe.start();
  });
  after(async () => {
    await viewer.close();
    await troupe.clear();
  });

  // The decision named no contract: a program that was changed while one read it was approved unread
  it('approves exactly the program that it showed, whole, and no other that took its place', async () => {
    const { url, token, port } = await troupe.announcement();
    const operator = makeClient(port, { authorization: `Bearer ${token}` });
    const post = (path: string, body: object): Promise<unknown> => operator.post(path, body);
    const folder = await mkdtemp(join(tmpdir(), 'poll-'));
    const script = join(folder, 'look.sh');
    await writeFile(script, 'exit 0\n');
    await post('/api/workflow-definitions/mutate', {
      operation: 'create',
      definition: {
        id: 'sort',
        title: 'Sort',
        nodes: [
          { id: 't', type: 'trigger', trigger: { kind: 'manual' } },
          { id: 'a', type: 'step', actor: { kind: 'noop' } },
        ],
        edges: [{ from: 't', to: 'a' }],
      },
    });
    const bind = (last: string): Promise<unknown> =>
      post('/api/workflow-triggers', {
        kind: 'poll',
        name: 'mail',
        event: 'mail',
        targetWorkflowId: 'sort',
        command: ['/bin/sh', script, 'x'.repeat(300), last],
      });
    const activation = async (): Promise<unknown> =>
      (await operator.get('/api/workflow-triggers')).body.triggers[0].activation;
    await bind('--gently');
    // Its list cuts the program and follows every change: who reads it there has not read it
    const list = await viewer.open(url, { token, at: '#/waiting' });
    await list.waitForSelector('[aria-label^="Reject: mail"]');
    expect(await list.locator('[aria-label^="Approve: mail"]').count()).to.equal(0);
    expect(await list.locator('.decide a').getAttribute('href')).to.equal('/#/inbox');
    await list.context().close();
    const page = await viewer.open(url, { path: '/', token, at: '#/inbox' });
    await page.waitForSelector('.subject >> text=--gently');
    // as read, a moment ago: of the next program it sees neither the text nor that it waits
    for (const path of ['**/api/workflow-triggers', '**/api/attention*'])
      await page.route(path, (route) => route.abort());
    await operator.call('DELETE', '/api/workflow-triggers/mail', {});
    await bind('--harshly');
    await page.click('.detail [data-choice=approve]');
    await page.waitForSelector('.notice.bad >> text=has changed since you read it');
    expect(await activation()).to.equal('pending_approval');
    await page.unrouteAll();
    await page.goto('about:blank');
    await page.goto(`${url}/`);
    await page.waitForSelector('.needs .subject >> text=--harshly');
    await page.click('.needs [data-choice=approve]');
    await page.waitForSelector('.needs .subject', { state: 'detached' });
    expect(await activation()).to.equal('active');
    await page.context().close();
    await rm(folder, { recursive: true, force: true });
  });
});
