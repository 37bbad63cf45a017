import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fetchBytes, TooLong, type FetchOptions } from '../../../../lib/records/fetch/fetch-bytes.js';
import { isRefusal } from '../../../../machines/refusals.js';
import { selfSigned } from '../../../fixtures/certificate.js';

/**
 * A real server on loopback stands for the whole internet: names resolve to public addresses, and each dial
 * is counted and led to it.
 */
describe('fetchBytes', () => {
  let server: Server;
  let answer: RequestListener;
  let dialled: string[];
  let names: Record<string, readonly (readonly string[])[]>;
  let asked: Record<string, number>;

  beforeEach(async () => {
    dialled = [];
    asked = {};
    names = { 'files.test': [['93.184.216.34']] };
    answer = (_request, response) => void response.end('hello');
    server = createServer((request, response) => answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const options = (more: Partial<FetchOptions> = {}): FetchOptions => ({
    bytesMax: 1_000,
    resolve: async (name) => {
      const times = (asked[name] = (asked[name] ?? 0) + 1);
      const answers = names[name];
      if (!answers) throw new Error('no such name');
      return answers[Math.min(times, answers.length) - 1] ?? [];
    },
    dial: (address, port) => {
      dialled.push(`${address}:${port}`);
      return connect((server.address() as AddressInfo).port, '127.0.0.1');
    },
    ...more,
  });

  async function fetched(url: string, more?: Partial<FetchOptions>): Promise<string> {
    const result = await fetchBytes(url, options(more));
    if (isRefusal(result)) return result.code;
    const chunks: Uint8Array[] = [];
    for await (const chunk of result.body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  it('reads from the address that it has judged, and asks for the name once', async () => {
    let seen: Record<string, unknown> = {};
    answer = (request, response) => {
      seen = { ...request.headers, url: request.url };
      response.end('hello');
    };
    expect(await fetched('http://files.test/a/b.txt?c=d')).to.equal('hello');
    expect(dialled).to.deep.equal(['93.184.216.34:80']);
    expect(asked).to.deep.equal({ 'files.test': 1 });
    expect(seen).to.include({ host: 'files.test', url: '/a/b.txt?c=d', 'accept-encoding': 'identity' });
    expect(seen).not.to.have.any.keys('authorization', 'cookie');
  });

  it("sends what it is given, with headers that are not the connection's own, and follows no redirect with it", async () => {
    let seen: Record<string, unknown> = {};
    answer = (request, response) => {
      const chunks: Buffer[] = [];
      request
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          seen = { method: request.method, text: Buffer.concat(chunks).toString(), ...request.headers };
          response.statusCode = request.url === '/away' ? 302 : 201;
          response.setHeader('location', '/elsewhere');
          response.end('made');
        });
    };
    const post = {
      method: 'POST',
      content: '{"a":"ö"}',
      headers: {
        'Content-Type': 'application/json',
        Host: 'internal',
        'Transfer-Encoding': 'chunked',
        'X-Own': '1',
      },
    };
    expect(await fetched('http://files.test/things', post)).to.equal('made');
    expect(seen).to.include({
      method: 'POST',
      text: '{"a":"ö"}',
      'content-type': 'application/json',
      host: 'files.test',
      'x-own': '1',
      'content-length': '10',
    });
    expect(seen).not.to.have.any.keys('transfer-encoding');
    expect(await fetched('http://files.test/away', post)).to.equal('FETCH_FAILED');
    expect(await fetched('http://files.test/things')).to.equal('FETCH_FAILED'); // 201 is no file
    expect(dialled).to.have.length(3);
  });

  it('asks and resolves no host but those that are named, where any are', async () => {
    const hosts = ['files.test:80'];
    expect(await fetched('http://files.test/', { hosts })).to.equal('hello');
    names['other.test'] = [['93.184.216.35']];
    for (const url of [
      'http://other.test/',
      'http://files.test:8080/',
      'https://files.test/',
      'http://1.1.1.1/',
    ])
      expect(await fetched(url, { hosts }), url).to.equal('URL_REFUSED');
    answer = (_request, response) => void response.writeHead(302, { location: 'http://other.test/' }).end();
    expect(await fetched('http://files.test/', { hosts }), 'redirected').to.equal('URL_REFUSED');
    expect(Object.keys(asked)).to.deep.equal(['files.test']);
  });

  it('is not fooled by a name that answers differently the second time', async () => {
    names['rebind.test'] = [['93.184.216.34'], ['127.0.0.1']];
    expect(await fetched('http://rebind.test/')).to.equal('hello');
    expect(dialled).to.deep.equal(['93.184.216.34:80']);
  });

  const refused: Record<string, string> = {
    loopback: 'http://127.0.0.1/',
    'a short spelling': 'http://127.1/',
    'a decimal spelling': 'http://2130706433/',
    'a hexadecimal spelling': 'http://0x7f.1/',
    'an octal spelling': 'http://0177.0.0.1/',
    'wide digits': 'http://１２７.0.0.1/',
    'a mapped address': 'http://[::ffff:127.0.0.1]/',
    'its other spelling': 'http://[0:0:0:0:0:ffff:7f00:1]/',
    'IPv6 loopback': 'http://[::1]/',
    NAT64: 'http://[64:ff9b::7f00:1]/',
    "the cloud's metadata": 'http://169.254.169.254/latest/meta-data',
    'no address at all': 'http://0/',
    'a private name': 'http://inside.test/',
    'a name with one private address': 'http://both.test/',
    'a name without addresses': 'http://empty.test/',
    'a file': 'file:///etc/hostname',
    data: 'data:text/plain,x',
    gopher: 'gopher://files.test/',
    'a user name': 'http://me:secret@files.test/',
    words: 'not an address',
    'a relative one': '/etc/hostname',
  };
  for (const [what, url] of Object.entries(refused)) {
    it(`refuses ${what} and dials no one`, async () => {
      names['inside.test'] = [['10.0.0.8']];
      names['both.test'] = [['93.184.216.34', '::1']];
      names['empty.test'] = [[]];
      expect(await fetched(url)).to.equal('URL_REFUSED');
      expect(dialled).to.deep.equal([]);
    });
  }

  for (const [what, location] of Object.entries({
    loopback: 'http://127.0.0.1/secret',
    'a private name': '//inside.test/',
    'another scheme': 'file:///etc/hostname',
    'a user name': 'http://me@files.test/',
  })) {
    it(`judges a redirect like the first address: ${what} is refused`, async () => {
      names['inside.test'] = [['192.168.0.1']];
      answer = (_request, response) => void response.writeHead(302, { location }).end();
      expect(await fetched('http://files.test/')).to.equal('URL_REFUSED');
      expect(dialled).to.deep.equal(['93.184.216.34:80']);
    });
  }

  it('follows five redirects and no sixth', async () => {
    answer = (request, response) => {
      const n = Number(request.url?.slice(1));
      if (n === 0) response.end('there');
      else response.writeHead(307, { location: `/${n - 1}` }).end();
    };
    expect(await fetched('http://files.test/5')).to.equal('there');
    expect(await fetched('http://files.test/6')).to.equal('FETCH_FAILED');
  });

  it('stops reading what is too long, whether it says so or not', async () => {
    answer = (_request, response) => void response.end('x'.repeat(2_000));
    expect(await fetched('http://files.test/')).to.equal('PAYLOAD_TOO_LARGE');
    answer = (request, response) => {
      const more = (): void => {
        if (!request.socket.destroyed && response.write('x'.repeat(500))) setImmediate(more);
      };
      response.on('drain', more);
      more();
    };
    const error = await fetched('http://files.test/').catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(TooLong);
  });

  it('gives up on who answers nothing, and on who stops in the middle', async () => {
    answer = () => undefined;
    expect(await fetched('http://files.test/', { timeoutMs: 50 })).to.equal('FETCH_FAILED');
    answer = (_request, response) => void response.write('half');
    const error = await fetched('http://files.test/', { timeoutMs: 200 }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error);
    expect(
      await fetched('http://files.test/', { timeoutMs: 50, resolve: () => new Promise(() => undefined) }),
    ).to.equal('FETCH_FAILED');
  });

  it('takes neither errors nor compressed answers for the file', async () => {
    answer = (_request, response) => void response.writeHead(404).end('no');
    expect(await fetched('http://files.test/')).to.equal('FETCH_FAILED');
    answer = (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('bomb');
    expect(await fetched('http://files.test/')).to.equal('FETCH_FAILED');
    expect(await fetched('http://unknown.test/')).to.equal('FETCH_FAILED');
  });
});

/** Only the system's authorities are asked, and what more a person gave Node: hence a process of its own. */
describe('fetchBytes over TLS', () => {
  // Of an address in numbers, the certificate was compared with "localhost".
  it('takes no certificate that was made for another name or address', async () => {
    const { cert, key } = selfSigned();
    const folder = await mkdtemp(join(tmpdir(), 'fetch-tls-'));
    const server = createSecureServer(
      { cert, key },
      (_request, response) => void response.end('hello'),
    ).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const authority = join(folder, 'authority.pem');
      await writeFile(authority, cert);
      const script = `
        import { connect } from 'node:net';
        import { fetchBytes } from ${JSON.stringify(new URL('../../../../lib/records/fetch/fetch-bytes.js', import.meta.url).href)};
        for (const url of ['https://localhost/', 'https://93.184.216.34/', 'https://files.test/']) {
          const answer = await fetchBytes(url, { bytesMax: 100, resolve: async () => ['93.184.216.34'], dial: () => connect(${(server.address() as AddressInfo).port}, '127.0.0.1') });
          console.log(answer.status === 200 ? 'taken' : answer.code);
        }
        process.exit();`;
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
        env: { ...process.env, NODE_EXTRA_CA_CERTS: authority },
      });
      expect(stdout.trim().split('\n')).to.deep.equal(['taken', 'FETCH_FAILED', 'FETCH_FAILED']);
    } finally {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true });
    }
  });
});
