import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineEngine } from '../../actors/engines/engine.js';
import { resumeErasures } from '../../lib/commands/sessions/erase-contents.js';
import { startInstance, type Instance } from '../../lib/instance.js';
import { verifyStore } from '../../lib/store/verify.js';
import { makeClient, poll, type Client } from './gateway/fixture.js';

/** A whole home on a real disk: after the erasure its bytes hold none of the words. */
describe('what sessions hold, erased', () => {
  let folder: string;
  let home: string;
  let instance: Instance | undefined;
  let client: Client;
  let word: string;
  const erasedAtEngine: string[] = [];
  let meanwhile: (nativeId: string) => Promise<void>;
  let release: () => void;
  let held: Promise<void>;
  const scribe = defineEngine({
    name: 'scribe',
    effortMechanism: 'none',
    isInProcess: true,
    discover: async () => ({ available: true, defaultModel: null, models: [] }),
    eraseTranscript: async (nativeId) => {
      erasedAtEngine.push(nativeId);
      await meanwhile(nativeId);
    },
    async turn({ prompt, turnId, env }, io) {
      io.report({ type: 'conversation.named', nativeId: `native-${turnId}` });
      if (prompt.includes('wait')) await held;
      if (prompt === 'send')
        await fetch(`${env['SVC_GATEWAY_URL']}/api/connectors/hook/send`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${env['SVC_GATEWAY_TOKEN']}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify({ channel: 'general', text: word }),
        });
      if (prompt.includes('may I'))
        await io.permission({ tool: 'Bash', title: `echo ${word}`, input: { command: `echo ${word}` } });
      io.report({ type: 'tool.started', toolId: 't', tool: 'Bash', input: `{"command":"echo ${word}"}` });
      io.report({ type: 'tool.finished', toolId: 't', output: `${word} `.repeat(2_000), isError: false });
      return {
        outcome: prompt.includes('fail') ? 'failed' : 'succeeded',
        text: `heard ${word}`,
        error: word,
      };
    },
  });
  const open = async (): Promise<void> => {
    instance = await startInstance({ home, port: 0, engines: [scribe] });
    const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
    client = makeClient(Number(new URL(instance.url).port), { authorization: `Bearer ${token}` });
  };
  const close = async (): Promise<void> => {
    await instance?.close();
    instance = undefined;
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'erase-'));
    home = join(folder, 'home');
    await mkdir(home, { mode: 0o700 });
    await writeFile(join(home, 'config.yaml'), 'agents: {sandbox: off}\n');
    word = `w${randomBytes(12).toString('hex')}`;
    erasedAtEngine.length = 0;
    meanwhile = () => Promise.resolve();
    held = new Promise((resolve) => {
      release = resolve;
    });
  });
  afterEach(async () => {
    release();
    await close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Files below the home that hold the word, as bytes. */
  async function holding(at = home): Promise<readonly string[]> {
    const found = await Promise.all(
      (await readdir(at, { withFileTypes: true })).map(async (entry): Promise<readonly string[]> => {
        const path = join(at, entry.name);
        if (entry.isDirectory()) return holding(path);
        return entry.isFile() && (entry.name.includes(word) || (await readFile(path)).includes(word))
          ? [path]
          : [];
      }),
    );
    return found.flat();
  }
  async function session(prompt: string): Promise<string> {
    const { body } = await client.post('/api/sessions', { prompt, engine: 'scribe', title: `About ${word}` });
    await poll(
      () => client.get(`/api/sessions/${body.id}`),
      (answer) => ['idle', 'error'].includes(answer.body.status),
    );
    return body.id;
  }

  it('are in no byte of the home, the copies say when they go, and the log is verified as before', async () => {
    await open();
    const [one, other] = [await session(`say ${word}`), await session(`fail ${word}`)];
    const content = Buffer.from(`a note of ${word}`).toString('base64');
    await client.post(`/api/sessions/${one}/attachments`, { content, filename: `${word}.txt`, text: word });
    const rules = { mode: 'allow-list', allow: [`Edit(${word}/**)`] };
    const set = await client.call('PUT', `/api/sessions/${one}/permissions`, rules);
    expect(set.status, set.text).to.equal(200);
    expect(await holding(), 'they are there before').to.have.length.greaterThan(2);

    const preview = (await client.get(`/api/erase?sessionId=${one}`)).body;
    expect(preview).to.deep.include({ sessions: [one], skipped: [], logEntries: 0, heldBy: [] });
    expect(preview.messages).to.be.greaterThan(3);
    expect(preview.files).to.equal(2);
    expect((await client.get(`/api/sessions/${one}`)).body.title, 'a preview erases nothing').to.include(
      word,
    );

    const first = (await client.post('/api/erase', { sessionId: one })).body;
    expect(first.logEntries).to.be.greaterThan(3);
    const second = await client.post('/api/erase', {
      before: new Date(Date.now() + 86_400_000).toISOString(),
    });
    expect([second.status, second.body.sessions.length]).to.deep.equal([200, 2]);
    expect(erasedAtEngine).to.have.members([`native-${one}:1`, `native-${other}:1`]);
    const { body } = await client.get(`/api/sessions/${one}`);
    expect(body).to.deep.include({ title: 'Erased session', messages: [], totalTurns: 1 });
    expect((await client.get(`/api/search/messages?q=${word}`)).body.results).to.deep.equal([]);
    const further = await client.post(`/api/sessions/${one}/message`, { message: 'go on' });
    expect(further.status, 'the session goes on').to.be.below(300);
    await poll(
      () => client.get(`/api/sessions/${one}`),
      (answer) => answer.body.status === 'idle' && answer.body.totalTurns === 2,
    );
    await client.post('/api/erase', { sessionId: one });
    await close();
    expect(await holding()).to.deep.equal([]);
    expect((await verifyStore(home)).faults).to.deep.equal([]);
    await open();
    const log = await client.get(`/api/inspect/actors/session/${one}/history`);
    expect(JSON.stringify(log.body)).not.to.include(word);
  });

  // why: a notifier quotes what is asked, and its rows and log kept that when the session was erased
  it('are in no notifier either, which goes on notifying', async () => {
    const program = join(folder, 'notified');
    await writeFile(program, `#!/bin/sh\ncat >> '${folder}/notified.log'\n`, { mode: 0o755 });
    await writeFile(
      join(home, 'config.yaml'),
      `agents: {sandbox: off}\nnotify: {afterSeconds: 0, command: ['${program}']}\n`,
    );
    await open();
    const notified = (count: number) =>
      poll(
        async () => {
          const { body } = await client.get('/api/notifications');
          return body.destinations.find((one: { name: string }) => one.name === 'command');
        },
        (one) => one?.sent === count && one.open === 1,
      );
    const asked = async (): Promise<string> => {
      const { body } = await client.post('/api/sessions', { prompt: `may I ${word}`, engine: 'scribe' });
      return body.id;
    };
    const answered = async (id: string): Promise<void> => {
      const [{ id: permission }] = (await client.get(`/api/sessions/${id}/permissions`)).body;
      await client.post(`/api/sessions/${id}/permissions/${permission}`, { decision: 'deny' });
      await poll(
        () => client.get(`/api/sessions/${id}`),
        ({ body }) => body.status === 'idle',
      );
    };
    const first = await asked();
    await notified(1);
    await answered(first);
    const erased = await client.post('/api/erase', { sessionId: first });
    expect(erased.status, erased.text).to.equal(200);
    const second = await asked();
    await notified(2);
    await answered(second);
    await client.post('/api/erase', { sessionId: second });
    await poll(
      () => client.get('/api/notifications'),
      ({ body }) => body.destinations[0].open === 0 && body.destinations[0].status === 'idle',
    );
    await close();
    expect(await readFile(join(folder, 'notified.log'), 'utf8')).to.include(word);
    expect(await holding()).to.deep.equal([]);
    expect((await verifyStore(home)).faults).to.deep.equal([]);
  });

  // A message that did not arrive waits for a person with its text
  it('are in no message that it could not send, on which no one decides any more', async () => {
    const closed = createServer((_request, response) => void response.writeHead(500).end());
    await once(closed.listen(0, '127.0.0.1'), 'listening');
    const { port } = closed.address() as { port: number };
    const hook = `{ name: hook, type: webhook, url: "http://127.0.0.1:${port}/in", secret: ${'s'.repeat(40)} }`;
    await mkdir(join(home, 'org', 'build'), { recursive: true, mode: 0o700 });
    await writeFile(join(home, 'org/build/ann.yaml'), 'rank: employee\nallowedConnectors: [hook]\n');
    await writeFile(
      join(home, 'config.yaml'),
      'agents: {sandbox: off}\nnotify: {afterSeconds: 0, command: [/bin/true]}\n' +
        `connectors:\n  instances:\n    - ${hook}\n`,
    );
    try {
      await open();
      await poll(
        () => client.get('/api/connectors'),
        ({ body }) => body[0]?.status === 'running',
      );
      const { body } = await client.post('/api/sessions', {
        prompt: 'send',
        engine: 'scribe',
        employee: 'ann',
      });
      const waiting = await poll(
        async () => (await client.get('/api/attention')).body.waiting,
        (things) => things.some(({ what }: { what: string }) => what === 'unknown-delivery'),
      );
      expect(JSON.stringify(waiting)).not.to.include(word);
      await poll(
        () => client.get('/api/notifications'),
        (answer) => answer.body.destinations.some((one: { sent: number }) => one.sent > 0),
      );
      expect(await holding(), 'it is there before').not.to.deep.equal([]);
      await poll(
        () => client.get(`/api/sessions/${body.id}`),
        (answer) => answer.body.status === 'idle',
      );
      expect((await client.post('/api/erase', { sessionId: body.id })).status).to.equal(200);
      expect((await client.get('/api/attention')).body.waiting).to.deep.equal([]);
      await close();
      expect(await holding()).to.deep.equal([]);
    } finally {
      closed.close();
    }
  });

  it('leaves a session at work alone, and says so', async () => {
    await open();
    const refused = [
      await client.post('/api/erase', {}),
      await client.post('/api/erase', { sessionId: 'x', person: 'ann' }),
      await client.post('/api/erase', { sessionId: 'nobody' }),
    ];
    expect(refused.map(({ status }) => status)).to.deep.equal([400, 400, 404]);
  });

  // the console uploads a file before there is a session to keep it for
  it('go with files that were uploaded for no session and shown in one', async () => {
    await open();
    const content = Buffer.from(`a note of ${word}`).toString('base64');
    const shown = (await client.post('/api/files', { content, filename: `${word}.txt` })).body.id;
    const other = (await client.post('/api/files', { content: 'AAAA', filename: 'kept.bin' })).body.id;
    const id = await session(`say ${word}`);
    await client.post(`/api/sessions/${id}/message`, { message: 'look', attachments: [shown] });
    await poll(
      () => client.get(`/api/sessions/${id}`),
      (answer) => answer.body.status === 'idle' && answer.body.totalTurns === 2,
    );
    const { body } = await client.post('/api/erase', { sessionId: id });
    expect(body.files, 'the upload and two outputs of tools').to.equal(3);
    expect((await client.get(`/api/files/${other}`)).status).to.equal(200);
    await close();
    expect(await holding()).to.deep.equal([]);
  });

  // no list shows a deleted session, but the log has its words and its files lie where they lay
  it('are found in deleted sessions by date and by person', async () => {
    await open();
    const id = await session(`say ${word}`);
    await client.call('DELETE', `/api/sessions/${id}`);
    const { body } = await client.post('/api/erase', {
      before: new Date(Date.now() + 86_400_000).toISOString(),
    });
    expect(body.sessions).to.deep.equal([id]);
    await close();
    expect(await holding()).to.deep.equal([]);
  });

  it('stay in a session that begins to work meanwhile, with its conversation, and it says so', async () => {
    await open();
    const ids = [await session(`say ${word}`), await session(`say ${word}`)];
    meanwhile = async (nativeId) => {
      const next = ids.find((id) => nativeId !== `native-${id}:1`);
      await client.post(`/api/sessions/${next}/message`, { message: 'wait' });
      await poll(
        () => client.get(`/api/sessions/${next}`),
        (answer) => answer.body.status === 'running',
      );
    };
    const { body } = await client.post('/api/erase', {
      before: new Date(Date.now() + 86_400_000).toISOString(),
    });
    expect([...body.sessions, ...body.skipped]).to.have.members(ids);
    expect(body.sessions).to.have.length(1);
    expect(erasedAtEngine).to.deep.equal([`native-${body.sessions[0]}:1`]);
  });

  // what was begun in an earlier life was dropped there without a word, and no one was left to ask again
  it('wait for a session that is at work when an erasure is resumed, and say so', async () => {
    await open();
    const id = await session(`say ${word}`);
    const { app } = instance ?? expect.fail();
    await app.supervisor.transact({
      name: 'begun before',
      actors: [],
      run(tx) {
        const held = { id, cwd: '/', engineSessions: {}, messages: 0, files: [], stored: 0 };
        tx.put('erasure/before', { sessions: [held] });
        return null;
      },
    });
    await client.post(`/api/sessions/${id}/message`, { message: `wait for ${word}` });
    const waitedFor: (readonly string[])[] = [];
    let isToldOf: () => void;
    const told = new Promise<void>((resolve) => {
      isToldOf = resolve;
    });
    const resumed = resumeErasures(app, {
      signal: new AbortController().signal,
      onWaiting(ids) {
        waitedFor.push(ids);
        isToldOf();
      },
    });
    await told;
    expect((await app.supervisor.keyValues('erasure/'))[0]?.[1], 'a crash forgets nothing').not.to.equal(
      null,
    );
    release();
    await resumed;
    expect(waitedFor[0]).to.deep.equal([id]);
    expect((await app.supervisor.keyValues('erasure/')).every(([, row]) => row === null)).to.equal(true);
    expect((await client.get(`/api/sessions/${id}`)).body.title).to.equal('Erased session');
    await close();
    expect(await holding()).to.deep.equal([]);
  });

  it('goes on after kill -9 in the middle', async () => {
    await open();
    const id = await session(`say ${word}`);
    await close();
    const program = fileURLToPath(new URL('./erase-killed.js', import.meta.url));
    const child = spawn(process.execPath, [program, home, id], { stdio: 'ignore' });
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect(signal).to.equal('SIGKILL');
    expect(await holding(), 'it was killed before anything was erased').not.to.deep.equal([]);
    await open();
    await poll(
      async () => await instance?.app.supervisor.keyValues('erasure/'),
      (rows) => rows?.every(([, row]) => row === null) === true,
    );
    await close();
    expect(await holding()).to.deep.equal([]);
    expect((await verifyStore(home)).faults).to.deep.equal([]);
    expect((await stat(join(home, 'store-copy'))).isDirectory()).to.equal(true);
  });
});
