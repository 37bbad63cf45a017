import { expect } from 'chai';
import { connect } from 'node:net';
import { pino } from 'pino';
import { openHouse, operatorToken, type House } from './fixture.js';

/**
 * Found by the fuzzer: Node's own answers had no body at all, and a client that hung up was logged as a fault
 * of ours.
 */
describe('what never becomes a request', () => {
  const lines: { level: number; msg: string }[] = [];
  let house: House;
  before(async () => {
    house = await openHouse({
      log: pino(
        { level: 'debug' },
        { write: (line: string) => void lines.push(JSON.parse(line) as { level: number; msg: string }) },
      ),
    });
  });
  after(() => house.close());

  /** Everything that comes back until the gateway closes. */
  const say = (text: string, options: { hangUp?: boolean } = {}): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port: house.gateway.port, host: '127.0.0.1', allowHalfOpen: true });
      let heard = '';
      socket.on('data', (chunk: Buffer) => {
        heard += chunk.toString('latin1');
      });
      socket.on('end', () => {
        socket.destroy();
        resolve(heard);
      });
      socket.on('error', reject);
      socket.write(text);
      if (options.hangUp === true) socket.end();
    });
  const head = `Host: 127.0.0.1\r\nAuthorization: Bearer ${operatorToken}\r\n`;

  const unreadable: Record<string, readonly [text: string, status: number, code: string]> = {
    'no HTTP at all': ['\x16\x03\x01 hello\r\n\r\n', 400, 'BAD_REQUEST'],
    'a control character in a header': [
      `GET /api/status HTTP/1.1\r\n${head}X-Odd: a\x01b\r\n\r\n`,
      400,
      'BAD_REQUEST',
    ],
    'two lengths of one body': [
      `POST /api/work-items HTTP/1.1\r\n${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
      400,
      'BAD_REQUEST',
    ],
    'headers without end': [
      `GET /api/status HTTP/1.1\r\n${head}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
    'a request without a Host': ['GET /api/status HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'BAD_REQUEST'],
    'an expectation nobody knows': [
      `POST /api/work-items HTTP/1.1\r\n${head}Expect: the-unexpected\r\nContent-Length: 0\r\n\r\n`,
      417,
      'EXPECTATION_FAILED',
    ],
  };
  for (const [name, [text, status, code]] of Object.entries(unreadable)) {
    it(`refuses ${name} with a sentence and a code`, async () => {
      const heard = await say(text);
      expect(heard).to.match(new RegExp(`^HTTP/1.1 ${status} `));
      expect(heard).to.match(/\r\nX-Content-Type-Options: nosniff\r\n/i);
      const body = JSON.parse(heard.slice(heard.indexOf('\r\n\r\n') + 4)) as { error: string; code: string };
      expect(body.code).to.equal(code);
      expect(body.error).to.have.length.above(10);
    });
  }

  it('logs no fault when a client hangs up in the middle of a body', async () => {
    lines.length = 0;
    await say(`POST /api/work-items HTTP/1.1\r\n${head}Content-Length: 100\r\n\r\n{"title":`, {
      hangUp: true,
    });
    expect((await house.operator.get('/api/work-items')).status).to.equal(200);
    expect(lines.filter(({ level }) => level >= 40)).to.deep.equal([]);
  });
});
