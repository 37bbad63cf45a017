import { expect } from 'chai';
import { connect, type Socket } from 'node:net';
import { openHouse, operatorToken, type House } from './fixture.js';

describe('gateway.close', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse();
  });
  afterEach(() => house.close());

  it('answers what is in flight, ends its connection, and takes nothing new', async () => {
    const body = JSON.stringify({ title: 'in flight' });
    const line = await open(house.gateway.port);
    line.write(
      `POST /api/work-items HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${operatorToken}\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    await line.heard(/100 Continue/); // the request has begun
    const closed = house.gateway.close(5_000);
    await refused(house.gateway.port);
    line.write(body);
    const answer = await line.all;
    expect(answer).to.match(/HTTP\/1\.1 201 Created/);
    expect(answer).to.match(/Connection: close/i);
    await closed;
    const page = await house.supervisor.list('work-item', { index: 'all' });
    expect(page.items).to.have.length(1);
  });

  it('closes idle connections and sockets at once', async () => {
    const idle = await open(house.gateway.port);
    idle.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    await idle.heard(/ok$/);
    const watching = await house.socket('/ws');
    await house.gateway.close(5_000);
    expect(await watching.closed).to.equal(1001);
    expect(await idle.all).to.match(/ok$/);
  });

  it('cuts what never ends', async () => {
    const line = await open(house.gateway.port);
    line.write(
      `POST /api/work-items HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${operatorToken}\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n`,
    );
    await line.heard(/100 Continue/);
    await house.gateway.close(50);
    expect(await line.all).not.to.match(/201/);
  });

  it('is the same for everybody who asks', async () => {
    expect(house.gateway.close()).to.equal(house.gateway.close());
    await house.gateway.close();
  });

  it('refuses a short operator token before anything listens', async () => {
    let refusal: unknown;
    await openHouse({ operatorToken: 'short' }).catch((error: unknown) => (refusal = error));
    expect(refusal).to.be.instanceOf(TypeError);
  });

  it('says so when the port is taken', async () => {
    let refusal: unknown;
    await openHouse({ port: house.gateway.port }).catch((error: unknown) => (refusal = error));
    expect(refusal).to.include({ code: 'EADDRINUSE' });
  });
});

interface Line {
  write(text: string): void;
  heard(pattern: RegExp): Promise<void>;
  readonly all: Promise<string>;
}

function open(port: number): Promise<Line> {
  const socket: Socket = connect(port, '127.0.0.1');
  let text = '';
  const looks = new Set<() => void>();
  socket.on('data', (chunk) => {
    text += String(chunk);
    for (const look of [...looks]) look();
  });
  socket.on('error', () => undefined); // a cut line is what some of these specs want
  const all = new Promise<string>((resolve) => socket.on('close', () => resolve(text)));
  const heard = (pattern: RegExp): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (pattern.test(text)) resolve();
      };
      looks.add(look);
      look();
    });
  return new Promise((resolve) =>
    socket.on('connect', () => resolve({ write: (part) => socket.write(part), heard, all })),
  );
}

/** Resolves when no one takes connections there any more. */
async function refused(port: number): Promise<void> {
  for (;;) {
    const taken = await new Promise<boolean>((resolve) => {
      const probe = connect(port, '127.0.0.1');
      probe.on('connect', () => {
        probe.destroy();
        resolve(true);
      });
      probe.on('error', () => resolve(false));
    });
    if (!taken) return;
  }
}
