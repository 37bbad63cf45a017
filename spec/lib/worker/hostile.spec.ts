import { expect } from 'chai';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import type { TurnEvent } from '../../../actors/engines/turn-events.js';
import { defineEngine } from '../../../actors/engines/engine.js';
import { startInstance, type Instance } from '../../../lib/instance.js';
import { RemoteWorker } from '../../../lib/worker/remote-worker.js';
import type { ToWorker } from '../../../lib/worker/wire.js';
import { version } from '../../../lib/version.js';
import { makeClient, type Client } from '../gateway/fixture.js';

/**
 * A worker that is not what it seems: it knows its token, and says what it likes. What it says of turns that it was
 * not given is not heard; what is no frame ends its connection; the gateway and all others go on.
 */
describe('a hostile worker', () => {
  let home: string;
  let instance: Instance;
  let client: Client;
  let port: number;
  const tokens = new Map<string, string>();
  const open: Thief[] = [];

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'hostile-worker-'));
    const talk = defineEngine({
      name: 'talk',
      effortMechanism: 'none',
      discover: async () => ({ available: true, defaultModel: null, models: [] }),
      turn: () => Promise.reject(new Error('It was run here.')),
    });
    instance = await startInstance({ home: join(home, 'home'), port: 0, engines: [talk] });
    port = Number(new URL(instance.url).port);
    const { token } = JSON.parse(await readFile(join(home, 'home', 'gateway.json'), 'utf8')) as {
      token: string;
    };
    client = makeClient(port, { authorization: `Bearer ${token}` });
    for (const name of ['thief', 'other', 'busy', 'deaf', 'rude', 'eager']) {
      const { code } = (await client.post('/api/workers', { name })).body;
      const joined = await makeClient(port, {}).post('/api/workers/join', { name, code });
      tokens.set(name, joined.body.token);
    }
  });
  afterEach(() => {
    for (const { socket } of open.splice(0)) socket.terminate();
  });
  after(async () => {
    await instance.close();
    await rm(home, { recursive: true, force: true });
  });

  interface Thief {
    readonly socket: WebSocket;
    say(frame: object): void;
    until(type: string): Promise<Record<string, unknown>>;
    readonly gone: Promise<number>;
  }
  const offer = { machine: 'm', slots: 8, labels: ['gpu'], engines: ['talk'], roots: ['/'], work: '/tmp' };
  const ready = { type: 'ready', pid: 1, startedAt: 1, running: 0, offer };

  async function dial(name: string, hello: object | null = ready): Promise<Thief> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws/worker`, {
      headers: { authorization: `Bearer ${tokens.get(name)}` },
    });
    const heard: Record<string, unknown>[] = [];
    let next: (() => void) | undefined;
    socket.on('message', (data) => {
      heard.push(JSON.parse(String(data)) as Record<string, unknown>);
      next?.();
    });
    socket.on('error', () => undefined);
    const gone = new Promise<number>((resolve) => socket.on('close', (code) => resolve(code)));
    await once(socket, 'open');
    const thief: Thief = {
      socket,
      gone,
      say: (frame) => socket.send(JSON.stringify(frame)),
      async until(type) {
        for (;;) {
          const frame = heard.shift();
          if (frame === undefined) await new Promise<void>((resolve) => (next = resolve));
          else if (frame['type'] === type) return frame;
        }
      },
    };
    open.push(thief);
    if (hello === null) return thief;
    thief.say(hello);
    await thief.until('hello');
    return thief;
  }
  const session = async (id: string) => (await client.get(`/api/sessions/${id}`)).body;
  async function done(id: string) {
    for (;;) {
      const found = await session(id);
      if (found.status !== 'running') return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  /** It is given a turn, and its engine begins. */
  async function given(thief: Thief, worker: string, cwd = '/srv') {
    const made = await client.post('/api/sessions', {
      prompt: 'Secret plans',
      engine: 'talk',
      worker,
      cwd,
    });
    expect(made.status, made.text).to.equal(201);
    const prepare = await thief.until('prepare');
    const turnId = String(prepare['turnId']);
    const sandbox = { level: 'off', asked: 'off', reason: null };
    thief.say({ type: 'prepared', turnId, cwd: '/srv', sandbox, notices: [] });
    const begin = await thief.until('begin');
    thief.say({ type: 'attached', turnId, isHere: true });
    return {
      id: made.body.id as string,
      turnId,
      begin,
      event: (event: object) => ({ type: 'event', turnId, event }),
    };
  }
  const end = (seq: number, text = 'fine') => ({
    seq,
    type: 'turn.ended',
    result: { outcome: 'succeeded', text },
  });

  // a gateway that was frozen while another one took its home over ended the turns of that one when it woke
  it('is told nothing by a gateway that may have lost its home, and comes again', async () => {
    const thief = await dial('busy');
    const { id, event } = await given(thief, 'busy');
    const remote = instance.app.workers?.remote;
    if (remote === undefined) throw new Error('there are workers');
    const { mayCommand } = remote;
    Object.assign(remote, { mayCommand: () => false });
    const stopping = client.post(`/api/sessions/${id}/stop`);
    expect(await thief.gone).to.equal(1012);
    Object.assign(remote, { mayCommand });
    const again = await dial('busy');
    const { turnId } = await again.until('attach');
    again.say({ type: 'attached', turnId, isHere: true });
    again.say(event(end(1)));
    expect((await stopping).status).to.equal(200);
  });

  it('is let in by its own token alone, and by no browser', async () => {
    const answers = async (headers: Record<string, string>) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/ws/worker`, { headers });
      socket.on('error', () => undefined);
      const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
      return response.statusCode;
    };
    const token = tokens.get('thief') ?? '';
    const flipped = token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A');
    expect(await answers({})).to.equal(401);
    expect(await answers({ authorization: `Bearer ${flipped}` })).to.equal(401);
    expect(await answers({ authorization: `Bearer ${token.replace('thief', 'other')}` })).to.equal(401);
    expect(await answers({ authorization: `Bearer ${token}`, origin: 'https://evil.example' })).to.equal(403);
    expect(await answers({ authorization: `Bearer ${token}`, origin: instance.url })).to.equal(403);
    const watcher = new WebSocket(`ws://127.0.0.1:${port}/ws`, {
      headers: { authorization: `Bearer ${token}` },
    });
    watcher.on('error', () => undefined);
    const [, refused] = (await once(watcher, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(refused.statusCode).to.equal(401);
  });

  it('gets no key but that of the session whose turn it is', async () => {
    const thief = await dial('thief');
    const { id, begin, event } = await given(thief, 'thief');
    const { env } = begin['request'] as { env: Record<string, string> };
    expect(Object.keys(env).sort()).to.deep.equal([
      'SVC_GATEWAY_TOKEN',
      'SVC_GATEWAY_URL',
      'SVC_SESSION_CAPABILITY',
      'SVC_SESSION_ID',
    ]);
    const agent = makeClient(port, { authorization: `Bearer ${env['SVC_GATEWAY_TOKEN']}` });
    expect((await agent.get(`/api/sessions/${id}`)).status).to.equal(200);
    expect((await agent.get('/api/workers')).status).to.equal(403);
    const child = await agent.post('/api/sessions', {
      prompt: 'x',
      engine: 'talk',
      worker: 'other',
      cwd: '/srv',
    });
    expect([child.status, child.body.error]).to.deep.equal([403, 'Only people may choose a worker.']);
    thief.say(event(end(1)));
    expect((await done(id)).status).to.equal('idle');
    expect((await agent.get(`/api/sessions/${id}`)).status, 'after its turn').to.equal(401);
  });

  // the gateway read its own folder of that name for it, and with its own hands where no sandbox is
  it('is given no file of the gateway for the folder of its session', async () => {
    const thief = await dial('thief');
    const folder = join(home, 'private');
    await mkdir(folder);
    await writeFile(join(folder, 'key.txt'), 'a key');
    const { id, begin, event } = await given(thief, 'thief', folder);
    const { env } = begin['request'] as { env: Record<string, string> };
    const agent = makeClient(port, { authorization: `Bearer ${env['SVC_GATEWAY_TOKEN']}` });
    for (const path of ['key.txt', join(folder, 'key.txt')]) {
      const { status, text } = await agent.post(`/api/sessions/${id}/attachments`, { path });
      expect([status, text.includes('is on another machine')], text).to.deep.equal([400, true]);
      expect(
        (await client.post(`/api/sessions/${id}/attachments`, { path })).status,
        'nor a person',
      ).to.equal(403);
    }
    const content = Buffer.from('mine').toString('base64');
    const sent = await agent.post(`/api/sessions/${id}/attachments`, { content, filename: 'mine.txt' });
    expect(sent.status, sent.text).to.be.within(200, 201);
    thief.say(event(end(1)));
    await done(id);
  });

  // they were looked for on the gateway's machine, where the agent's folder is not
  it('runs what its agents open, in folders of its machine, where it has the engine', async () => {
    const busy = await dial('busy');
    const { id, begin, event } = await given(busy, 'busy');
    const { env } = begin['request'] as { env: Record<string, string> };
    const agent = makeClient(port, { authorization: `Bearer ${env['SVC_GATEWAY_TOKEN']}` });
    const child = await agent.post('/api/sessions', { prompt: 'x', engine: 'talk', cwd: '/srv/part' });
    expect([child.status, child.body.worker], child.text).to.deep.equal([201, 'busy']);
    expect(await busy.until('prepare')).to.include({ sessionId: child.body.id, cwd: '/srv/part' });
    const task = { task: 'y', engine: 'talk', cwd: '/srv/other' };
    const { sessionId } = (await agent.post('/api/delegations', task)).body;
    expect(await busy.until('prepare')).to.include({ sessionId, cwd: '/srv/other' });
    const lacking = await agent.post('/api/sessions', { prompt: 'x', engine: 'clerk', cwd: '/srv/part' });
    expect([lacking.status, lacking.body.error]).to.deep.equal([400, 'Worker busy has no engine "clerk".']);
    const here = await agent.post('/api/sessions', { prompt: 'help', engine: 'clerk' });
    expect([here.status, here.body.worker]).to.deep.equal([201, null]);
    busy.say(event(end(1)));
    await done(id);
    for (const open of [child.body.id, sessionId]) {
      await client.post(`/api/sessions/${open}/stop`);
      await busy.until('drop');
    }
  });

  it('is not heard of the turns of others, nor twice of its own', async () => {
    const other = await dial('other');
    const theirs = await given(other, 'other');
    const thief = await dial('thief');
    const mine = await given(thief, 'thief');
    thief.say(theirs.event({ seq: 1, type: 'text', text: 'forged' }));
    thief.say(theirs.event(end(2, 'forged')));
    thief.say({ type: 'attached', turnId: theirs.turnId, isHere: false });
    thief.say(mine.event({ seq: 1, type: 'text', text: 'once' }));
    thief.say(mine.event(end(1, 'again')));
    thief.say(mine.event(end(2, 'mine')));
    thief.say(mine.event(end(2, 'replayed')));
    const { messages } = await done(mine.id);
    expect(messages.at(-1).content).to.equal('mine');
    expect((await session(theirs.id)).status).to.equal('running');
    other.say(theirs.event(end(1, 'theirs')));
    expect((await done(theirs.id)).messages.at(-1).content).to.equal('theirs');
  });

  it('makes the gateway end no process by what it notes', async () => {
    const thief = await dial('thief');
    const { id, event } = await given(thief, 'thief');
    const note = { spawnId: 'x', pid: process.pid, startTime: 'now', tokenHash: 'f'.repeat(64), machine: '' };
    thief.say(event({ seq: 1, type: 'process.noted', note }));
    const { command } = (await thief.until('command')) as { command?: object };
    expect(command).to.deep.equal({ type: 'acknowledge', seq: 1 });
    thief.socket.terminate();
    expect((await client.post(`/api/sessions/${id}/stop`)).status).to.equal(200);
    expect((await done(id)).status).to.equal('stopped');
  });

  // the session could not be stopped, and its next turn never began
  it('keeps no session by not answering', async () => {
    const deaf = await dial('deaf');
    const made = await client.post('/api/sessions', {
      prompt: 'Plans',
      engine: 'talk',
      worker: 'deaf',
      cwd: '/srv',
    });
    const id = made.body.id as string;
    const { turnId } = await deaf.until('prepare');
    expect((await client.post(`/api/sessions/${id}/stop`)).status).to.equal(200);
    expect(await deaf.until('drop')).to.include({ turnId });
    expect((await client.post(`/api/sessions/${id}/message`, { message: 'Again' })).status).to.equal(200);
    const again = await deaf.until('prepare');
    const place = { cwd: '/srv', sandbox: { level: 'off', asked: 'off', reason: null }, notices: [] };
    deaf.say({ type: 'prepared', turnId: again['turnId'], ...place });
    await deaf.until('begin'); // nor is this answered
    expect((await client.post(`/api/sessions/${id}/stop`)).status).to.equal(200);
    expect(await deaf.until('drop')).to.include({ turnId: again['turnId'] });
    expect((await client.post(`/api/sessions/${id}/message`, { message: 'Once more' })).status).to.equal(200);
    await deaf.until('prepare');
    expect((await client.post(`/api/sessions/${id}/stop`)).status).to.equal(200);
    await deaf.until('drop');
  });

  const turn = (event: object) => ({ type: 'event', turnId: 's1:1', event });
  const wrong: readonly (readonly [string, string])[] = [
    ['no JSON', '{'],
    ['no object', '7'],
    ['an unknown frame', JSON.stringify({ type: 'config', engines: {} })],
    ['a frame of the other side', JSON.stringify({ type: 'drop', turnId: 's1:1' })],
    ['a command to confine', JSON.stringify({ type: 'confine', id: 1, turnId: 's1:1', command: {} })],
    [
      'a name that is a path',
      JSON.stringify(turn({ seq: 1, type: 'conversation.named', nativeId: '../../etc' })),
    ],
    [
      'an outcome of its own',
      JSON.stringify(turn({ seq: 1, type: 'turn.ended', result: { outcome: 'paid', text: '' } })),
    ],
    ['money that it gives back', JSON.stringify(turn({ seq: 1, type: 'usage', usage: { costUsd: -5 } }))],
    ['a number that is none', JSON.stringify(turn({ seq: '1', type: 'text', text: 'x' }))],
    ['a text without end', JSON.stringify(turn({ seq: 1, type: 'text', text: 'x'.repeat(1_200_000) }))],
  ];
  for (const [name, said] of wrong)
    it(`is disconnected for ${name}`, async () => {
      const thief = await dial('rude');
      thief.socket.send(said);
      expect(await thief.gone).to.equal(1008);
    });

  it('is disconnected for a giant frame, for bytes, and for speaking before it was let in', async () => {
    const giant = await dial('thief');
    giant.socket.send('x'.repeat(9 * 1024 * 1024));
    expect(await giant.gone).to.equal(1009);
    const binary = await dial('thief');
    binary.socket.send(Buffer.from(JSON.stringify({ type: 'beat', n: 1 })));
    expect(await binary.gone).to.equal(1008);
    const early = await dial('thief', null);
    early.say(turn(end(1)));
    expect(await early.gone).to.equal(1008);
    const boaster = await dial('thief', null);
    boaster.say({ ...ready, offer: { ...offer, slots: 65 } });
    expect(await boaster.gone).to.equal(1008);
  });

  // each was an entry in the home's log, as many as it could say before the first was kept
  it('is not let in where its build speaks another protocol, and is told which one to install', async () => {
    const thief = await dial('thief', null);
    const reason = new Promise<string>((resolve) =>
      thief.socket.on('close', (_, text) => resolve(String(text))),
    );
    thief.say({ ...ready, protocol: 99, version: '9.9.9' });
    expect(await thief.gone).to.equal(1008);
    expect(await reason).to.equal(`install Troupe ${version} here: this build speaks another protocol`);
  });

  it('is shown with the version that it says', async () => {
    await dial('thief', { ...ready, protocol: 1, version: '0.0.7' });
    const { workers } = (await client.get('/api/workers')).body;
    expect(workers.find(({ name }: { name: string }) => name === 'thief').version).to.equal('0.0.7');
  });

  it('is greeted once on each connection, however often it says that it is ready', async () => {
    const epochOf = async (): Promise<number> => {
      const thief = await dial('thief', null);
      thief.say(ready);
      return Number((await thief.until('hello'))['epoch']);
    };
    const before = await epochOf();
    const pushing = await dial('thief', null);
    for (let times = 0; times < 20; times += 1) pushing.say(ready);
    expect(await pushing.gone).to.equal(1008);
    expect(await epochOf()).to.equal(before + 2);
  });

  // 300 in a minute, each of them an entry with all that it offers
  it('connects thirty times in a minute and no more', async () => {
    for (let times = 0; times < 30; times += 1) (await dial('eager', null)).socket.terminate();
    const again = new WebSocket(`ws://127.0.0.1:${port}/ws/worker`, {
      headers: { authorization: `Bearer ${tokens.get('eager')}` },
    });
    again.on('error', () => undefined);
    const [, response] = (await once(again, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(response.statusCode).to.equal(429);
    expect((await dial('busy', null)).socket.readyState, 'another may').to.equal(WebSocket.OPEN);
  });

  it('is cut when it is removed, while it says what it likes, and never let in again', async () => {
    const thief = await dial('thief');
    const { id, event } = await given(thief, 'thief');
    expect((await client.post('/api/workers/thief/remove')).status).to.equal(200);
    thief.say(event(end(1, 'too late')));
    expect(await thief.gone).to.equal(4001);
    const { status, messages } = await done(id);
    expect([
      status,
      messages.some(({ content }: { content: string }) => content === 'too late'),
    ]).to.deep.equal(['interrupted', false]);
    const again = new WebSocket(`ws://127.0.0.1:${port}/ws/worker`, {
      headers: { authorization: `Bearer ${tokens.get('thief')}` },
    });
    again.on('error', () => undefined);
    const [, response] = (await once(again, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(response.statusCode).to.equal(401);
  });
});

/** An honest one speaks of its turns as soon as there is a gateway, which may not have asked for them yet. */
describe('the gateway’s side of a worker', () => {
  const offer = { machine: 'm', slots: 1, labels: [], engines: ['talk'], roots: [], work: '/w' };
  const turnId = 's1:1';
  const ended = {
    type: 'event',
    turnId,
    event: { seq: 2, type: 'turn.ended', result: { outcome: 'succeeded', text: 'fine' } },
  } as const;

  /** A connected one, and a turn of an earlier gateway that it is asked for. */
  function adopting({ endMs = 60_000, lostAfterMs = 60_000, keeps = true } = {}) {
    const said: string[] = [];
    const told: ToWorker[] = [];
    const link = { send: (frame: ToWorker) => void told.push(frame), close: () => undefined };
    const remote = new RemoteWorker({
      name: 'gpu1',
      redact: (value) => value,
      onFault: () => undefined,
      lostAfterMs,
      endMs,
      mayLeave: () => keeps,
    });
    remote.connect(link, { type: 'ready', pid: 1, startedAt: 1, running: 1, offer });
    const noted = { tokenHash: 'none', engine: 'talk', beganAt: 1 };
    const stopping = new AbortController();
    const side = {
      post: ({ seq, type }: TurnEvent) => void said.push(`${seq} ${type}`),
      confine: () => Promise.reject(new Error('Not here.')),
      onCaughtUp: () => void said.push('caught up'),
    };
    const adopted = remote.attach(turnId, noted, side, stopping.signal);
    return { remote, link, said, told, adopted, stopping };
  }

  // what came before was lost, and when it was the end, the turn was never over
  it('takes what a turn says from its first event on, though a later one was faster', async () => {
    const { remote, link, said, adopted } = adopting();
    remote.take(link, ended);
    remote.take(link, { type: 'attached', turnId, isHere: true });
    remote.take(link, { type: 'event', turnId, event: { seq: 1, type: 'text', text: 'first' } });
    remote.take(link, { type: 'caughtUp', turnId });
    remote.take(link, ended);
    expect(said).to.deep.equal(['1 text', 'caught up', '2 turn.ended']);
    expect(await adopted).to.include({ isElsewhere: true });
  });

  // what an earlier gateway had shown was shown again
  it('has caught up with a turn whose end it is told again', async () => {
    const { remote, link, said } = adopting();
    remote.take(link, { type: 'attached', turnId, isHere: true });
    remote.take(link, { type: 'event', turnId, event: { seq: 1, type: 'text', text: 'first' } });
    remote.take(link, ended);
    remote.take(link, { type: 'caughtUp', turnId });
    expect(said).to.deep.equal(['1 text', 'caught up', '2 turn.ended']);
  });

  // its session could not be stopped, and kept its slot
  it('gives a turn up that does not end when it is told to, and one that it hears nothing of', async () => {
    const { remote, link, told, adopted } = adopting({ endMs: 20 });
    remote.take(link, { type: 'attached', turnId, isHere: true });
    const turn = await adopted;
    turn?.take({ type: 'interrupt' });
    expect(await turn?.lost).to.equal('The worker gpu1 did not end a turn that was interrupted.');
    expect(told.at(-1)).to.deep.equal({ type: 'drop', turnId });
    expect(remote.turns.size).to.equal(0);
    const deaf = adopting({ lostAfterMs: 20 });
    expect(await deaf.adopted).to.equal(undefined);
    expect(deaf.told.at(-1)).to.deep.equal({ type: 'drop', turnId });
  });

  // a gateway that was to hand its home over waited as long as a stop may take for a worker that had not come yet
  it('leaves a turn whose worker has not answered where the gateway stops', async () => {
    const { remote, link, told, adopted, stopping } = adopting();
    remote.leave(link);
    stopping.abort();
    expect((await adopted)?.leave()).to.equal(true);
    expect(remote).to.deep.include({ left: 1, turns: new Map() });
    expect(told).to.deep.equal([{ type: 'attach', turnId }]);
  });

  // it was told nothing more, and went on for a quarter of an hour without a gateway
  it('leaves no turn to go on where the gateway is to end all of them', async () => {
    const { remote, link, told, adopted } = adopting({ keeps: false });
    remote.take(link, { type: 'attached', turnId, isHere: true });
    remote.goodbye(900_000);
    expect(told.at(-1)).to.deep.equal({ type: 'wait', ms: 900_000, left: [] });
    expect(await (await adopted)?.lost).to.equal('The gateway was stopped.');
    const kept = adopting();
    kept.remote.goodbye(900_000);
    expect(kept.told.at(-1)).to.deep.equal({ type: 'wait', ms: 900_000 });
  });
});
