import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page, Route, WebSocketRoute } from 'playwright-core';
import { defineEngine } from '../../actors/engines/engine.js';
import { readAnnouncement } from '../../lib/home/announce.js';
import { layoutOf } from '../../lib/home/layout.js';
import { startInstance, type Instance } from '../../lib/instance.js';
import { makeClient, poll, type Client } from '../lib/gateway/fixture.js';
import { openBrowser, until, type Viewer } from './browser.js';
import { foundMarkup, hostileWords } from './hostile-words.js';

/** Each view, what names the thing in it, and what is there when it has been read. */
const views: Readonly<Record<string, readonly (readonly [at: string, ready: string])[]>> = {
  '/': [
    ['#/now', '.needs .things'],
    ['#/inbox', '.list .pick'],
    ['#/chat', '.talk.new .composer'],
    ['#/chat/{session}', '.message.assistant'],
    ['#/changes/{worktree}', '[data-file]'],
    ['#/board', '.card'],
    ['#/board?lanes=assignee', '.card'],
    ['#/item/{item}', '.time-line'],
    ['#/cost', '.figures'],
    ['#/cron', '[data-strip]'],
    ['#/connectors', '.connectors h1'],
    ['#/organisation', '[data-employee]'],
    ['#/files', '#files-title'],
    ['#/text/skills/review/SKILL.md', 'main pre, main .prose'],
    ['#/text/knowledge/pond.md', 'main pre, main .prose'],
    ['#/workflows', '[data-workflow]'],
    ['#/workflow/{workflow}', '[data-node]'],
    ['#/workflow-editor/{workflow}', '[data-node]'],
    ['#/settings', '.engine'],
  ],
  '/inspect': [
    ['#/fleet', '.row'],
    ['#/actor/work-item/{item}', '.history li'],
    ['#/actor/session/{session}', '.history li'],
    ['#/time', '.sequence'],
    ['#/supervision', '#tree-title'],
    ['#/waiting', 'main h1'],
    ['#/tree/session/{session}', 'main h1'],
    ['#/runs', '.runs a'],
    ['#/runs/{workflow}/{run}', '[data-node=ask]'],
  ],
};

/** They show nothing that one can write without services that are elsewhere. */
const bare = new Set(['#/settings', '#/connectors', '#/supervision']);

/**
 * What an agent, a file or an outsider wrote is text in every view. It was looked at field by field, so each new field
 * was one that no spec looked at: here every text of every answer is hostile, whether the gateway would take it or not.
 */
