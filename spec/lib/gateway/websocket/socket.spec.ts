import { expect } from 'chai';
import type { WebSocket } from 'ws';
import { systemEnvironment } from '../../../../lib/environment.js';
import { openListeners } from '../../../../lib/gateway/listeners.js';
import { floodFrames, openHouse, type House, type WatchedFrame, type Watching } from '../fixture.js';

describe('/ws', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse();
  });
  afterEach(() => house.close());

  const mint = async (title = 'x', body = ''): Promise<string> =>
    (await house.operator.post('/api/work-items', { title, body })).body.workItem.id;
  const about =
    (id: string) =>
    (frame: WatchedFrame): boolean =>
      JSON.stringify(frame.payload ?? null).includes(`"${id}"`);
  const numbered = (watching: Watching): WatchedFrame[] =>
    watching.frames.filter(({ seq, event }) => seq !== null && event !== 'cursor');
  /** Ends when everything committed so far has been received. */
  const caughtUp = async (watching: Watching): Promise<void> => {
    const id = await mint('the end');
    await watching.until(about(id));
  };

  it('tells what was committed, with its position and time', async () => {
    const socket = await house.socket('/ws');
    const id = await mint();
    const frame = await socket.until(about(id));
    expect(frame).to.include({ event: 'company:changed', seq: house.supervisor.status.position, last: true });
    expect(frame.payload).to.include({ entity: 'todo', action: 'created', id });
    expect(frame.ts).to.be.closeTo(Date.now(), 60_000);
  });

  it('gives all frames of a commit one position and marks the last', async () => {
    const socket = await house.socket('/ws');
    const { body } = await house.operator.post('/api/delegations', { task: 'x', engine: 'pen' });
    await socket.until(({ event }) => event === 'session:completed');
    const { seq } = await socket.until(about(body.workItemId));
    const commit = numbered(socket).filter((frame) => frame.seq === seq);
    expect(commit.map(({ event }) => event)).to.include.members(['company:changed', 'session:created']);
    expect(commit.map(({ last }) => last === true)).to.deep.equal(
      commit.map((_frame, index) => index === commit.length - 1),
    );
  });

  it('takes as many as the settings say, and refuses the next with 503', async () => {
    await house.close();
    house = await openHouse({
      settings: {
        home: house.home,
        sessionRoots: [],
        interruptOnNewMessage: true,
        turnDeadlineMs: 60_000,
        socketsMax: 2,
      },
    });
    await house.socket('/ws');
    const second = await house.socket('/ws');
    expect(await house.socket('/ws').catch((error: { status?: number }) => error.status)).to.equal(503);
    second.ws.close();
    await second.closed;
    await house.socket('/ws');
  });

  // Of 10,000 that the settings allowed, 4,096 came in: the server's bound on connections counted them, too.
  it('takes connections for requests beside all its sockets', async () => {
    await house.close();
    const listeners = await openListeners({ host: '127.0.0.1', port: 0 });
    for (const server of listeners.servers) server.maxConnections = 2;
    house = await openHouse({ listeners });
    const sockets = [];
    for (let n = 0; n < 12; n += 1) sockets.push(await house.socket('/ws'));
    expect((await house.operator.get('/healthz')).status).to.equal(200);
    for (const { ws, closed } of sockets) {
      ws.close();
      await closed;
    }
    expect(listeners.servers.map(({ maxConnections }) => maxConnections)).to.deep.equal([2]);
  });

  it('resumes without gap or repetition, however often the line breaks', async () => {
    const whole = await house.socket('/ws');
    const pieces: WatchedFrame[] = [];
    let since = house.supervisor.status.position;
    for (let round = 0; round < 5; round++) {
      const writing = Promise.all(Array.from({ length: 12 }, (_, n) => mint(`r${round} n${n}`)));
      const part = await house.socket(`/ws?since=${since}`);
      await writing;
      await part.until(({ last }) => last === true);
      part.ws.terminate(); // in the middle of things
      const whatCame = numbered(part);
      since = whatCame.filter(({ last }) => last).at(-1)?.seq ?? since;
      pieces.push(...whatCame.filter(({ seq }) => (seq ?? 0) <= since));
    }
    const rest = await house.socket(`/ws?since=${since}`);
    await caughtUp(rest);
    await caughtUp(whole);
    const strip = (frames: readonly WatchedFrame[]) =>
      frames.map(({ seq, event, payload }) => JSON.stringify({ seq, event, payload }));
    const joined = [...strip(pieces), ...strip(numbered(rest))];
    expect(joined).to.deep.equal(strip(numbered(whole)).slice(0, joined.length));
    expect(joined.length).to.be.greaterThan(60);
  });

  it('replays on {type: "resume"} over an open line', async () => {
    await mint('before');
    const socket = await house.socket('/ws');
    socket.ws.send(JSON.stringify({ type: 'resume', since: 0 }));
    expect((await socket.until(({ seq, event }) => seq === 1 && event !== 'cursor')).payload).to.include({
      action: 'created',
    });
    await caughtUp(socket);
    expect(numbered(socket).map(({ seq }) => seq)).to.deep.equal([1, 2]);
  });

  it('resets a client that remembers more than the log holds', async () => {
    const socket = await house.socket('/ws?since=999999');
    const reset = await socket.until(({ event }) => event === 'reset');
    expect(reset).to.deep.include({ seq: null, payload: { floor: 0, head: 0 } });
    await caughtUp(socket);
  });

  it('filters by kind and id on {type: "subscribe"}', async () => {
    const wanted = await mint();
    const socket = await house.socket('/ws');
    socket.ws.send(JSON.stringify({ type: 'subscribe', kinds: ['work-item'], ids: [wanted] }));
    socket.ws.send(JSON.stringify({ event: 'ping' }));
    await socket.until(({ event }) => event === 'pong');
    const other = await mint();
    await house.operator.post(`/api/work-items/${wanted}/archive`);
    await socket.until(about(wanted));
    expect(socket.frames.some(about(other))).to.equal(false);
  });

  it('answers a ping, and says what it cannot understand', async () => {
    const socket = await house.socket('/ws');
    socket.ws.send('{"event":"ping"}');
    expect(await socket.until(({ event }) => event === 'pong')).to.deep.equal({ event: 'pong', payload: {} });
    socket.ws.send('hello');
    socket.ws.send('{"type":"sing"}');
    await socket.until(({ event }) => event === 'error');
    socket.ws.send('x'.repeat(70_000));
    expect(await socket.closed).to.equal(1009);
  });

  it('tells the cursor from time to time', async () => {
    const quick = await openHouse({ heartbeatMs: 20 });
    try {
      const socket = await quick.socket('/ws');
      await quick.operator.post('/api/work-items', { title: 'x' });
      const cursor = await socket.until(({ event, seq }) => event === 'cursor' && seq === 1);
      expect(cursor).to.deep.equal({ event: 'cursor', seq: 1, payload: {} });
    } finally {
      await quick.close();
    }
  });

  it('streams what is under way without a position', async () => {
    const socket = await house.socket('/ws');
    await house.operator.post('/api/sessions', { prompt: 'stream this' });
    const delta = await socket.until(({ event }) => event === 'session:delta');
    expect(delta.seq).to.equal(null);
    const again = await house.socket('/ws?since=0');
    await caughtUp(again);
    expect(again.frames.some(({ event }) => event === 'session:delta')).to.equal(false);
  });

  it('shows an agent itself, what is beneath it and its own work, and nothing else', async () => {
    const own = (await house.operator.post('/api/sessions', { prompt: 'hang' })).body.id;
    const token = house.tokens.mint(own);
    const socket = await house.socket('/ws?since=0', { authorization: `Bearer ${token}` });
    const outsider = (await house.operator.post('/api/sessions', { prompt: 'stream this' })).body.id;
    const foreign = await mint('secret plan');
    const agent = house.agent(own);
    const child = (await agent.post('/api/sessions', { prompt: 'stream this' })).body.id;
    const mine = (await agent.post('/api/work-items', { title: 'mine' })).body.workItem.id;
    await socket.until(about(mine));
    await socket.until((frame) => frame.event === 'session:delta' && about(child)(frame));
    for (const hidden of [outsider, foreign])
      expect(socket.frames.some(about(hidden)), hidden).to.equal(false);
    expect(socket.frames.some(about(own))).to.equal(true);
  });

  it("ends with the agent's token", async () => {
    const quick = await openHouse({ heartbeatMs: 20 });
    try {
      const { id } = (await quick.operator.post('/api/sessions', { prompt: 'hang' })).body;
      const token = quick.tokens.mint(id);
      const socket = await quick.socket('/ws', { authorization: `Bearer ${token}` });
      quick.tokens.revoke(token);
      expect(await socket.closed).to.equal(4001);
    } finally {
      await quick.close();
    }
  });

  // All sockets were cut when the machine had slept, or a loaded gateway was late to ask whether they live.
  it('asks before it takes a socket for dead, and hangs up on one that does not answer', async () => {
    let leapt = 0;
    const environment = systemEnvironment();
    const monotonic = (): number => environment.clock.monotonic() + leapt;
    const slow = await openHouse({
      heartbeatMs: 20,
      environment: { ...environment, clock: { ...environment.clock, monotonic } },
    });
    try {
      const socket = await slow.socket('/ws');
      leapt = 200_000;
      let pings = 0;
      socket.ws.on('ping', () => (pings += 1));
      await new Promise<void>((resolve) => {
        socket.ws.once('ping', () => resolve());
        socket.ws.once('close', () => resolve());
      });
      expect(pings).to.equal(1);
      const heard = socket.frames.length;
      await socket.until((_frame) => socket.frames.length > heard + 10);
      socket.ws.pong = () => undefined; // from now on it says nothing
      const silent = pings;
      while (pings === silent) await new Promise((resolve) => socket.ws.once('ping', resolve));
      leapt = 400_000;
      expect(await socket.closed).to.equal(1006);
    } finally {
      await slow.close();
    }
  });

  // An agent whose socket said small things as fast as it could kept everyone waiting for seconds: each is answered.
  for (const path of ['/ws', '/ws/inspect', '/ws/stately'])
    for (const [what, say] of [
      ['frames', (ws: WebSocket) => ws.send('{"event":"ping"}')],
      ['resumes', (ws: WebSocket) => ws.send('{"type":"resume","since":0}')],
      ['pings', (ws: WebSocket) => ws.ping()],
      ['pongs', (ws: WebSocket) => ws.pong()],
    ] as const)
      it(`${path}: hears 600 ${what} a minute, and lets go who says more`, async () => {
        const socket = await house.socket(path);
        for (let n = 0; n < 2_000; n += 1) say(socket.ws);
        // Of pings the library itself takes only so many at once
        expect(await socket.closed).to.be.oneOf(what === 'pings' ? [1008, 1006] : [1008]);
        expect(socket.frames.filter(({ event }) => event === 'pong').length).to.be.at.most(600);
        expect((await house.operator.get('/healthz')).status).to.equal(200);
      });

  it('cuts a live reader that does not read, and bothers no one else', async () => {
    const slow = await house.socket('/ws');
    const quick = await house.socket('/ws');
    const since = house.supervisor.status.position;
    slow.ws.pause();
    const { id } = (await house.operator.post('/api/sessions', { prompt: 'flood' })).body;
    await quick.until((frame) => frame.event === 'session:completed' && about(id)(frame));
    expect(quick.frames.filter(({ event }) => event === 'session:delta')).to.have.length(floodFrames);
    slow.ws.resume();
    expect(await slow.closed).to.be.oneOf([4008, 1006]); // 1006 when the goodbye was cut too
    expect(slow.frames.filter(({ event }) => event === 'session:delta').length).to.be.lessThan(floodFrames);
    const resumed = await house.socket(`/ws?since=${numbered(slow).at(-1)?.seq ?? since}`);
    await resumed.until((frame) => frame.event === 'session:completed' && about(id)(frame));
  });
});
