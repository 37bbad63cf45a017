import { expect } from 'chai';
import type {
  ActorDetail,
  ActorsPage,
  Causes,
  Fleet,
  History,
  MachineAnswer,
  Machines,
  PastActor,
  SupervisionTree,
  WhyAnswer,
} from '../../../lib/inspector/answers.js';
import type { Stuck } from '../../../lib/inspector/stuck-answer.js';
import { keys } from '../../../lib/store/keys.js';
import { memoryStore } from '../../../lib/store/memory.js';
import type { Store } from '../../../lib/store/contract.js';
import { openHouse, type House } from './fixture.js';

/** What a person can learn of any actor, and the little that they can do to it, over real HTTP. */
describe('/api/inspect', () => {
  let house: House;
  let store: Store;
  beforeEach(async () => {
    store = memoryStore();
    house = await openHouse({ store });
  });
  afterEach(() => house.close());

  const get = async <Body>(path: string): Promise<Body> => {
    const answer = await house.operator.get(path);
    expect(answer.status, answer.text).to.equal(200);
    return answer.body as Body;
  };
  const item = async (title: string): Promise<string> =>
    (await house.operator.post('/api/work-items', { title })).body.workItem.id as string;
  const session = async (prompt: string, more: object = {}): Promise<string> =>
    (await house.operator.post('/api/sessions', { prompt, ...more })).body.id as string;
  const at = (path: string): string => `/api/inspect/actors/${path}`;
  const settled = (id: string, status: string): Promise<unknown> =>
    new Promise((resolve) => {
      const look = (): void =>
        void house.supervisor
          .get('session', id)
          .then((found) =>
            (found?.view as { status?: string } | undefined)?.status === status
              ? resolve(found)
              : setImmediate(look),
          );
      look();
    });

  it('counts the fleet by kind and state', async () => {
    const ids = [await item('a'), await item('b'), await item('c')];
    await house.operator.post(`/api/work-items/${ids[0]}/status`, { status: 'executing' });
    await settled(await session('hang on'), 'running');
    const fleet = await get<Fleet>('/api/inspect/fleet');
    const versionOf = (name: string): number | undefined =>
      house.supervisor.inspection.kinds().find(({ kind }) => kind === name)?.version;
    expect(fleet.kinds.filter(({ kind }) => ['session', 'work-item'].includes(kind))).to.deep.equal([
      { kind: 'session', version: versionOf('session'), total: 1, halted: 0, states: { running: 1 } },
      {
        kind: 'work-item',
        version: versionOf('work-item'),
        total: 3,
        halted: 0,
        states: { 'work.backlog': 2, 'work.executing': 1, 'approval.none': 3 },
      },
    ]);
    expect(fleet).to.include({
      seq: house.supervisor.status.position,
      restarts: 0,
      deadLetters: 0,
      effects: 1,
    });
  });

  it('pages actors by id and, in a state, by how long they have been in it', async () => {
    const ids: string[] = [];
    for (const title of ['a', 'b', 'c', 'd', 'e']) ids.push(await item(title));
    for (const id of [ids[3], ids[1]])
      await house.operator.post(`/api/work-items/${id}/status`, { status: 'blocked', note: 'waiting' });
    await house.operator.post(`/api/work-items/${ids[3]}/comments`, { text: 'no change of state' });
    const all: string[] = [];
    for (let after: string | null = ''; after !== null;) {
      const page: ActorsPage = await get(
        `${at('')}?kind=work-item&limit=2${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`.replace(
          '/?',
          '?',
        ),
      );
      all.push(...page.actors.map(({ id }) => id));
      after = page.next;
    }
    expect(all).to.deep.equal([...ids].sort());
    const { actors } = await get<ActorsPage>(
      '/api/inspect/actors?kind=work-item&state=work.blocked&order=age',
    );
    expect(actors.map(({ id }) => id)).to.have.members([ids[3], ids[1]]);
    expect(actors.find(({ id }) => id === ids[3])).to.deep.include({
      kind: 'work-item',
      title: 'd',
      status: 'active',
      parent: null,
      halted: null,
      value: { work: 'blocked', approval: 'none' },
    });
    const oldest = (page: readonly { readonly id: string; readonly since: number }[]) =>
      [...page].sort((a, b) => a.since - b.since || (a.id < b.id ? -1 : 1));
    expect(actors).to.deep.equal(oldest(actors));
    expect(
      (await get<ActorsPage>('/api/inspect/actors?kind=work-item&state=work&age=0')).actors,
    ).to.have.length(5);
    expect(await get<ActorsPage>('/api/inspect/actors?kind=work-item&state=work&age=3600')).to.deep.equal({
      actors: [],
      next: null,
      nextCursor: null,
    });
    const every: { id: string; since: number }[] = [];
    for (let after: string | null = ''; after !== null;) {
      const page: ActorsPage = await get(
        `/api/inspect/actors?kind=work-item&state=work&limit=2${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`,
      );
      every.push(...page.actors);
      after = page.next;
    }
    expect(every.map(({ id }) => id)).to.have.members(ids);
    expect(every).to.deep.equal(oldest(every));
    for (const query of ['kind=nobody', 'kind=work-item&order=age', 'kind=work-item&age=5', ''])
      expect((await house.operator.get(`/api/inspect/actors?${query}`)).status, query).to.equal(400);
  });

  it('leaps to any place of a list, from whichever end is nearer', async () => {
    for (let n = 0; n < 12; n += 1) await item(`t${n}`);
    for (const id of ['ACM-3', 'ACM-7', 'ACM-1'])
      await house.operator.post(`/api/work-items/${id}/status`, { status: 'blocked', note: 'waiting' });
    for (const query of [
      'kind=work-item',
      'kind=work-item&state=work.backlog',
      'kind=work-item&state=work',
    ]) {
      // the last merges two lists
      const all = (await get<ActorsPage>(`/api/inspect/actors?${query}&limit=100`)).actors.map(
        ({ id }) => id,
      );
      expect(all.length, query).to.be.at.least(9);
      for (let offset = 0; offset <= all.length + 1; offset += 1) {
        const page = await get<ActorsPage>(`/api/inspect/actors?${query}&limit=4&offset=${offset}`);
        expect(
          page.actors.map(({ id }) => id),
          `${query} from ${offset}`,
        ).to.deep.equal(all.slice(offset, offset + 4));
        if (page.next !== null)
          expect(
            (
              await get<ActorsPage>(
                `/api/inspect/actors?${query}&limit=4&after=${encodeURIComponent(page.next)}`,
              )
            ).actors.map(({ id }) => id),
          ).to.deep.equal(all.slice(offset + 4, offset + 8));
        else expect(offset + 4, `${query} ends`).to.be.at.least(all.length);
      }
    }
    for (const query of ['offset=-1', 'offset=x', 'offset=99999999999', 'offset=1&after=ACM-1'])
      expect(
        (await house.operator.get(`/api/inspect/actors?kind=work-item&${query}`)).status,
        query,
      ).to.equal(400);
  });

  it('reads no more of the store for a page of a thousand actors than for one of ten', async () => {
    for (let n = 0; n < 1_000; n += 250) {
      await house.supervisor.transact({
        name: 'many',
        actors: [],
        run: (tx) => {
          for (let m = n; m < n + 250; m += 1)
            tx.create('work-item', `x${m}`, {
              input: {
                title: `t${m}`,
                body: null,
                acceptance: null,
                assignee: null,
                department: null,
                verifyPolicy: null,
                source: 'human',
                sourceRef: null,
                createdBy: 'operator',
              },
            });
          return null;
        },
      });
    }
    const read = { rows: 0 };
    const { page, getMany } = store;
    store.page = async (range) => {
      const rows = await page.call(store, range);
      read.rows += rows.length;
      return rows;
    };
    store.getMany = async (many) => {
      read.rows += many.length;
      return getMany.call(store, many);
    };
    const one = await get<ActorsPage>('/api/inspect/actors?kind=work-item&state=work.backlog&limit=10');
    expect(one.actors).to.have.length(10);
    expect(read.rows).to.be.at.most(25);
    read.rows = 0;
    expect((await get<Fleet>('/api/inspect/fleet')).kinds[1]?.total).to.equal(1_000);
    expect(read.rows).to.equal(0);
  });

  it('lays an actor open: context, kin, effects in flight, timers, what may be sent; and as it was', async () => {
    const parent = await session('hang on');
    await settled(parent, 'running');
    const child = await session('hello', { parent });
    await settled(child, 'idle');
    const detail = await get<ActorDetail>(at(`session/${parent}`));
    expect(detail).to.deep.include({
      kind: 'session',
      id: parent,
      value: 'running',
      effects: ['engine-turn'],
      parent: null,
      inbox: 0,
      deadLetters: 0,
      failures: [],
    });
    expect(detail.children).to.deep.equal([
      {
        kind: 'session',
        id: child,
        value: { resting: 'idle' },
        title: (detail.children[0] ?? { title: '' }).title,
      },
    ]);
    expect(detail.calls).to.have.length(1);
    expect(detail.calls[0]).to.deep.include({ src: 'engine-turn', running: true });
    expect(detail.sendable).to.include('session.stop');
    expect(detail.context).to.include({ id: parent });
    expect((await get<ActorDetail>(at(`session/${child}`))).parent).to.deep.equal({
      kind: 'session',
      id: parent,
    });
    const { entries } = await get<History>(at(`session/${child}/history?diff=1&limit=500`));
    expect(entries.map(({ seq }) => seq)).to.deep.equal(entries.map(({ seq }) => seq).sort((a, b) => b - a));
    expect(entries.at(-1)?.diff).to.include({ whole: true });
    const { chart } = await get<MachineAnswer>('/api/inspect/machines/session');
    const drawn = new Set(chart.edges.map(({ type }) => type));
    const steps = entries.map(({ event }) => event.type).filter((type) => !type.startsWith('kernel.'));
    expect(
      steps.filter((type) => !drawn.has(type)),
      'events that no transition of the chart is named for',
    ).to.deep.equal([]);
    expect(steps).to.include('xstate.done.actor.turn');
    for (const entry of entries) {
      const now = await get<PastActor>(at(`session/${child}?at=${entry.seq}`));
      for (const [member, value] of Object.entries(entry.diff?.set ?? {}))
        if (value !== '••••')
          expect((now.context as Record<string, unknown>)[member], member).to.deep.equal(value);
      expect(now.value).to.deep.equal(entry.to);
    }
    expect((await house.operator.get(at('session/nobody'))).status).to.equal(404);
    expect((await house.operator.get(at('nokind/x'))).status).to.equal(404);
    expect((await house.operator.get(at('nokind/x/history'))).status).to.equal(404);
    expect((await house.operator.get(at('nokind/x/why'))).status).to.equal(404);
  });

  it('shows timers with their deadlines', async () => {
    const id = await item('x');
    await house.operator.post(`/api/work-items/${id}/approval/request`, { request: 'May I?' });
    const detail = await get<ActorDetail>(at(`work-item/${id}`));
    expect(detail.timers.map(({ name }) => name)).to.deep.equal(['escalation']);
    expect(detail.due).to.equal(detail.timers[0]?.due);
    expect(detail.due).to.be.greaterThan(detail.updatedAt);
  });

  it('sends only what the kind opens to people, in its shape, judged by its policy; rehearsed when asked', async () => {
    const id = await item('x');
    const send = (event: object, query = '') =>
      house.operator.post(at(`work-item/${id}/send${query}`), { event });
    expect((await send({ type: 'item.move', status: 'executing' }, '?dryRun=true')).body.allowed).to.equal(
      true,
    );
    expect((await get<ActorDetail>(at(`work-item/${id}`))).rev).to.equal(1);
    expect((await send({ type: 'item.move', status: 'executing' })).body.value).to.deep.equal({
      work: 'executing',
      approval: 'none',
    });
    expect((await send({ type: 'item.move', status: 'backlog' })).status).to.equal(400); // no such edge: the machine's own policy
    expect((await send({ type: 'item.move', status: 'nonsense' })).status).to.be.within(400, 409);
    for (const [event, code] of [
      [{ type: 'attempt.started', sessionId: 's', employee: null }, 'UNKNOWN_EVENT'],
      [{ type: 'approval.decide', decision: 'approve' }, 'UNKNOWN_EVENT'],
      [{ type: 'toString' }, 'UNKNOWN_EVENT'],
      [{ type: 'item.move' }, 'BAD_REQUEST'],
      [{ type: 'item.move', status: 7 }, 'BAD_REQUEST'],
      [{ type: 'item.move', status: 'done', by: { type: 'system' } }, 'BAD_REQUEST'],
      [{ status: 'done' }, 'BAD_REQUEST'],
    ] as const)
      expect((await send(event)).body.code, JSON.stringify(event)).to.equal(code);
    expect(
      (await house.operator.post(at('work-item/NO-1/send'), { event: { type: 'item.archive' } })).status,
    ).to.equal(404);
    const why = await get<WhyAnswer>(at(`work-item/${id}/why`));
    expect(why.next.filter(({ sendable }) => sendable).map(({ event }) => event)).to.include('item.move');
    const { entries } = await get<History>(at(`work-item/${id}/history`));
    expect(entries[0]).to.include({ by: 'operator' });
  });

  it('follows a chain of causes across actors, backwards and forwards', async () => {
    const parent = await session('begin');
    await settled(parent, 'idle');
    const id = await session('do it', { parent });
    await settled(id, 'idle');
    await settled(parent, 'idle');
    const { entries } = await get<History>(at(`session/${id}/history`));
    const last = entries[0]?.seq ?? 0;
    const causes = await get<Causes>(`/api/inspect/causes/${last}`);
    expect(causes).to.include({ seq: last, truncated: false });
    expect(causes.entries.map(({ seq }) => seq))
      .to.include(last)
      .and.include(causes.root);
    expect(new Set(causes.links.map(({ how }) => how)))
      .to.include('effect')
      .and.include('message');
    expect(new Set(causes.entries.map((entry) => entry.id)), 'the parent hears of the end').to.deep.equal(
      new Set([id, parent]),
    );
    const known = new Set(causes.entries.map(({ seq }) => seq));
    for (const { from, to } of causes.links)
      expect([known.has(from), known.has(to), from < to]).to.deep.equal([true, true, true]);
    expect((await house.operator.get('/api/inspect/causes/99999')).status).to.equal(404);
    expect((await house.operator.get('/api/inspect/causes/x')).status).to.equal(400);
  });

  it('shows the supervision tree with rules, what fails, and circuits of engines', async () => {
    const tree = await get<SupervisionTree>('/api/inspect/supervision');
    expect(tree.root.state).to.equal('running');
    expect(tree.root.subsystems.map(({ name }) => name)).to.include('store');
    expect(tree.kinds[0]).to.deep.include({
      kind: 'session',
      strategy: 'one_for_one',
      intensity: 5,
      periodSeconds: 60,
      restart: 'transient',
      giveUp: 'halt',
      restarts: 0,
      failing: [],
      halted: [],
    });
    const unknown = { since: null, nextTry: null };
    expect(tree.circuits).to.deep.include({
      type: 'engine',
      name: 'pen',
      state: 'closed',
      status: 'works',
      reason: null,
      ...unknown,
    });
    expect(tree.circuits).to.deep.include({
      type: 'engine',
      name: 'ghost',
      state: 'open',
      status: 'unavailable',
      reason: 'Its program was not found. Install ghost.',
      ...unknown,
    });
  });

  it('serves machines as data and as pictures that run nothing, lit where asked', async () => {
    const { machines } = await get<Machines>('/api/inspect/machines');
    expect(machines.map(({ kind }) => kind)).to.include.members(['session', 'work-item']);
    const { chart, hash } = await get<MachineAnswer>('/api/inspect/machines/session');
    expect(hash).to.equal(machines[0]?.hash);
    expect(chart.root.states.map(({ key }) => key)).to.include.members(['resting', 'running']);
    expect(chart.edges.some(({ guard }) => guard === 'queueReady')).to.equal(true);
    for (const [path, headers] of [
      ['session.svg?state=running', {}],
      ['session?format=svg&state=running', {}],
      ['session?state=running', { accept: 'image/svg+xml,*/*' }],
    ] as const) {
      const answer = await house.operator.get(`/api/inspect/machines/${path}`, headers);
      expect(answer.headers['content-type']).to.equal('image/svg+xml; charset=utf-8');
      expect(answer.headers['content-security-policy']).to.include("default-src 'none'");
      expect(answer.text)
        .to.match(/^<svg /)
        .and.match(/lit" data-state="running"/);
    }
    const evil = await house.operator.get(
      `/api/inspect/machines/session.svg?state=${encodeURIComponent('"><script>alert(1)</script>')}`,
    );
    expect(evil.text).to.not.include('<script');
    expect((await house.operator.get('/api/inspect/machines/nothing')).status).to.equal(404);
    expect((await house.operator.get('/api/inspect/machines/nothing.svg')).status).to.equal(404);
  });

  it('retries a dead letter by its id', async () => {
    const id = await item('x');
    const letter = {
      id: 'd1',
      actor: { kind: 'work-item', id },
      at: 1,
      event: { type: 'item.move', status: 'executing' },
      faultId: 'd1',
      error: 'it broke',
      by: { type: 'operator' },
    };
    await store.write({
      first: store.head.seq + 1,
      last: store.head.seq,
      chain: store.head.chain,
      ops: [
        [keys.deadLetter('d1'), JSON.stringify(letter)],
        [keys.deadLetterPlace(letter.at, 'd1'), '1'],
      ],
    });
    expect((await get<ActorDetail>(at(`work-item/${id}`))).deadLetters).to.equal(1);
    expect((await get<Fleet>('/api/inspect/fleet')).deadLetters).to.equal(1);
    expect((await house.operator.post('/api/inspect/dead-letters/d1/retry')).body).to.deep.equal({
      retried: 'd1',
    });
    expect((await house.operator.post('/api/inspect/dead-letters/d1/retry')).status).to.equal(404);
    expect((await get<ActorDetail>(at(`work-item/${id}`))).deadLetters).to.equal(0);
  });

  it('drops a dead letter for good, once', async () => {
    const id = await item('x');
    const letter = {
      id: 'd2',
      actor: { kind: 'work-item', id },
      at: 2,
      event: { type: 'item.move', status: 'executing' },
      faultId: 'd2',
      error: 'it broke',
      by: { type: 'operator' },
    };
    await store.write({
      first: store.head.seq + 1,
      last: store.head.seq,
      chain: store.head.chain,
      ops: [
        [keys.deadLetter('d2'), JSON.stringify(letter)],
        [keys.deadLetterPlace(letter.at, 'd2'), '1'],
      ],
    });
    expect((await get<Stuck>('/api/inspect/stuck')).deadLetters).to.have.length(1);
    const dismiss = () => house.operator.call('DELETE', '/api/inspect/dead-letters/d2', {});
    const answers = await Promise.all([dismiss(), dismiss()]);
    expect(answers.map(({ status }) => status)).to.have.members([200, 404]);
    expect((await house.operator.post('/api/inspect/dead-letters/d2/retry')).status).to.equal(404);
    expect((await get<Stuck>('/api/inspect/stuck')).deadLetters).to.deep.equal([]);
    expect((await get<Fleet>('/api/inspect/fleet')).deadLetters).to.equal(0);
    expect((await house.operator.get(`/api/work-items/${id}`)).body.workItem.status).to.equal('backlog');
  });

  it('gives a bundle away as a file, and says what it cannot make one of', async () => {
    const id = await item('the launch code');
    const answer = await house.operator.get(`/api/inspect/bundle?kind=work-item&id=${id}`);
    expect(answer.status).to.equal(200);
    expect(answer.headers['content-disposition']).to.match(/attachment; filename="troupe-\d+-\d+\.json"/);
    expect(answer.text).to.not.include('launch');
    for (const [query, status] of [
      ['', 400],
      ['kind=work-item', 400],
      ['id=x', 400],
      ['from=5&to=2', 400],
      ['kind=work-item&id=NO-1', 404],
      ['kind=nokind&id=x', 404],
      ['from=900', 404],
      ['from=1', 200],
    ] as const) {
      expect((await house.operator.get(`/api/inspect/bundle?${query}`)).status, query).to.equal(status);
    }
  });
});
