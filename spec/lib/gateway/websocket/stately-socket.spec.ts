import { isDeepStrictEqual } from 'node:util';
import {
  createBrowserInspector,
  createBrowserReceiver,
  createWebSocketReceiver,
  type StatelyInspectionEvent,
} from '@statelyai/inspect';
import { expect } from 'chai';
import { redact } from '../../../../lib/inspector/redact.js';
import type { StatelyFrame } from '../../../../lib/inspector/stately-frames.js';
import { openHouse, watch, type House, type Watching } from '../fixture.js';
import { operator } from '../../../../machines/caller.js';
import { isRefusal } from '../../../../machines/refusals.js';
import { statelyLinksOf } from '../../../../lib/inspector/stately-links.js';
import type { Supervisor } from '../../../../lib/supervisor/contract.js';
import { testEnvironment } from '../../../../lib/testing/test-environment.js';

/**
 * `/ws/stately` against the npm package `@statelyai/inspect`: its own receivers and its own inspector take
 * what we send.
 */
describe('/ws/stately', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse({ authRequired: false }); // the package's receiver can send no credential of its own
    await house.supervisor.spawn('session', { id: 's1', input: input() });
  });
  afterEach(() => house.close());

  const input = () => ({
    engine: 'pen',
    model: null,
    effort: null,
    employee: null,
    parentSessionId: null,
    ancestors: [],
    workItemId: null,
    title: 'A title',
    cwd: house.home,
    source: 'web',
    sourceRef: null,
    interruptOnNewMessage: true,
    turnDeadlineMs: 1000,
  });
  const post = () =>
    house.supervisor.ask('session', 's1', {
      type: 'message.post',
      message: { id: 'm1', content: 'a secret wish', role: 'user', kind: 'user' },
    });
  const framesOf = (socket: Watching) => socket.frames as unknown as StatelyFrame[];
  const isRest = (frame: unknown): boolean => {
    const { type, snapshot } = frame as Partial<StatelyFrame> & { snapshot?: { value?: unknown } };
    return type === '@xstate.snapshot' && isDeepStrictEqual(snapshot?.value, { resting: 'idle' });
  };

  it('tells the root, then who is there, then every step as event and snapshot, each true to its moment', async () => {
    const socket = await house.socket('/ws/stately', {});
    await socket.until((frame) => (frame as unknown as StatelyFrame).sessionId === 'session/s1');
    await post();
    await socket.until(isRest);
    const frames = framesOf(socket);
    expect(frames[0]).to.include({ type: '@xstate.actor', sessionId: 'troupe', rootId: 'troupe' });
    const [actor] = frames.filter(({ sessionId }) => sessionId === 'session/s1');
    expect(actor).to.include({ type: '@xstate.actor', name: 'session/s1', parentId: 'troupe' });
    expect((actor as { snapshot: { value: unknown } }).snapshot.value, 'not a later one').to.deep.equal({
      resting: 'idle',
    });
    const definition = JSON.parse((actor as { definition: string }).definition) as {
      id: string;
      states: object;
    };
    expect(definition.id).to.equal('session');
    expect(Object.keys(definition.states)).to.include.members(['resting', 'running', 'waiting']);
    const steps = frames.filter(
      ({ sessionId, type }) => sessionId === 'session/s1' && type !== '@xstate.actor',
    );
    expect(steps.map(({ type }) => type)).to.deep.equal(
      steps.map((_, n) => (n % 2 === 0 ? '@xstate.event' : '@xstate.snapshot')),
    );
    const snapshots = steps.filter(
      (frame): frame is Extract<StatelyFrame, { type: '@xstate.snapshot' }> =>
        frame.type === '@xstate.snapshot',
    );
    expect(snapshots[0]?.snapshot.value).to.equal('running');
    for (const [n, { snapshot }] of snapshots.entries()) {
      const past = await house.supervisor.past({ kind: 'session', id: 's1' }, n + 2);
      expect(snapshot.value).to.deep.equal(past?.value);
      expect(snapshot.context).to.deep.equal(redact(past?.context));
    }
    expect(
      JSON.stringify(frames.filter(({ type }) => type === '@xstate.event')),
      'texts stand in events as their hash',
    ).to.not.include('a secret wish');
    expect(new Set(frames.map(({ type }) => type))).to.deep.equal(
      new Set(['@xstate.actor', '@xstate.event', '@xstate.snapshot']),
    );
  });

  it('introduces who is created later with its creation', async () => {
    const socket = await house.socket('/ws/stately?kinds=work-item', {});
    await socket.until((frame) => (frame as unknown as StatelyFrame).sessionId === 'troupe');
    await house.operator.post('/api/work-items', { title: 'x' });
    await socket.until((frame) => (frame as unknown as StatelyFrame).type === '@xstate.snapshot');
    expect(
      framesOf(socket)
        .slice(1)
        .map(({ type }) => type),
    ).to.deep.equal(['@xstate.actor', '@xstate.event', '@xstate.snapshot']);
    expect(framesOf(socket)[2]).to.deep.nested.include({ 'event.type': 'xstate.init' });
  });

  it('introduces as many of each kind as are asked for, fifty where none are', async () => {
    for (let n = 0; n < 60; n += 1) await house.operator.post('/api/work-items', { title: `t${n}` });
    const introduced = async (query: string, count: number): Promise<number> => {
      const socket = await house.socket(`/ws/stately?kinds=work-item${query}`, {});
      await socket.until(() => socket.frames.length === 1 + count); // the root and they
      await house.operator.post('/api/work-items/ACM-60/comments', { text: 'the introduction is over' });
      await socket.until((frame) => (frame as unknown as StatelyFrame).type === '@xstate.snapshot');
      socket.ws.terminate();
      return framesOf(socket).filter(
        ({ type, sessionId }) => type === '@xstate.actor' && sessionId.startsWith('work-item/'),
      ).length;
    };
    // And the one that took a step, which was not among them
    expect(await introduced('', 50)).to.equal(50 + 1);
    expect(await introduced('&first=60', 60)).to.equal(60);
    expect(await introduced('&first=1000', 60)).to.equal(60);
    expect(await introduced('&first=0', 0)).to.equal(1);
    for (const query of ['first=1001', 'first=-1', 'first=x', 'since=x'])
      expect(
        await house.socket(`/ws/stately?${query}`, {}).then(
          () => 0,
          (error: { status?: number }) => error.status,
        ),
        query,
      ).to.equal(400);
  });

  it('goes on from the last snapshot that one has, without a gap and without anything twice', async () => {
    const snapshots = (socket: Watching) =>
      framesOf(socket).filter(
        (frame): frame is Extract<StatelyFrame, { type: '@xstate.snapshot' }> =>
          frame.type === '@xstate.snapshot',
      );
    const told = async (socket: Watching, seq: number): Promise<void> =>
      void (await socket.until(
        (frame) => (frame as unknown as { type: string }).type === '@xstate.snapshot' && frame.seq === seq,
      ));
    const comment = () => house.operator.post('/api/work-items/ACM-1/comments', { text: 'one more' });
    await house.operator.post('/api/work-items', { title: 'x' });
    const first = await house.socket('/ws/stately?kinds=work-item', {});
    await first.until((frame) => (frame as unknown as StatelyFrame).sessionId === 'work-item/ACM-1');
    await comment();
    await told(first, house.supervisor.status.position);
    first.ws.terminate();
    const since = snapshots(first).at(-1)?.seq ?? 0;
    expect(since).to.equal(house.supervisor.status.position);
    // More than one page of the log, and more than a live flush would keep
    for (let n = 0; n < 250; n += 1) await comment();
    const second = await house.socket(`/ws/stately?kinds=work-item&since=${since}`, {});
    await second.until((frame) => (frame as unknown as StatelyFrame).sessionId === 'work-item/ACM-1');
    await comment();
    await told(second, since + 251);
    expect(
      framesOf(second)
        .slice(0, 4)
        .map(({ type }) => type),
      // The root, then the actor as it was then
    ).to.deep.equal(['@xstate.actor', '@xstate.actor', '@xstate.event', '@xstate.snapshot']);
    expect(snapshots(second).map(({ seq }) => seq)).to.deep.equal(
      Array.from({ length: 251 }, (_, n) => since + 1 + n),
    );
    const { snapshot } = snapshots(second).at(-1) as { snapshot: { context: unknown } };
    expect(snapshot.context).to.deep.equal(
      redact((await house.supervisor.past({ kind: 'work-item', id: 'ACM-1' }, since + 251))?.context),
    );
    const beyond = await house.socket('/ws/stately?kinds=work-item&since=999999', {});
    await beyond.until((frame) => (frame as unknown as StatelyFrame).sessionId === 'work-item/ACM-1');
    expect(
      framesOf(beyond).map(({ type }) => type),
      'a log that is shorter than the watcher remembers: as they are',
    ).to.deep.equal(['@xstate.actor', '@xstate.actor']);
  });

  it("is understood by the package's WebSocket receiver", async () => {
    const receiver = createWebSocketReceiver({ server: `ws://127.0.0.1:${house.gateway.port}/ws/stately` });
    const events: StatelyInspectionEvent[] = [];
    await new Promise<void>((resolve) => {
      receiver.subscribe((event) => {
        events.push(event);
        if (event.type === '@xstate.actor' && event.sessionId === 'session/s1') void post();
        if (isRest(event)) resolve();
      });
    });
    expect(events.map(({ type }) => type)).to.include.members([
      '@xstate.actor',
      '@xstate.event',
      '@xstate.snapshot',
    ]);
    for (const event of events) expect(Number(event.createdAt)).to.be.greaterThan(0);
  });

  it('opens once by a link, for a receiver that sends no credential, and shows what the link was made for', async () => {
    const guarded = await openHouse();
    try {
      for (const title of ['a', 'b']) await guarded.operator.post('/api/work-items', { title });
      const made = await guarded.operator.post('/api/inspect/stately-links', {
        kinds: ['work-item'],
        ids: ['ACM-2'],
      });
      expect(made.status).to.equal(201);
      expect(made.body.path).to.match(/^\/ws\/stately\/[\w-]{43}$/);
      const receiver = createWebSocketReceiver({
        server: `ws://127.0.0.1:${guarded.gateway.port}${made.body.path}?kinds=session&ids=`,
      });
      const seen: string[] = [];
      await new Promise<void>((resolve) => {
        receiver.subscribe(({ type, sessionId }) => {
          seen.push(sessionId);
          if (type === '@xstate.actor' && sessionId === 'work-item/ACM-2')
            void guarded.operator.post('/api/work-items/ACM-2/comments', { text: 'seen' });
          if (type === '@xstate.snapshot') resolve();
        });
      });
      expect(new Set(seen)).to.deep.equal(new Set(['troupe', 'work-item/ACM-2']));
      const opened = (path: string, headers = {}) =>
        watch(`ws://127.0.0.1:${guarded.gateway.port}${path}`, headers).then(
          ({ ws }) => (ws.terminate(), 101),
          (error: { status?: number }) => error.status,
        );
      expect(await opened(made.body.path), 'a second time').to.equal(401);
      const other = async (): Promise<string> =>
        (await guarded.operator.post('/api/inspect/stately-links', {})).body.path as string;
      const path = await other();
      expect(await opened(path, { origin: 'https://evil.example' }), 'a page of others').to.equal(403);
      expect(await opened(path.replace('stately', 'inspect')), 'another socket').to.equal(401);
      expect(await opened('/ws/stately/x'), 'a guess').to.equal(401);
      expect(await opened(path), 'those tries did not use it up').to.equal(101);
      const { body } = await guarded.operator.post('/api/inspect/stately-links', { first: 1_001 });
      expect(body.code).to.equal('BAD_REQUEST');
    } finally {
      await guarded.close();
    }
  });

  it('refuses a link that is a minute old, and those beyond what may wait', async () => {
    const environment = testEnvironment();
    const links = statelyLinksOf({ environment } as unknown as Supervisor); // all that it reads
    const make = () => links.create({ caller: operator, filter: {}, first: undefined });
    const made = make();
    if (isRefusal(made)) throw new Error(made.message);
    expect(made).to.deep.include({ ttlSeconds: 60, expiresAt: environment.clock.now() + 60_000 });
    await environment.advance(60_000);
    expect(links.take(made.code)).to.equal(undefined);
    const all = Array.from({ length: 65 }, make);
    expect(all.filter(isRefusal).map(({ code }) => code)).to.deep.equal(['BUSY']);
    const device = { type: 'device', id: 'd1' } as const;
    await environment.advance(60_000);
    const own = links.create({ caller: device, filter: {}, first: undefined });
    links.withdraw('d1');
    expect(isRefusal(own) || links.take(own.code)).to.equal(undefined);
  });

  it("is passed on by a host's createBrowserInspector, and accepted by the receiver in Stately's window", async () => {
    const socket = await house.socket('/ws/stately', {});
    await socket.until((frame) => (frame as unknown as StatelyFrame).sessionId === 'session/s1');
    await post();
    await socket.until(isRest);
    const { host, stately } = windows();
    const received: StatelyInspectionEvent[] = [];
    const inspector = createBrowserInspector({ window: host, serializationDepthLimit: 1_000 });
    createBrowserReceiver({ window: stately }).subscribe((event) => {
      received.push(event);
    }); // says that it is there
    // Its type also claims an id that the package itself sends as null
    for (const frame of framesOf(socket)) inspector.adapter.send(frame as unknown as StatelyInspectionEvent);
    expect(received.map(({ type, sessionId }) => [type, sessionId])).to.deep.equal(
      framesOf(socket).map(({ type, sessionId }) => [type, sessionId]),
    );
    expect(received).to.deep.equal(framesOf(socket));
  });
});

/** Two windows that post messages to each other: a host's page, and the one that it opens. */
function windows(): { host: Window; stately: Window } {
  const make = (): { listeners: ((event: { data: unknown }) => void)[]; window: Record<string, unknown> } => {
    const listeners: ((event: { data: unknown }) => void)[] = [];
    const window: Record<string, unknown> = {
      addEventListener: (_type: string, listener: (event: { data: unknown }) => void) =>
        listeners.push(listener),
      postMessage: (data: unknown) => {
        for (const listener of listeners) listener({ data: structuredClone(data) });
      },
    };
    window['self'] = window['top'] = window;
    return { listeners, window };
  };
  const host = make();
  const stately = make();
  host.window['open'] = () => stately.window;
  stately.window['opener'] = host.window;
  // The few members of a window that the package uses
  return { host: host.window as unknown as Window, stately: stately.window as unknown as Window };
}