describe('hostile words', () => {
  const evil = hostileWords.join('\n\n');
  let viewer: Viewer;
  let home: ReturnType<typeof layoutOf>;
  let projects: string;
  let instance: Instance;
  let operator: Client;
  let token: string;
  const ids = { item: '', session: '', worktree: '', workflow: '', run: '' };

  before(async () => {
    viewer = await openBrowser();
    projects = await mkdtemp(join(tmpdir(), 'hostile-projects-'));
    home = layoutOf({ home: await mkdtemp(join(tmpdir(), 'hostile-')) });
    await writeFiles(home.home, {
      'config.yaml': `engines: {default: tongue}\nagents: {worker: false}\nsessions: {roots: [${projects}]}\n`,
      'org/build/ann.yaml': `rank: executive\nengine: tongue\ndisplayName: ${JSON.stringify(hostileWords[0])}\npersona: Builds.\n`,
      'skills/review/SKILL.md': `---\nname: review\ndescription: ${JSON.stringify(evil)}\n---\n\n${evil}\n`,
      'knowledge/pond.md': `# ${evil}\n`,
    });
    instance = await startInstance({ layout: home, port: 0, engines: [tongue(evil)] });
    token = String((await readAnnouncement(home.announcement))?.token);
    operator = makeClient(Number(new URL(instance.url).port), { authorization: `Bearer ${token}` });
    await fill();
  });
  after(async () => {
    await viewer.close();
    await instance.close();
    for (const folder of [home.home, projects]) await rm(folder, { recursive: true, force: true });
  });

  const open = async (path: string): Promise<Page> => {
    const page = await viewer.open(instance.url, { path, token, at: path === '/' ? '#/more' : '#/fleet' });
    page.on('dialog', (dialog) => {
      struck.push(dialog.message());
      void dialog.dismiss();
    });
    return page;
  };
  const struck: string[] = [];
  /** Everything that opens is opened, then nothing has become anything but text. */
  async function isText(page: Page, place: string, ready: string): Promise<void> {
    const at = place.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof ids) => ids[name]);
    await viewer.go(page, at);
    await page.waitForSelector(ready, { state: 'attached' });
    await until(page, seen);
    await page.evaluate(openAll);
    expect(await page.evaluate(foundMarkup)).to.deep.equal([]);
    expect(await page.evaluate('window.struck ?? null')).to.equal(null);
    expect(struck).to.deep.equal([]);
    // what the policy forbade has been tried
    expect(viewer.complaints).to.deep.equal([]);
  }

  for (const [path, places] of Object.entries(views)) {
    describe(`that were written over the API and into the files of the home, at ${path}`, () => {
      let page: Page;
      before(async () => (page = await open(path)));
      after(() => page.context().close());
      for (const [place, ready] of places)
        if (!bare.has(place)) it(`are text in ${place}`, () => isText(page, place, ready));
    });
    describe(`that stand in every field of every answer, taken by the gateway or not, at ${path}`, () => {
      let page: Page;
      before(async () => {
        page = await open(path);
        await page.route('**/api/**', (route) => spoil(route, evil));
        await page.routeWebSocket(/\/ws(?:\/|\?|$)/, (socket) => spoilFrames(socket, evil));
        await page.reload();
        await page.waitForSelector('[data-connection=live]', { state: 'attached' });
      });
      after(() => page.context().close());
      for (const [place, ready] of places) it(`are text in ${place}`, () => isText(page, place, ready));

      // What is said while it happens comes over the socket alone, and stands in no answer
      it('are text in what comes while one looks', async () => {
        const before = framesSpoiled;
        await viewer.go(page, path === '/' ? `#/chat/${ids.session}` : `#/actor/session/${ids.session}`);
        await page.waitForSelector(path === '/' ? '.message.assistant' : '.history li');
        await operator.post(`/api/sessions/${ids.session}/message`, { message: evil });
        await poll(
          () => operator.get(`/api/sessions/${ids.session}`),
          ({ body }) => body.status === 'idle',
        );
        await post('/api/sessions', { prompt: 'fail', title: evil.replaceAll(/\s+/g, ' ').slice(0, 200) });
        await until(page, seen);
        for (const [place, ready] of places.slice(0, 3)) await isText(page, place, ready);
        expect(framesSpoiled).to.be.greaterThan(before);
      });
    });
  }

  const post = async (path: string, body: object = {}): Promise<any> => {
    const { status, body: answer, text } = await operator.post(path, body);
    expect(status, `${path}: ${text}`).to.be.within(200, 299);
    return answer;
  };
  async function fill(): Promise<void> {
    const line = evil.replaceAll(/\s+/g, ' ').slice(0, 200);
    ids.item = (await post('/api/work-items', { title: line, body: evil })).workItem.id;
    await post(`/api/work-items/${ids.item}/comments`, { text: evil });
    await post(`/api/work-items/${ids.item}/status`, { status: 'blocked', note: evil });
    await post(`/api/work-items/${ids.item}/approval/request`, { request: evil });
    ids.session = (await post('/api/sessions', { prompt: evil, title: line, employee: 'ann' })).id;
    await poll(
      () => operator.get(`/api/sessions/${ids.session}`),
      ({ body }) => body.status === 'idle',
    );
    const asking = (await post('/api/sessions', { prompt: 'ask', title: line })).id as string;
    await poll(
      () => operator.get('/api/attention'),
      ({ body }) => body.waiting.some(({ id }: { id: string }) => id === asking),
    );
    ids.worktree = await changed(post, line);
    const made = await post('/api/workflow-definitions', definition(evil, line));
    ids.workflow = made.id;
    ids.run = (await post(`/api/workflow-definitions/${made.id}/run`, { input: { evil } })).runId;
    await post('/api/cron', { name: line, prompt: evil, schedule: '0 7 * * 1' });
    await post('/api/files', { filename: names[0], content: Buffer.from(evil).toString('base64') });
  }

  /** Names of files, what is in them, and the words of a commit. */
  async function changed(post: (path: string, body: object) => Promise<any>, line: string): Promise<string> {
    const project = join(projects, 'project');
    const git = (folder: string, ...args: string[]): string =>
      execFileSync('git', ['-C', folder, '-c', 'user.name=<b>x</b>', '-c', 'user.email=x@x', ...args], {
        encoding: 'utf8',
      });
    await writeFiles(project, { 'a.txt': 'one\n' });
    git(project, 'init', '-q', '-b', 'main');
    git(project, 'add', '.');
    git(project, 'commit', '-qm', 'one');
    const { id, cwd } = await post('/api/sessions', {
      prompt: evil,
      title: line,
      cwd: project,
      worktree: true,
    });
    await poll(
      () => operator.get(`/api/sessions/${id}`),
      ({ body }) => body.status === 'idle',
    );
    await writeFiles(cwd, Object.fromEntries(names.map((name) => [name, evil])));
    await writeFiles(cwd, { 'a.txt': `${evil}\n` });
    await writeFiles(project, { 'a.txt': `other ${evil}\n` });
    for (const folder of [cwd, project]) {
      git(folder, 'add', 'a.txt');
      git(folder, 'commit', '-qm', evil);
    }
    return id as string;
  }
});

