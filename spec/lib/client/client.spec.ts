import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { enqueueActions, setup } from 'xstate';
import {
  createClient,
  GatewayError,
  isRefusal,
  type Client,
  type GatewayEvent,
} from '../../../lib/client/index.js';
import { defineKind } from '../../../actors/define-kind.js';
import { publish } from '../../../machines/outputs.js';
import { isRefusal as isRefusalOfTroupe } from '../../../machines/refusals.js';
import { openHouse, operatorToken as token, type House } from '../gateway/fixture.js';
import { cuttingProxy, type CuttingProxy } from './cutting-proxy.js';

/** Announces many frames in one commit. */
const siren = defineKind({
  kind: 'siren',
  version: 1,
  machine: setup({ types: { events: {} as { type: 'ring'; from: number; count: number } } }).createMachine({
    on: {
      ring: {
        actions: enqueueActions(({ enqueue, event }) => {
          for (let n = event.from; n < event.from + event.count; n += 1)
            enqueue.emit(publish('siren:rang', { id: n }));
        }),
      },
    },
  }),
  view: () => null,
});

describe('troupe/client', () => {
  let house: House;
  let proxy: CuttingProxy;
  let client: Client;
  beforeEach(async () => {
    house = await openHouse({ kinds: [siren as never] });
    proxy = await cuttingProxy(house.gateway.port);
    client = createClient({ url: proxy.url, token });
  });
  afterEach(async () => {
    await proxy.close();
    await house.close();
  });

  async function add(title: string): Promise<string> {
    const answer = await client.post('/api/work-items', { body: { title } });
    if (isRefusal(answer)) throw new Error(answer.message);
    return answer.workItem.id;
  }

  async function rejection(attempt: Promise<unknown>): Promise<GatewayError> {
    const error = await attempt.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(GatewayError);
    return error as GatewayError;
  }

  describe('requests', () => {
    it('answers what the document says', async () => {
      const id = await add('water the plants');
      const read = await client.get('/api/work-items/{id}', { params: { path: { id } } });
      expect(isRefusal(read) ? read : read.workItem.title).to.equal('water the plants');
    });

    it('answers a refusal as a value, with its code, status and members, for both entries', async () => {
      const answer = await client.get('/api/work-items/{id}', { params: { path: { id: 'TRP-9' } } });
      expect(isRefusal(answer) && isRefusalOfTroupe(answer)).to.equal(true);
      expect(answer).to.include({ code: 'NOT_FOUND', status: 404 });
    });

    it('takes no words that look like a refusal for one', () => {
      expect(isRefusal({ refused: true, code: 'NOT_FOUND', status: 404, message: '', details: {} })).to.equal(
        false,
      );
    });

    it('refuses a wrong token as a value', async () => {
      const outsider = createClient({ url: proxy.url, token: 'wrong' });
      expect(await outsider.get('/api/sessions')).to.include({ code: 'UNAUTHENTICATED', status: 401 });
    });

    it('repeats a create whose answer was lost, and creates once', async () => {
      proxy.cutAfter(1);
      await add('once');
      expect(proxy.connections).to.equal(2);
      const list = await client.get('/api/work-items');
      expect(isRefusal(list) ? list : list.total).to.equal(1);
    });

    it('does not repeat what no key makes safe', async () => {
      proxy.cutAfter(1);
      expect((await rejection(client.post('/api/connectors/reload'))).code).to.equal('UNREACHABLE');
      expect(proxy.connections).to.equal(1);
    });

    it('rejects where nothing answers, where another program does, and when time is up', async () => {
      const nowhere = createClient({ url: 'http://127.0.0.1:1', retries: 0 });
      expect((await rejection(nowhere.get('/api/status'))).code).to.equal('UNREACHABLE');
      const page = createClient({ url: proxy.url, fetch: async () => new Response('<h1>hello</h1>') });
      expect((await rejection(page.get('/api/status'))).code).to.equal('NOT_A_GATEWAY');
      const gone = createClient({ url: proxy.url, fetch: async () => new Response('502', { status: 502 }) });
      expect((await rejection(gone.get('/api/status'))).code).to.equal('NOT_A_GATEWAY');
      for (const [status, why] of [
        [401, /was answered with 401, but not by a gateway: a proxy before it wants you to sign in/],
        [302, /was redirected, but not by a gateway/],
        [502, /something else stands in its place/],
      ] as const) {
        const login = createServer((_request, response) => {
          const headers = { 'content-type': 'text/html', location: '/login', connection: 'close' };
          response.writeHead(status, headers).end('<h1>Log in</h1>');
        }).listen(0, '127.0.0.1');
        await once(login, 'listening');
        const { port } = login.address() as AddressInfo;
        const error = await rejection(createClient({ url: `http://127.0.0.1:${port}` }).get('/api/status'));
        login.close();
        expect([error.code, error.status]).to.deep.equal(['NOT_A_GATEWAY', status]);
        expect(error.message).to.match(why);
      }
      const slow = createClient({
        url: proxy.url,
        timeoutMs: 20,
        fetch: (request) =>
          new Promise((_, reject) =>
            (request as Request).signal.addEventListener('abort', () => reject(new Error('aborted'))),
          ),
      });
      expect((await rejection(slow.get('/api/status'))).code).to.equal('TIMEOUT');
    });

    it('rejects with the reason of its own signal', async () => {
      const reason = new Error('enough');
      const attempt = client.get('/api/status', { signal: AbortSignal.abort(reason) });
      expect(await attempt.catch((error: unknown) => error)).to.equal(reason);
    });
  });

  describe('sessions.run', () => {
    it('streams what the agent says and answers with what is stored', async () => {
      const run = await client.sessions.run('stream');
      if (isRefusal(run)) throw new Error(run.message);
      let streamed = '';
      for await (const { type, content } of run) if (type === 'text') streamed += content;
      expect(streamed).to.not.equal('');
      expect(await run.answer()).to.deep.equal({ status: 'idle', text: 'did: stream', error: null });
    });

    it('continues a session, and its answer is that of its own turn', async () => {
      const first = await client.sessions.run('one');
      if (isRefusal(first)) throw new Error(first.message);
      expect((await first.answer()).text).to.equal('did: one');
      const second = await client.sessions.run('two', { session: first.sessionId });
      if (isRefusal(second)) throw new Error(second.message);
      expect(second.sessionId).to.equal(first.sessionId);
      expect((await second.answer()).text).to.equal('did: two');
    });

    // The feed waits for a gateway that is away: at a wrong address it waited for ever, without a word
    it('says that no gateway answers, in place of waiting for one', async () => {
      const { sessions } = createClient({ url: 'http://127.0.0.1:1', retries: 0 });
      for (const attempt of [sessions.run('hello'), sessions.attach('s1')])
        expect(await attempt.catch((error: Error) => error.message)).to.equal(
          'The gateway at http://127.0.0.1:1 does not answer.',
        );
    });

    it('tells a turn that failed, and an engine that is not installed', async () => {
      const failed = await client.sessions.run('fail');
      if (isRefusal(failed)) throw new Error(failed.message);
      expect(await failed.answer()).to.include({ status: 'error' });
      const ghost = await client.sessions.run('hello', { engine: 'ghost' });
      if (isRefusal(ghost)) throw new Error(ghost.message);
      const { status, error } = await ghost.answer();
      expect({ status, told: error !== null }).to.deep.equal({ status: 'error', told: true });
    });

    it('answers a refusal: an unknown engine', async () => {
      expect(await client.sessions.run('hello', { engine: 'nope' })).to.include({ code: 'UNKNOWN_ENGINE' });
    });

    it('goes on over a broken connection', async () => {
      const run = await client.sessions.run('hang');
      if (isRefusal(run)) throw new Error(run.message);
      proxy.cut();
      const answer = run.answer();
      await client.post('/api/sessions/{id}/stop', { params: { path: { id: run.sessionId } }, body: {} });
      expect((await answer).status).to.equal('stopped');
    });
  });

  describe('events', () => {
    async function followed(since: number, count: number): Promise<readonly string[]> {
      const seen: string[] = [];
      for await (const { seq, event, payload } of client.events({ since })) {
        if (seq !== null) seen.push(`${seq} ${event} ${String(payload['id'])}`);
        if (seen.length === count) break;
      }
      return seen;
    }

    async function ring(commits: number, count: number): Promise<void> {
      await house.supervisor.spawn('siren', { id: 's' });
      for (let from = 0; from < commits * count; from += count)
        await house.supervisor.ask('siren', 's', { type: 'ring', from, count });
    }

    it('go on over broken connections: none is missing, none comes twice', async () => {
      await ring(40, 7);
      const whole = await followed(0, 280);
      expect(whole.at(-1)).to.match(/siren:rang 279$/);
      for (const bytes of [400, 701, 1_303, 2_500]) {
        proxy.cutAfter(bytes, bytes + 1, bytes + 150);
        expect(await followed(0, 280), `cut after ${bytes} bytes`).to.deep.equal(whole);
      }
    });

    it('resume where a reader of another life stopped', async () => {
      await add('before');
      const events = client.events({ since: 0 });
      for await (const { last } of events) if (last) break;
      const { position } = events;
      const id = await add('after');
      expect((await followed(position ?? -1, 1))[0]).to.match(new RegExp(`company:changed ${id}$`));
    });

    it('begin with what is committed from now on, even when the connection breaks before the first', async () => {
      const events = client.events();
      await events.open;
      proxy.cut();
      const id = await add('while away');
      for await (const { payload } of events) {
        expect(payload['id']).to.equal(id);
        break;
      }
    });

    it('are only of the kinds that were asked for', async () => {
      await add('not this');
      const run = await client.sessions.run('one');
      if (isRefusal(run)) throw new Error(run.message);
      await run.answer();
      const seen: GatewayEvent['event'][] = [];
      for await (const { event } of client.events({ since: 0, kinds: ['session'] })) {
        seen.push(event);
        if (event === 'session:completed') break;
      }
      expect(seen).to.include('session:started').and.not.include('company:changed');
    });

    it('keep no more than some thousands for a reader that is slow, and lose none', async () => {
      await ring(200, 100);
      const events = client.events({ since: 0 });
      const seen: unknown[] = [];
      for await (const { payload } of events) {
        if (seen.length === 0) while (proxy.open > 0) await new Promise((resolve) => setImmediate(resolve));
        seen.push(payload['id']);
        if (seen.length === 20_000) break;
      }
      expect(seen).to.deep.equal(Array.from({ length: 20_000 }, (_, n) => n));
      expect(proxy.connections).to.be.greaterThan(1);
    });

    it('say when the connection is lost and open again, and how far they were taken', async () => {
      const states: boolean[] = [];
      const taken: number[] = [];
      const events = client.events({
        since: 0,
        onConnection: (isOpen) => void states.push(isOpen),
        onPosition: (position) => void taken.push(position),
      });
      await ring(1, 2);
      const lasts: (number | null)[] = [];
      for await (const { seq, last } of events) {
        expect(taken.at(-1) ?? 0, 'only once the next is asked for').to.be.below(seq ?? 0);
        if (last !== true) continue;
        lasts.push(seq);
        if (lasts.length === 2) break;
        proxy.cut();
        await house.supervisor.ask('siren', 's', { type: 'ring', from: 2, count: 1 });
      }
      expect(states).to.deep.equal([true, false, true]);
      expect(taken).to.include(lasts[0]);
      expect(events.position).to.equal(lasts[1]);
    });

    // A gateway is restarted behind a proxy: the events ended for good, and with them a page
    it('go on where a proxy says for a while that it cannot reach the gateway', async () => {
      const events = client.events();
      await events.open;
      proxy.isDown = true;
      proxy.cut();
      const next = events[Symbol.asyncIterator]().next();
      const before = proxy.connections;
      const tried = async (): Promise<void> => {
        while (proxy.connections < before + 4) await new Promise((resolve) => setImmediate(resolve));
      };
      await Promise.race([tried(), next]);
      proxy.isDown = false;
      const id = await add('behind a proxy');
      expect((await next).value?.payload['id']).to.equal(id);
      events.close();
    });

    // `troupe tail` and `troupe top` had a socket of their own, which was opened again in another way
    it('of the inspector go on over broken connections: every step of every actor comes once', async () => {
      await add('first');
      proxy.cutAfter(900, 1_500);
      const feed = client.inspect({ since: 0, refusals: true });
      const seqs: number[] = [];
      for await (const frame of feed) {
        if (frame.event !== 'entries') continue;
        seqs.push(...frame.payload.entries.map(({ seq }) => seq));
        if (seqs.length < 4) {
          await add(`another after ${seqs.length}`);
          proxy.cut();
        } else break;
      }
      expect(seqs).to.deep.equal(seqs.map((_, n) => n + 1));
      expect(feed.position).to.equal(seqs.at(-1));
      expect(proxy.connections).to.be.greaterThan(3);
      const own = client.inspect({ since: 0, tree: { kind: 'work-item', id: 'ACM-1' } });
      for await (const frame of own)
        if (frame.event === 'entries') {
          expect(new Set(frame.payload.entries.map(({ id }) => id))).to.deep.equal(new Set(['ACM-1']));
          break;
        }
    });

    it('end with their signal, and with a credential that is not accepted', async () => {
      const end = new AbortController();
      const events = client.events({ signal: end.signal });
      await events.open;
      end.abort();
      for await (const _ of events) throw new Error('nothing may come');
      const outsider = createClient({ url: proxy.url, token: 'wrong' }).events();
      expect((await rejection(outsider.open)).code).to.equal('UNAUTHENTICATED');
      expect((await rejection(outsider[Symbol.asyncIterator]().next())).code).to.equal('UNAUTHENTICATED');
    });
  });
});
