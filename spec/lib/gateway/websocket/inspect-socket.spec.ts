import { expect } from 'chai';
import type { EntriesFrame, InspectEntry, InspectFrame } from '../../../../lib/client/inspector-frames.js';
import { memoryStore } from '../../../../lib/store/memory.js';
import { openHouse, operatorToken, watch, type House, type Watching } from '../fixture.js';

/** `/ws/inspect`: every step of every actor, resumable, bounded, the same for all who watch alike. */
describe('/ws/inspect', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse({ heartbeatMs: 50 });
  });
  afterEach(() => house.close());

  const framesOf = (socket: Watching): InspectFrame[] => socket.frames as unknown as InspectFrame[];
  const entriesOf = (socket: Watching): InspectEntry[] =>
    framesOf(socket)
      .filter((frame): frame is EntriesFrame => frame.event === 'entries')
      .flatMap(({ payload }) => payload.entries);
  const until = (socket: Watching, test: (frame: InspectFrame) => boolean) =>
    socket.until((frame) => test(frame as unknown as InspectFrame));
  const reaches = (socket: Watching, seq: number) =>
    until(socket, (frame) => (frame.event === 'entries' || frame.event === 'cursor') && frame.seq >= seq);
  const item = (title: string) =>
    house.operator.post('/api/work-items', { title }).then(({ body }) => body.workItem.id as string);
  const input = (parentSessionId: string | null = null) => ({
    engine: 'pen',
    model: null,
    effort: null,
    employee: null,
    parentSessionId,
    ancestors: parentSessionId === null ? [] : [parentSessionId],
    workItemId: null,
    title: null,
    cwd: house.home,
    source: 'web',
    sourceRef: null,
    interruptOnNewMessage: true,
    turnDeadlineMs: 1000,
  });

  it('says where the log stands, then every step with state, effects, cause and caller', async () => {
    const socket = await house.socket('/ws/inspect');
    await until(socket, (frame) => frame.event === 'hello');
    await house.supervisor.spawn('session', { id: 's1', input: input() });
    await house.supervisor.ask('session', 's1', {
      type: 'message.post',
      message: { id: 'm1', content: 'a secret wish', role: 'user', kind: 'user' },
    });
    await until(
      socket,
      (frame) =>
        frame.event === 'entries' &&
        frame.payload.entries.some(({ event }) => event.type.startsWith('xstate.done.actor')),
    );
    const entries = entriesOf(socket);
    expect(entries.map(({ seq }) => seq)).to.deep.equal(entries.map((_, n) => n + 1));
    expect(entries[0]).to.deep.include({
      kind: 'session',
      id: 's1',
      from: null,
      to: { resting: 'idle' },
      by: 'operator',
    });
    expect(entries[1]).to.deep.include({
      from: { resting: 'idle' },
      to: 'running',
      effects: ['engine-turn'],
    });
    expect(entries.at(-1)).to.deep.include({
      from: 'running',
      to: { resting: 'idle' },
      by: 'effect:engine-turn',
    });
    expect(JSON.stringify(entries)).to.not.include('a secret wish');
    expect(framesOf(socket)[0]).to.deep.include({ event: 'hello', payload: { head: 0, floor: 0, from: 0 } });
  });

  it('resumes from any position without a gap and without repeating, also in the middle of a stream', async () => {
    for (let n = 0; n < 5; n += 1) await item(`before ${n}`);
    const head = house.supervisor.status.position;
    for (const since of [0, 3, head]) {
      const socket = await house.socket(`/ws/inspect?since=${since}`);
      const made = item('during');
      await made;
      const target = house.supervisor.status.position;
      await reaches(socket, target);
      expect(entriesOf(socket).map(({ seq }) => seq)).to.deep.equal(
        Array.from({ length: target - since }, (_, n) => since + n + 1),
      );
    }
  });

  it('goes on where a subscriber stood when the filter changes, and when it asks to resume', async () => {
    const socket = await house.socket('/ws/inspect?kinds=session');
    await until(socket, (frame) => frame.event === 'hello');
    await item('unseen');
    await reaches(socket, house.supervisor.status.position);
    expect(entriesOf(socket)).to.deep.equal([]);
    socket.ws.send(JSON.stringify({ type: 'subscribe' }));
    await item('seen');
    await reaches(socket, house.supervisor.status.position);
    expect(new Set(entriesOf(socket).map(({ kind }) => kind))).to.deep.equal(new Set(['work-item']));
    const seen = entriesOf(socket).length;
    socket.ws.send(JSON.stringify({ type: 'resume', since: 0 }));
    await until(socket, (frame) => frame.event === 'entries' && frame.payload.from === 0);
    expect(entriesOf(socket).length).to.be.greaterThan(seen);
  });

  it('filters by kind, by id and by tree, and knows who is created into a tree', async () => {
    await house.supervisor.spawn('session', { id: 'top', input: input() });
    await house.supervisor.spawn('session', { id: 'old-child', input: input('top') });
    const sockets = await Promise.all(
      ['?kinds=work-item', '?ids=stranger,top', '?tree=session/top'].map((query) =>
        house.socket(`/ws/inspect${query}`),
      ),
    );
    await Promise.all(sockets.map((socket) => until(socket, (frame) => frame.event === 'hello')));
    await house.supervisor.spawn('session', { id: 'stranger', input: input() });
    await house.supervisor.spawn('session', { id: 'new-child', input: input('top') });
    await house.supervisor.spawn('session', { id: 'grandchild', input: input('new-child') });
    for (const id of ['top', 'old-child', 'grandchild', 'stranger'])
      await house.supervisor.ask('session', id, { type: 'queue.pause' });
    await item('an item');
    const head = house.supervisor.status.position;
    await Promise.all(sockets.map((socket) => reaches(socket, head)));
    const [items, ids, tree] = sockets.map((socket) => [
      ...new Set(entriesOf(socket).map((entry) => (entry.kind === 'session' ? entry.id : entry.kind))),
    ]);
    expect(items).to.deep.equal(['work-item']);
    expect(ids).to.have.members(['stranger', 'top']);
    expect(tree).to.have.members(['top', 'old-child', 'new-child', 'grandchild']);
  });

  it('tells of refusals only who asked for them, and never of what was said', async () => {
    const id = await item('x');
    const [asked, other] = await Promise.all([
      house.socket('/ws/inspect?refusals=1'),
      house.socket('/ws/inspect'),
    ]);
    await Promise.all([asked, other].map((socket) => until(socket, (frame) => frame.event === 'hello')));
    await house.operator.post(`/api/work-items/${id}/status`, { status: 'blocked' });
    const frame = (await until(asked, ({ event }) => event === 'refusals')) as unknown as Extract<
      InspectFrame,
      { event: 'refusals' }
    >;
    expect(frame.payload.refusals).to.have.length(1);
    expect(frame.payload.refusals[0]).to.deep.include({
      kind: 'work-item',
      id,
      event: { type: 'item.move' },
    });
    expect(frame.payload.refusals[0]?.refusal.code).to.be.a('string');
    expect(framesOf(other).some(({ event }) => event === 'refusals')).to.equal(false);
  });

  it("sends a restored log's watcher to read again, and one whose place is below the floor", async () => {
    await item('x');
    const head = house.supervisor.status.position;
    const ahead = await house.socket(`/ws/inspect?since=${head + 1000}`);
    const reset = await until(ahead, ({ event }) => event === 'reset');
    expect(reset.payload).to.deep.equal({ floor: 0, head });
    await item('y');
    await reaches(ahead, house.supervisor.status.position);
    expect(entriesOf(ahead).every(({ seq }) => seq > head)).to.equal(true);

    const store = memoryStore();
    await store.write({ first: 1, last: 0, chain: '', ops: [['m/log-floor', '2']] });
    const low = await openHouse({ store });
    try {
      for (const title of ['a', 'b', 'c']) await low.operator.post('/api/work-items', { title });
      const socket = await low.socket('/ws/inspect?since=1');
      expect((await until(socket, ({ event }) => event === 'reset')).payload).to.deep.equal({
        floor: 2,
        head: low.supervisor.status.position,
      });
    } finally {
      await low.close();
    }
  });

  it('shows the youngest of a flood ten times a second and counts the rest, so that the sum is right', async () => {
    const socket = await house.socket('/ws/inspect');
    await until(socket, (frame) => frame.event === 'hello');
    await house.supervisor.spawn('session', { id: 'busy', input: input() });
    const began = performance.now();
    for (let round = 0; round < 8; round += 1) {
      await Promise.all(
        Array.from({ length: 200 }, (_, n) =>
          house.supervisor.ask('session', 'busy', { type: n % 2 === 0 ? 'queue.pause' : 'queue.resume' }),
        ),
      );
    }
    const head = house.supervisor.status.position;
    await reaches(socket, head);
    const seconds = (performance.now() - began) / 1000;
    const frames = framesOf(socket).filter((frame): frame is EntriesFrame => frame.event === 'entries');
    const skipped = frames.reduce((sum, { payload }) => sum + (payload.skipped?.total ?? 0), 0);
    expect(entriesOf(socket).length + skipped).to.equal(head);
    expect(skipped).to.be.greaterThan(0);
    expect(frames.every(({ payload }) => payload.entries.length <= 100)).to.equal(true);
    expect(frames.length).to.be.at.most(Math.ceil(seconds * 10) + 2);
    frames.forEach(({ payload, seq }, n) => {
      expect(payload.from).to.equal(frames[n - 1]?.seq ?? 0);
      expect(payload.entries.at(-1)?.seq).to.be.at.most(seq);
      if (payload.skipped !== undefined)
        expect(Object.values(payload.skipped.kinds).reduce((sum, count) => sum + count, 0)).to.equal(
          payload.skipped.total,
        );
    });
  });

  it('cuts who does not read, and lets it resume where it stood', async () => {
    for (let n = 0; n < 40; n += 1) await house.operator.post('/api/work-items', { title: `t${n}` });
    const slow = await house.socket('/ws/inspect?since=0');
    const { seq } = await until(slow, ({ event }) => event === 'entries');
    (slow.ws as unknown as { _socket: { pause(): void } })._socket.pause(); // it reads nothing any more
    await house.supervisor.spawn('session', { id: 'busy', input: input() });
    // Beats time: it has every frame when the slow one should have
    const reader = await house.socket('/ws/inspect?ids=busy');
    const wordy = { type: 'session.stop', reason: 'x'.repeat(15_000) };
    for (let round = 0; round < 25; round += 1) {
      await Promise.all(Array.from({ length: 100 }, () => house.supervisor.ask('session', 'busy', wordy)));
      await reaches(reader, house.supervisor.status.position);
    }
    // It was cut long ago: let it hear so
    (slow.ws as unknown as { _socket: { resume(): void } })._socket.resume();
    const code = slow.closed;
    expect(await code).to.be.oneOf([4008, 1006]); // the goodbye, or none where it could not be read any more
    const back = await house.socket(`/ws/inspect?since=${seq ?? 0}`);
    const next = (await until(back, ({ event }) => event === 'entries')) as unknown as EntriesFrame;
    expect(next.payload.from).to.equal(seq);
    expect(next.payload.entries[0]?.seq).to.equal((seq ?? 0) + 1);
  }).timeout(180_000);

  it('is for people: agents and outsiders stay out, credentials stay out of addresses, nonsense is named', async () => {
    await house.supervisor.spawn('session', { id: 'agent', input: input() });
    const url = (path: string) => `ws://127.0.0.1:${house.gateway.port}${path}`;
    const refused = async (path: string, headers: Record<string, string>) =>
      watch(url(path), headers).then(
        () => 'open',
        (error: { status?: number }) => error.status,
      );
    const bearer = { authorization: `Bearer ${operatorToken}` };
    for (const path of ['/ws/inspect', '/ws/stately']) {
      expect(await refused(path, { authorization: `Bearer ${house.tokens.mint('agent')}` }), path).to.equal(
        403,
      );
      expect(await refused(path, {}), path).to.equal(401);
      expect(await refused(path, { ...bearer, origin: 'https://evil.example' }), path).to.equal(403);
      expect(await refused(`${path}?token=x`, bearer), path).to.equal(400);
      expect(await refused(`${path}?tree=session`, bearer), path).to.equal(400);
    }
    const socket = await house.socket('/ws/inspect');
    for (const text of ['no json', '[]', '{"type":"subscribe","kinds":"session"}', '{"type":"dance"}'])
      socket.ws.send(text);
    socket.ws.send('{"event":"ping"}');
    await until(socket, ({ event }) => event === 'pong');
    expect(framesOf(socket).filter(({ event }) => event === 'error')).to.have.length(4);
  });

  it('writes a frame once for all who watch alike, and listens to nothing while no one watches', async () => {
    const { inspection } = house.supervisor;
    const tap = inspection.tap.bind(inspection);
    let taps = 0;
    let open = 0;
    inspection.tap = (listener) => {
      taps += 1;
      open += 1;
      const leave = tap(listener);
      return () => {
        open -= 1;
        leave();
      };
    };
    expect(open).to.equal(0);
    const sockets = await Promise.all(
      Array.from({ length: 5 }, () => house.socket('/ws/inspect?kinds=work-item,session')),
    );
    const other = await house.socket('/ws/inspect?kinds=session,work-item,session');
    await Promise.all([...sockets, other].map((socket) => until(socket, (frame) => frame.event === 'hello')));
    await item('x');
    await Promise.all([...sockets, other].map((socket) => reaches(socket, house.supervisor.status.position)));
    expect([taps, open]).to.deep.equal([1, 1]);
    for (const { ws } of [...sockets, other]) ws.close();
    await Promise.all([...sockets, other].map(({ closed }) => closed));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    while (open > 0)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    expect(open).to.equal(0);
  });
});