const names = hostileWords.map((word) => word.replaceAll(/[/\0\n]/g, '|'));

/** Shown as text, in a field, or in the words for those who do not see. */
const seen = `[document.title, document.body.innerText, ...[...document.querySelectorAll('*')].flatMap((one) =>
  [one.value, one.textContent, ...one.getAttributeNames().map((name) => one.getAttribute(name))])].some((text) => String(text).includes('struck=1'))`;

const openAll = `(async () => {
  for (let round = 0; round < 2; round += 1) {
    for (const one of document.querySelectorAll('main details:not([open]) > summary, main [aria-expanded=false]')) one.click();
    for (let frames = 0; frames < 10; frames += 1) await new Promise(requestAnimationFrame);
  }
})()`;

/** Every text of an answer with the hostile words before it, but those that name a thing or a state of one. */
async function spoil(route: Route, evil: string): Promise<void> {
  const response = await route.fetch().catch(() => undefined);
  if (response === undefined) return route.abort().catch(() => undefined);
  const path = new URL(route.request().url()).pathname;
  if (!(response.headers()['content-type'] ?? '').startsWith('application/json'))
    return route.fulfill({ response });
  return route.fulfill({ response, json: spoiled(evil, elsewhere(path) ?? (await response.json())) });
}

/** Both ways are open, and what the gateway says comes spoiled. */
function spoilFrames(socket: WebSocketRoute, evil: string): void {
  const gateway = socket.connectToServer();
  socket.onMessage((message) => gateway.send(message));
  gateway.onMessage((message) => {
    framesSpoiled += 1;
    socket.send(JSON.stringify(spoiled(evil, JSON.parse(String(message)))));
  });
}
let framesSpoiled = 0;

function spoiled(evil: string, value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => spoiled(evil, one, name));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, spoiled(evil, one, key)]));
  return typeof value === 'string' && !isName.test(name) && !/^\d{4}-\d\d-\d\dT/.test(value)
    ? `${evil}\n\n${value}`
    : value;
}

/** What only a connector with a service behind it has to say. */
function elsewhere(path: string): unknown {
  if (path === '/api/connectors') return [{ name: 'slack', status: 'error', employee: null, detail: 'No.' }];
  if (!/^\/api\/connectors\/.*\/deliveries$/.test(path)) return undefined;
  const at = new Date().toISOString();
  const times = { requestedAt: at, settledAt: at };
  const words = { channel: '#a', thread: 'b', reason: 'c', messageId: '17', requestedBy: 'cron', text: 'd' };
  return { deliveries: [{ id: 'd1', status: 'failed', ...words, ...times }] };
}

const isName =
  /^(?:\w*[iI]d|\w*[uU]rl|href|kind|status|state|value|event|type|role|rank|change|mode|key|schedule|cursor|nextCursor|version|from|to|operation|sorted|files|ok)$/;

/** Says what it was asked, uses tools with such names, and asks before it goes on where it is told to. */
const tongue = (evil: string) =>
  defineEngine({
    name: 'tongue',
    effortMechanism: 'none',
    discover: async () => ({ available: true, defaultModel: null, models: [] }),
    isInProcess: true,
    async turn({ prompt }, io) {
      io.report({ type: 'thinking', text: evil });
      io.report({ type: 'notice', text: evil });
      const tool = evil.slice(0, 60);
      for (const input of [
        evil,
        JSON.stringify({ command: evil, old_string: evil, new_string: `${evil}!` }),
      ]) {
        io.report({ type: 'tool.started', toolId: input.slice(0, 9), tool, title: evil, input });
        io.report({ type: 'tool.finished', toolId: input.slice(0, 9), output: evil, isError: true });
      }
      io.report({ type: 'file.changed', path: evil, change: 'changed', diff: evil });
      if (prompt === 'ask') await io.permission({ tool, title: evil, input: { command: evil } });
      return { outcome: 'succeeded', text: prompt, usage: { inputTokens: 9, costUsd: 2 } };
    },
  });

const definition = (evil: string, line: string): object => ({
  title: line,
  description: evil,
  nodes: [
    { id: 'draft', type: 'step', label: line, actor: { kind: 'employee', ref: 'ann' }, instructions: evil },
    {
      id: 'ask',
      type: 'gate',
      label: line,
      gate: { kind: 'approval', approvalRef: 'go', description: evil },
    },
  ],
  edges: [{ id: 'e', from: 'draft', to: 'ask', label: line }],
});

async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}
