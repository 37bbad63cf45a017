import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:https';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { pino } from 'pino';
import { findAgentMark } from '../../../actors/engines/process/agent-mark.js';
import { findSystemProgram } from '../../../actors/sandbox/system-program.js';
import { selfSigned } from '../../fixtures/certificate.js';
import { openListeners, type Listeners } from '../../../lib/gateway/listeners.js';
import { openStandby, type SeenHome, type Standby } from '../../../lib/gateway/standby/standby.js';
import { openOffice, type Office } from '../records/office.js';
import { makeClient, openHouse, operatorToken, watch, type House } from './fixture.js';
import { stays } from './stays.js';

const key = '5f0c6a3e-6a2f-4b5e-9d6e-0d3f0a1b2c3d';
const bearer = { authorization: `Bearer ${operatorToken}` };

const mark =
  process.platform === 'linux' ? await findAgentMark(await findSystemProgram('prlimit')) : undefined;

/** A standby and an owner of the same home: real connections, without the database that says who is who. */
describe('a standby', () => {
  const opened: { readonly standby: Standby; readonly listeners: Listeners }[] = [];
  const houses: { close(): Promise<void> }[] = [];
  const servers: Server[] = [];
  afterEach(async () => {
    for (const { standby, listeners } of opened.splice(0)) {
      standby.close();
      listeners.close();
    }
    await Promise.all(houses.splice(0).map((house) => house.close()));
    for (const server of servers.splice(0)) server.close();
  });

  async function openOwner(given: Parameters<typeof openHouse>[0] = {}): Promise<House> {
    const house = await openHouse({ ownerKey: key, ...given });
    houses.push(house);
    return house;
  }

  interface Front {
    readonly standby: Standby;
    readonly listeners: Listeners;
    readonly port: number;
    readonly operator: ReturnType<typeof makeClient>;
  }

  async function standBy(
    given: { holdMs?: number; dialMs?: number; tls?: ReturnType<typeof selfSigned> } = {},
  ): Promise<Front> {
    const { tls, ...options } = given;
    const listeners = await openListeners({ host: '127.0.0.1', port: 0, tls });
    const log = pino({ level: 'silent' });
    const standby = openStandby({ listeners, host: 'standby.example', log, ...options });
    opened.push({ standby, listeners });
    const { port } = listeners;
    return { standby, listeners, port, operator: makeClient(port, bearer) };
  }

  const at = (address: string, of = key): SeenHome => ({
    owner: { node: 'one', epoch: 1, address, key: of },
    position: { seq: 7, chain: '' },
  });

  async function beside(house: House, given: Parameters<typeof standBy>[0] = {}): Promise<Front> {
    const front = await standBy(given);
    front.standby.seen(at(house.gateway.url));
    return front;
  }

  /** A program that is not the owner, at the address where the owner should be: what it was sent, and its answer. */
  async function impostor(answer: string): Promise<{ readonly url: string; readonly heard: () => string }> {
    let heard = '';
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (piece) => {
        heard += String(piece);
        socket.write(answer);
      });
    }).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard: () => heard };
  }

  async function line(port: number): Promise<{ readonly socket: Socket; readonly all: Promise<string> }> {
    const socket = connect({ port, host: '127.0.0.1' });
    let text = '';
    socket.on('data', (piece) => (text += String(piece)));
    socket.on('error', () => undefined);
    const all = once(socket, 'close').then(() => text);
    await once(socket, 'connect');
    return { socket, all };
  }

  const asking = (path: string, more = ''): string =>
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${bearer.authorization}\r\n${more}\r\n`;

  it('forwards reads, writes with their idempotency keys, and refusals, as they are', async () => {
    const house = await openOwner();
    const { operator } = await beside(house);
    const once = await operator.post(
      '/api/work-items',
      { title: 'water' },
      { 'idempotency-key': 'k'.repeat(20) },
    );
    expect(once.status, once.text).to.equal(201);
    const again = await operator.post(
      '/api/work-items',
      { title: 'water' },
      { 'idempotency-key': 'k'.repeat(20) },
    );
    expect(again.body).to.deep.equal(once.body);
    expect((await operator.get('/api/work-items')).text).to.equal(
      (await house.operator.get('/api/work-items')).text,
    );
    expect((await house.supervisor.list('work-item', { index: 'all' })).items).to.have.length(1);
    expect((await operator.get('/api/sessions/none')).status).to.equal(404);
    const large = { title: 'x', description: 'y'.repeat(50_000) };
    const made = await operator.post('/api/work-items', large);
    expect(made.status, made.text).to.equal(201);
  });

  it('serves many requests on one connection, also sent ahead', async () => {
    const { port } = await beside(await openOwner());
    const { socket, all } = await line(port);
    socket.write(asking('/api/auth/state').repeat(5) + asking('/api/status', 'Connection: close\r\n'));
    expect((await all).match(/HTTP\/1\.1 200/g)).to.have.length(6);
  });

  it('takes a first line that comes in pieces', async () => {
    const { port } = await beside(await openOwner());
    for (const [path, said] of [
      ['/healthz', 'standby'],
      ['/api/status', '"version"'],
    ] as const) {
      const { socket, all } = await line(port);
      socket.setNoDelay(true);
      for (const piece of asking(path, 'Connection: close\r\n')) {
        socket.write(piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await all)
        .to.match(/^HTTP\/1\.1 200/)
        .and.contain(said);
    }
  });

  it('forwards sockets: frames without a gap, and their end', async () => {
    const house = await openOwner();
    const { port } = await beside(house);
    const watching = await watch(`ws://127.0.0.1:${port}/ws?since=0`, bearer);
    await house.operator.post('/api/work-items', { title: 'a' });
    const frame = await watching.until(({ event }) => event === 'company:changed');
    watching.ws.close();
    const resumed = await watch(`ws://127.0.0.1:${port}/ws?since=0`, bearer);
    expect(await resumed.until(({ event }) => event === 'company:changed')).to.deep.include({
      seq: frame.seq,
    });
    await house.gateway.close(5_000);
    expect(await resumed.closed).to.equal(1001);
  });

  it('lets the owner judge: credentials, hosts and origins, by what the client said to the standby', async () => {
    const house = await openOwner({ allowedHosts: ['home.example'] });
    const { port, operator } = await beside(house);
    expect((await makeClient(port, {}).get('/api/sessions')).status).to.equal(401);
    const asked = async (headers: Record<string, string>): Promise<unknown> => {
      const { status, body } = await operator.get('/api/sessions', headers);
      return status === 200 ? 200 : body.code;
    };
    expect(await asked({ host: 'home.example' })).to.equal(200);
    expect(await asked({ host: `standby.example:${port}` }), 'what it listens on').to.equal(200);
    expect(await asked({ host: 'rebound.example' })).to.equal('HOST_REFUSED');
    expect(await asked({ origin: `http://127.0.0.1:${port}` })).to.equal(200);
    expect(await asked({ origin: house.gateway.url })).to.equal('ORIGIN_REFUSED');
    expect(await asked({ origin: 'https://evil.example' })).to.equal('ORIGIN_REFUSED');
    const direct = await house.operator.get('/api/sessions', { host: 'standby.example' });
    expect(direct.body.code, 'its name is no name of the owner').to.equal('HOST_REFUSED');
  });

  // The owner sees a connection from its own machine, which would let an outsider pair a browser without a code
  it('is never taken for a program of the owner', async () => {
    const house = await openOffice({}, { gateway: { ownerKey: key } });
    houses.push(house);
    const { standby, port } = await standBy();
    standby.seen(at(`http://127.0.0.1:${house.port}`));
    expect((await house.client().get('/api/auth/state')).body.canBootstrapLocal).to.equal(true);
    expect((await makeClient(port, {}).get('/api/auth/state')).body.canBootstrapLocal).to.equal(false);
  });

  it('knows a paired browser, and refuses it as soon as it is revoked', async () => {
    const house: Office = await openOffice({}, { gateway: { ownerKey: key } });
    houses.push(house);
    const { standby, port } = await standBy();
    standby.seen(at(`http://127.0.0.1:${house.port}`));
    const { cookie, deviceId } = await house.browser();
    const browser = makeClient(port, { cookie, origin: `http://127.0.0.1:${port}` });
    expect((await browser.post('/api/work-items', { title: 'x' })).status).to.equal(201);
    const watching = await watch(`ws://127.0.0.1:${port}/ws`, { cookie, origin: `http://127.0.0.1:${port}` });
    expect((await house.operator.call('DELETE', `/api/auth/devices/${deviceId}`)).status).to.be.lessThan(300);
    expect(await watching.closed).to.equal(4001);
    expect((await browser.get('/api/work-items')).status).to.equal(401);
  });

  // It has read the token in the shared home, and its process is not on the owner's machine
  if (mark !== undefined)
    it("tells the owner of an agent of its own machine that shows the operator's token", async () => {
      const house = await openOwner();
      const { port, operator } = await beside(house);
      expect((await house.operator.get('/api/sessions')).status, 'the owner looks no more').to.equal(200);
      const ask = async (token: string): Promise<string> => {
        const program = `fetch('http://127.0.0.1:${port}/api/sessions', { headers: { authorization: 'Bearer ${token}' } })
        .then(async (answer) => console.log(answer.status, await answer.text()))`;
        const [prlimit = '', ...words] = mark.wordsFor('s-1');
        const child = spawn(prlimit, [...words, process.execPath, '-e', program], {
          env: {},
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        let said = '';
        child.stdout.on('data', (piece) => (said += String(piece)));
        await once(child, 'close');
        return said;
      };
      expect(await ask(operatorToken)).to.match(/^403 .*its own token only/);
      expect((await operator.get('/api/sessions')).status).to.equal(200);
      const { body } = await operator.post('/api/sessions', { prompt: 'hang' });
      expect(await ask(house.tokens.mint(body.id))).to.match(/^200 /);
    });

  // Linux alone says whose a connection is
  if (process.platform === 'linux') {
    // It has read the operator's token, and the owner cannot see its process at the other end of the connection
    it("is no way round the wall before agents that show the operator's token", async () => {
      const house = await openOwner();
      const { port } = await beside(house);
      const ask = async (env: Record<string, string>): Promise<string> => {
        const program = `fetch('http://127.0.0.1:${port}/api/sessions', { headers: { authorization: '${bearer.authorization}' } })
        .then(async (answer) => console.log(answer.status, await answer.text()))`;
        const child = spawn(process.execPath, ['-e', program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
        let said = '';
        child.stdout.on('data', (piece) => (said += String(piece)));
        await once(child, 'close');
        return said;
      };
      const token = house.tokens.mint('s-1');
      expect(await ask({})).to.match(/^200 /);
      expect(await ask({ SVC_GATEWAY_TOKEN: token })).to.match(/^403 .*its own token only/);
    });
  }

  it('forwards nothing where reads are open to all of the owner machine', async () => {
    const house = await openOwner({ authRequired: false });
    const { port } = await beside(house, { holdMs: 0 });
    expect((await house.client().get('/api/sessions')).status).to.equal(200);
    expect((await makeClient(port, {}).get('/api/sessions')).status).to.equal(503);
  });

  it('shows an outsider at the address of the owner nothing of its clients', async () => {
    const front = await standBy({ holdMs: 0 });
    const answers = [
      'HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: troupe-node\r\n\r\n',
      'HTTP/1.1 200 OK\r\n\r\n',
      '?',
    ];
    for (const answer of answers) {
      const outsider = await impostor(answer);
      front.standby.seen(at(outsider.url, `${key}${answers.indexOf(answer)}`));
      const { status, body, headers } = await front.operator.post('/api/work-items', { title: 'secret' });
      expect([status, body.code, headers['retry-after']]).to.deep.equal([503, 'OWNER_ELSEWHERE', '1']);
      expect(outsider.heard()).to.match(/^GET \/ws\/node /);
      expect(outsider.heard()).not.to.match(new RegExp(`${operatorToken}|secret|${key}`));
    }
  });

  it('is refused by an owner of another home, and by one that it takes for another', async () => {
    const { gateway } = await openOwner();
    const other = await openHouse();
    houses.push(other);
    const front = await standBy({ holdMs: 0 });
    for (const home of [at(gateway.url, 'of-another-home'), at(other.gateway.url)]) {
      front.standby.seen(home);
      expect((await front.operator.get('/api/status')).status).to.equal(503);
    }
  });

  // It would name any address as its client's for as long as the ownership lasts
  it('takes in what a standby says once only', async () => {
    const house = await openOwner();
    const heard: Buffer[] = [];
    const way = createServer((socket) => {
      const through = connect({ port: house.gateway.port, host: '127.0.0.1' });
      for (const each of [socket, through]) each.on('error', () => each.destroy());
      socket.on('data', (piece) => void heard.push(piece));
      socket.pipe(through).pipe(socket);
    }).listen(0, '127.0.0.1');
    servers.push(way);
    await once(way, 'listening');
    const front = await standBy();
    front.standby.seen(at(`http://127.0.0.1:${(way.address() as AddressInfo).port}`));
    expect((await front.operator.get('/api/sessions')).status).to.equal(200);
    const [introduction = ''] =
      /^GET \/ws\/node [^]*?\r\n\r\n/.exec(Buffer.concat(heard).toString('latin1')) ?? [];
    expect(introduction).not.to.equal('');
    const { socket } = await line(house.gateway.port);
    socket.write(introduction);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).to.match(/^HTTP\/1\.1 403 /);
    socket.destroy();
  });

  // Neither the owner nor the standby may wait for it
  it('lets go of a client that is turned away and never closes', async () => {
    const house = await openOwner();
    const { port, listeners } = await beside(house);
    const { socket, said } = await stays(port, '/ws');
    expect(await said).to.match(/^HTTP\/1\.1 401 /);
    const left = (): Promise<number> =>
      new Promise((resolve) => listeners.servers[0]?.getConnections((_error, count) => resolve(count)));
    while ((await left()) > 0) await new Promise((resolve) => setImmediate(resolve));
    await house.gateway.close(600_000);
    socket.destroy();
  });

  // Two that take each other for the owner would send a request round for ever
  it('forwards nothing that another standby forwards', async () => {
    const [one, two] = [await standBy({ holdMs: 0 }), await standBy({ holdMs: 0 })];
    one.standby.seen(at(`http://127.0.0.1:${two.port}`));
    two.standby.seen(at(`http://127.0.0.1:${one.port}`));
    let connections = 0;
    for (const { listeners } of [one, two])
      listeners.servers[0]?.on('connection', () => void (connections += 1));
    expect((await one.operator.get('/api/status')).status).to.equal(503);
    expect(connections).to.equal(2);
  });

  it('forwards over TLS to an owner whose certificate is its own, and to no other', async () => {
    const tls = selfSigned();
    const house = await openOwner({ tls });
    const front = await beside(house, { holdMs: 0 });
    const { status, headers } = await front.operator.get('/api/sessions');
    expect([status, headers['strict-transport-security']]).to.deep.equal([200, undefined]);
    // The same key, so that only the certificate tells them apart
    const between = await openListeners({ host: '127.0.0.1', port: 0, tls: selfSigned() });
    opened.push({ standby: front.standby, listeners: between });
    const end = between.divert((socket) => {
      const through = connect({ port: house.gateway.localPort, host: '127.0.0.1' });
      for (const each of [socket, through]) each.on('error', () => each.destroy());
      socket.pipe(through).pipe(socket);
    });
    const second = await standBy({ holdMs: 0 });
    second.standby.seen(at(`https://127.0.0.1:${between.port}`));
    expect((await second.operator.get('/api/sessions')).status).to.equal(503);
    end();
  });

  it('says to the owner that its client came over TLS', async () => {
    const tls = selfSigned();
    const { port } = await beside(await openOwner(), { tls });
    const answered = new Promise<number>((resolve, reject) => {
      const headers = { ...bearer, origin: `https://127.0.0.1:${port}` };
      const sent = request(
        { host: '127.0.0.1', port, path: '/api/sessions', ca: tls.cert, headers },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        },
      );
      sent.on('error', reject);
      sent.end();
    });
    expect(await answered).to.equal(200);
  });

  it('holds what comes while no one owns the home, and serves it itself once it does', async () => {
    const front = await standBy({ holdMs: 60_000 });
    front.standby.seen({ owner: undefined, position: { seq: 7, chain: '' } });
    const held = front.operator.get('/first');
    const silent = await line(front.port);
    const begun = await line(front.port);
    begun.socket.write('GET /hea');
    front.standby.end();
    front.listeners.serve((asked, answer) => {
      answer.setHeader('Connection', 'close');
      answer.end(`here: ${asked.url}`);
    });
    expect((await held).text).to.equal('here: /first');
    begun.socket.write('lthz HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await begun.all).to.match(/here: \/healthz$/);
    silent.socket.write('GET /late HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await silent.all).to.match(/here: \/late$/);
  });

  // The system takes connections in the name of a program that is frozen
  it('waits for no answer of an owner that is followed by another one', async () => {
    const [frozen, house] = [await impostor(''), await openOwner()];
    const front = await standBy({ holdMs: 600_000, dialMs: 600_000 });
    front.standby.seen(at(frozen.url, 'frozen'));
    const held = front.operator.get('/api/status');
    while (frozen.heard() === '') await new Promise((resolve) => setImmediate(resolve));
    front.standby.seen(at(house.gateway.url));
    expect((await held).status).to.equal(200);
    const late = await standBy({ holdMs: 600_000, dialMs: 600_000 });
    const silent = await impostor('');
    late.standby.seen(at(silent.url));
    const taken = late.operator.get('/late');
    while (silent.heard() === '') await new Promise((resolve) => setImmediate(resolve));
    late.standby.end();
    late.listeners.serve((_asked, answer) => void answer.setHeader('Connection', 'close').end('here'));
    expect((await taken).text).to.equal('here');
  });

  it('forwards what it holds once there is an owner', async () => {
    const house = await openOwner();
    const front = await standBy({ holdMs: 60_000 });
    const held = front.operator.post('/api/work-items', { title: 'late' });
    front.standby.seen(at(house.gateway.url));
    expect((await held).status).to.equal(201);
  });

  // A frozen owner keeps its connections for as long as it is frozen
  it('cuts what it forwarded to a former owner, and when it owns the home itself', async () => {
    const [one, two] = [await openOwner(), await openOwner({ ownerKey: 'two' })];
    const front = await beside(one);
    const first = await watch(`ws://127.0.0.1:${front.port}/ws`, bearer);
    front.standby.seen({ owner: undefined, position: { seq: 7, chain: '' } });
    front.standby.seen(at(one.gateway.url));
    expect(first.ws.readyState, 'its lease had ended for a moment').to.equal(1);
    front.standby.seen(at(two.gateway.url, 'two'));
    expect(await first.closed).to.equal(1006);
    const second = await watch(`ws://127.0.0.1:${front.port}/ws`, bearer);
    front.standby.end();
    expect(await second.closed).to.equal(1006);
  });

  it('says at /healthz whether it forwards; who owns the home to programs of its machine alone', async () => {
    const house = await openOwner();
    const front = await beside(house);
    const here = await front.operator.get('/healthz');
    expect([here.status, here.text]).to.deep.equal([
      200,
      `standby\nowner one ${house.gateway.url} (epoch 1)\nreached yes\nposition 7`,
    ]);
    const far = await front.operator.get('/healthz', { host: 'standby.example' });
    expect([far.status, far.text]).to.deep.equal([200, 'standby']);
    front.standby.seen(at('http://127.0.0.1:1', 'another'));
    const unreached = await front.operator.get('/healthz');
    expect(unreached.status).to.equal(503);
    expect(unreached.text).to.contain('reached no');
  });
});
