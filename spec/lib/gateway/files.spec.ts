import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { createServer, type Server } from 'node:http';
import { link, readdir, readFile, rename, rm, symlink, utimes } from 'node:fs/promises';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openOffice, type Office } from '../records/office.js';
import type { Answer, Client } from './fixture.js';

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A multipart body as a client writes it; `head` is what the client says about the part. */
function multipart(parts: readonly { head: string; body: string | Buffer }[]): {
  body: Buffer;
  headers: Record<string, string>;
} {
  const chunks = parts.flatMap(({ head, body }) => [
    Buffer.from(`--edge\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
    Buffer.from(body),
    Buffer.from('\r\n'),
  ]);
  return {
    body: Buffer.concat([...chunks, Buffer.from('--edge--\r\n')]),
    headers: { 'content-type': 'multipart/form-data; boundary=edge' },
  };
}
const fileHead = (filename: string, type = 'text/plain') =>
  `name="file"; filename="${filename}"\r\nContent-Type: ${type}`;

describe('/api/files', () => {
  let office: Office;
  before(async () => {
    office = await openOffice({ 'config.yaml': 'secret: canary\n' }, { limits: { fileBytesMax: 1_000_000 } });
  });
  after(() => office.close());
  const keep = (body: object, client: Client = office.operator) => client.post('/api/files', body);
  const upload = (
    parts: Parameters<typeof multipart>[0],
    path = '/api/files',
    client: Client = office.operator,
  ): Promise<Answer> => {
    const { body, headers } = multipart(parts);
    return client.call('POST', path, body, headers);
  };
  const staged = () => readdir(office.records.files.staging.folder);

  describe('POST', () => {
    it('keeps a multipart file byte for byte, under a name of its own', async () => {
      const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, place) => place % 256));
      const { status, body } = await upload([{ head: fileHead('../../Grüße "1".bin'), body: bytes }]);
      expect(status).to.equal(201);
      expect(body).to.include({
        filename: 'Grüße _1_.bin',
        size: 70_000,
        mimetype: 'application/octet-stream',
        sessionId: null,
      });
      expect(body.path).to.equal(`files/${body.id}/Grüße _1_.bin`);
      expect(Buffer.compare(await readFile(join(office.layout.home, body.path)), bytes)).to.equal(0);
      expect(await staged()).to.deep.equal([]);
    });

    // Found by the fuzzer: formidable takes a part without a type for a text, whatever its filename; then
    // there was no file to adopt, and a 500.
    it('keeps a file part that says no type, which RFC 7578 allows', async () => {
      const { status, body, text } = await upload([
        { head: 'name="file"; filename="hello.txt"', body: 'hello world' },
      ]);
      expect(status, text).to.equal(201);
      expect(body).to.include({ filename: 'hello.txt', size: 11, mimetype: 'text/plain' });
      expect(await staged()).to.deep.equal([]);
    });

    it('keeps base64, and an empty file', async () => {
      const { body } = await keep({ content: base64('hello'), filename: 'a.txt' });
      expect(body).to.include({ filename: 'a.txt', size: 5, mimetype: 'text/plain' });
      expect((await office.operator.get(`/api/files/${body.id}`)).text).to.equal('hello');
      const empty = await keep({ content: '', filename: 'empty' });
      expect([
        empty.status,
        empty.body.size,
        (await office.operator.get(`/api/files/${empty.body.id}`)).text,
      ]).to.deep.equal([201, 0, '']);
      expect((await upload([{ head: fileHead('none.txt'), body: '' }])).body).to.include({
        filename: 'none.txt',
        size: 0,
      });
    });

    it('keeps one file of one key, whatever its bytes are wrapped in, and refuses others under it', async () => {
      const sent = (key: string, parts: Parameters<typeof multipart>[0], path = '/api/files') => {
        const { body, headers } = multipart(parts);
        return office.operator.call('POST', path, body, { ...headers, 'idempotency-key': key });
      };
      const first = await sent('monday', [{ head: fileHead('a.txt'), body: 'one' }]);
      const again = await sent('monday', [{ head: fileHead('a.txt', 'application/x-other'), body: 'one' }]);
      expect([again.status, again.body, again.headers['idempotency-replayed']]).to.deep.equal([
        201,
        first.body,
        'true',
      ]);
      const others: Parameters<typeof multipart>[0][] = [
        [{ head: fileHead('a.txt'), body: 'two' }],
        [{ head: fileHead('b.txt'), body: 'one' }],
        [
          { head: 'name="filename"', body: 'c.txt' },
          { head: fileHead('a.txt'), body: 'one' },
        ],
      ];
      for (const parts of others)
        expect((await sent('monday', parts)).body.code).to.equal('IDEMPOTENCY_CONFLICT');
      const inBody = [
        { head: 'name="idempotencyKey"', body: 'tuesday' },
        { head: fileHead('a.txt'), body: 'one' },
      ];
      expect((await upload(inBody)).body.id).to.equal((await upload(inBody)).body.id);
      expect((await sent('other', inBody)).body.code).to.equal('IDEMPOTENCY_KEYS_DIFFER');
      const json = { content: base64('hello'), filename: 'a.txt', idempotencyKey: 'json' };
      const kept = await keep(json);
      expect((await keep(json)).body).to.deep.equal(kept.body);
      expect((await keep({ ...json, content: base64('other') })).body.code).to.equal('IDEMPOTENCY_CONFLICT');
      expect(await staged(), 'nothing is left of what was not needed').to.deep.equal([]);
      expect((await readdir(office.layout.files)).filter((id) => id === kept.body.id)).to.have.lengthOf(1);
    });

    it('wants exactly one source', async () => {
      for (const body of [
        {},
        { filename: 'a' },
        { content: base64('a'), url: 'http://files.test/' },
        { content: '', path: 'files/x' },
        { url: 'http://files.test/', path: 'files/x' },
      ]) {
        expect((await keep(body)).status, JSON.stringify(body)).to.equal(400);
      }
      expect((await upload([{ head: 'name="filename"', body: 'x' }])).status).to.equal(400);
    });

    it('takes base64 at its word only when it is base64', async () => {
      for (const content of [
        'a',
        'aGVsbG8',
        'aGVs bG8=',
        'aGVsbG8=\n',
        '!!!!',
        'aGVsbG9=',
        'aGVsbG8-',
        '====',
      ])
        expect((await keep({ content, filename: 'a' })).status, content).to.equal(400);
    });

    it('refuses what is too large, in every form, and leaves nothing behind', async () => {
      const large = 'x'.repeat(1_000_001);
      expect((await keep({ content: base64(large), filename: 'a' })).status).to.equal(413);
      expect((await upload([{ head: fileHead('a'), body: large }])).status).to.equal(413);
      expect((await upload([{ head: fileHead('a'), body: 'x'.repeat(3_000_000) }])).status).to.equal(413);
      const before = (await office.operator.get('/api/files')).body.length;
      expect(await staged()).to.deep.equal([]);
      expect((await office.operator.get('/api/files')).body.length).to.equal(before);
    });

    it('cannot be confused by odd multipart bodies', async () => {
      const odd: [string, Promise<Answer>, number][] = [
        [
          'two files',
          upload([
            { head: fileHead('a'), body: '1' },
            { head: fileHead('b'), body: '2' },
          ]),
          400,
        ],
        ['a file under another name', upload([{ head: 'name="other"; filename="a"', body: '1' }]), 400],
        [
          'a text twice',
          upload([
            { head: 'name="filename"', body: 'a' },
            { head: 'name="filename"', body: 'b' },
            { head: fileHead('c'), body: '1' },
          ]),
          400,
        ],
        [
          'a text named __proto__',
          upload([
            { head: 'name="__proto__"', body: 'a' },
            { head: 'name="__proto__"', body: 'b' },
            { head: fileHead('c'), body: '1' },
          ]),
          201,
        ],
        [
          'an enormous text',
          upload([
            { head: 'name="filename"', body: 'x'.repeat(300_000) },
            { head: fileHead('c'), body: '1' },
          ]),
          413,
        ],
        [
          'no end',
          office.operator.call(
            'POST',
            '/api/files',
            Buffer.from('--edge\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf'),
            { 'content-type': 'multipart/form-data; boundary=edge' },
          ),
          400,
        ],
        [
          'no boundary',
          office.operator.call('POST', '/api/files', Buffer.from('--edge--'), {
            'content-type': 'multipart/form-data',
          }),
          400,
        ],
        [
          'nothing',
          office.operator.call('POST', '/api/files', Buffer.from(''), {
            'content-type': 'multipart/form-data; boundary=edge',
          }),
          400,
        ],
        [
          'another multipart',
          office.operator.call('POST', '/api/files', Buffer.from('--edge--'), {
            'content-type': 'multipart/mixed; boundary=edge',
          }),
          415,
        ],
        [
          'multipart where JSON belongs',
          office.operator.call('POST', '/api/work-items', Buffer.from('--edge--'), {
            'content-type': 'multipart/form-data; boundary=edge',
          }),
          415,
        ],
      ];
      for (const [what, sent, status] of odd) expect((await sent).status, what).to.equal(status);
      expect(await staged()).to.deep.equal([]);
      expect(({} as { polluted?: unknown }).polluted).to.equal(undefined);
    });

    it('leaves nothing behind when the client goes away in the middle', async () => {
      const socket = connect(office.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(
        'POST /api/files HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer operator-token-of-43-characters-aaaaaaaaaaaa\r\nContent-Type: multipart/form-data; boundary=edge\r\nContent-Length: 900000\r\n\r\n',
      );
      socket.write(
        `--edge\r\nContent-Disposition: form-data; ${fileHead('a')}\r\n\r\n${'x'.repeat(100_000)}`,
      );
      while ((await staged()).length === 0) await office.operator.get('/healthz');
      socket.destroy();
      while ((await staged()).length > 0) await office.operator.get('/healthz');
    });

    it('copies a managed file by path, and nothing else of this machine', async () => {
      const { body } = await keep({ content: base64('first'), filename: 'a.txt' });
      const copy = await keep({ path: body.path });
      expect(copy.status).to.equal(201);
      expect(copy.body.id).not.to.equal(body.id);
      expect((await office.operator.get(`/api/files/${copy.body.id}`)).text).to.equal('first');
      expect((await keep({ path: join(office.layout.home, body.path) })).status).to.equal(201);
      for (const path of [
        'config.yaml',
        '/etc/hostname',
        join(office.layout.home, 'config.yaml'),
        `files/${body.id}/../../config.yaml`,
        'files/../config.yaml',
        join(office.layout.files, '..', 'config.yaml'),
      ]) {
        const answer = await keep({ path });
        expect(answer.status, path).to.be.oneOf([400, 403]);
        expect(answer.text).not.to.include('canary');
      }
    });

    it('cannot be rehearsed, and does nothing then', async () => {
      const before = (await office.operator.get('/api/files')).body.length;
      expect(
        (await office.operator.post('/api/files?dryRun=true', { content: base64('x') })).body.code,
      ).to.equal('DRY_RUN_UNSUPPORTED');
      expect((await office.operator.get('/api/files')).body.length).to.equal(before);
    });
  });

  describe('GET /:id', () => {
    it('sends a page as something to be saved, never as a page', async () => {
      const { body } = await upload([
        { head: fileHead('evil "\r\nX: y.html', 'text/html'), body: '<script>alert(1)</script>' },
      ]).then(async (sent) =>
        sent.status === 201 ? sent : keep({ content: base64('<script>'), filename: 'e"v\r\nil.html' }),
      );
      const { headers, status } = await office.operator.get(`/api/files/${body.id}`);
      expect(status).to.equal(200);
      expect(headers['content-disposition']).to.match(
        /^attachment; filename="[^"\r\n]*"; filename\*=UTF-8''[^"\r\n]*$/,
      );
      expect(headers).to.include({
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
      });
      expect(headers['cache-control']).to.include('private');
    });

    it('answers ranges, and 304 to who has it', async () => {
      const { body } = await keep({ content: base64('0123456789'), filename: 'n.txt' });
      const get = (headers: Record<string, string>) => office.operator.get(`/api/files/${body.id}`, headers);
      const part = await get({ range: 'bytes=2-4' });
      expect([
        part.status,
        part.text,
        part.headers['content-range'],
        part.headers['content-length'],
      ]).to.deep.equal([206, '234', 'bytes 2-4/10', '3']);
      for (const [range, text] of [
        ['bytes=7-', '789'],
        ['bytes=-3', '789'],
        ['bytes=8-99', '89'],
        ['bytes=-99', '0123456789'],
      ] as const)
        expect((await get({ range })).text, range).to.equal(text);
      for (const range of ['bytes=0-1,3-4', 'lines=1-2', 'bytes=4-2', 'bytes=-', 'bytes=a-b'])
        expect((await get({ range })).status, range).to.equal(200);
      for (const range of ['bytes=10-', 'bytes=-0'])
        expect((await get({ range })).status, range).to.equal(416);
      const { headers } = await get({});
      expect(headers).to.include({ 'content-length': '10', 'accept-ranges': 'bytes' });
      const again = await get({ 'if-none-match': String(headers['etag']) });
      expect([again.status, again.text]).to.deep.equal([304, '']);
      expect((await get({ range: 'bytes=0-1', 'if-range': '"other"' })).status).to.equal(200);
      expect(
        (await office.operator.call('HEAD', `/api/files/${body.id}`)).headers['content-length'],
      ).to.equal('10');
    });

    it('is 404 for nothing, and for a file whose bytes someone replaced by a link, a pipe or a second name', async () => {
      for (const id of ['nothing', '..%2Fconfig.yaml', '%00', '__proto__'])
        expect((await office.operator.get(`/api/files/${id}`)).status, id).to.equal(404);
      const config = join(office.layout.home, 'config.yaml');
      for (const swap of [
        (path: string) => symlink(config, path),
        (path: string) => link(config, path),
        async (path: string) => void execFileSync('mkfifo', [path]),
      ]) {
        const { body } = await keep({ content: base64('x'), filename: 'a.txt' });
        const path = join(office.layout.home, body.path);
        await rename(path, `${path}.old`);
        await swap(path);
        const answer = await office.operator.get(`/api/files/${body.id}`);
        expect(answer.status).to.equal(404);
        expect(answer.text).not.to.include('canary');
        expect(
          (await office.operator.get(`/api/files/read?path=${encodeURIComponent(body.path)}`)).status,
        ).to.equal(403);
        await rm(path);
      }
    });
  });

  it('lists newest first, shows one, and forgets what is deleted, bytes and all', async () => {
    const own = await openOffice();
    try {
      const ids: string[] = [];
      for (const name of ['a', 'b', 'c']) {
        ids.unshift(
          (await own.operator.post('/api/files', { content: base64(name), filename: name })).body.id,
        );
        await new Promise((resolve) => setImmediate(resolve));
      }
      const socket = await own.socket();
      const { body } = await own.operator.get('/api/files');
      expect(body.map(({ id }: { id: string }) => id)).to.have.members(ids);
      expect(body[0]).to.have.all.keys(
        'id',
        'filename',
        'size',
        'mimetype',
        'path',
        'sessionId',
        'createdAt',
      );
      expect((await own.operator.get(`/api/files/${ids[0]}/meta`)).body.filename).to.equal('c');
      expect((await own.operator.call('DELETE', `/api/files/${ids[0]}`)).body).to.deep.equal({
        status: 'deleted',
        id: ids[0],
      });
      expect((await socket.until(({ event }) => event === 'file:deleted')).payload.id).to.equal(ids[0]);
      for (const path of [`/api/files/${ids[0]}`, `/api/files/${ids[0]}/meta`])
        expect((await own.operator.get(path)).status).to.equal(404);
      expect((await own.operator.call('DELETE', `/api/files/${ids[0]}`)).status).to.equal(404);
      expect(await readdir(own.layout.files)).to.have.members(ids.slice(1));
      const first = (await own.operator.get('/api/files?limit=1')).body;
      expect(first).to.have.length(1);
      // a page by cursor showed what no one is to see: the hash, and who stored it
      expect((await own.operator.get('/api/files?limit=1&cursor=')).body.files).to.deep.equal(first);
    } finally {
      await own.close();
    }
  });

  it('gives what is deleted back to the quota, and refuses what is beyond it', async () => {
    const own = await openOffice({}, { limits: { totalBytesMax: 10, filesMax: 2 } });
    try {
      const put = (text: string) => own.operator.post('/api/files', { content: base64(text), filename: 'a' });
      const first = await put('12345678');
      expect((await put('123')).body).to.include({ code: 'QUOTA_EXCEEDED', bytesMax: 10 });
      expect(await readdir(own.layout.files), 'the bytes of a refused file are gone').to.deep.equal([
        first.body.id,
      ]);
      await own.operator.call('DELETE', `/api/files/${first.body.id}`);
      expect([(await put('1')).status, (await put('2')).status, (await put('3')).status]).to.deep.equal([
        201, 201, 507,
      ]);
    } finally {
      await own.close();
    }
  });

  describe('GET /read', () => {
    const read = (path: string) => office.operator.get(`/api/files/read?path=${encodeURIComponent(path)}`);

    it('shows text, and of the rest only what is known', async () => {
      const text = (await keep({ content: base64('Grüße'), filename: 'a.md' })).body;
      expect((await read(text.path)).body).to.deep.include({
        path: text.path,
        mime: 'text/markdown',
        size: 7,
        tooLarge: false,
        binary: false,
        content: 'Grüße',
      });
      for (const bytes of [Buffer.from([1, 0, 2]), Buffer.from([0xff, 0xfe, 0x41])]) {
        const binary = (await keep({ content: bytes.toString('base64'), filename: 'a.txt' })).body;
        expect((await read(binary.path)).body)
          .to.include({ binary: true })
          .and.not.to.have.property('content');
      }
      await office.put('files/large/large.txt', 'x'.repeat(5 * 2 ** 20 + 1));
      expect((await read('files/large/large.txt')).body)
        .to.include({ tooLarge: true })
        .and.not.to.have.property('content');
    });

    it('reads nowhere else', async () => {
      for (const [path, status] of [
        ['config.yaml', 400],
        ['/etc/hostname', 403],
        ['../config.yaml', 400],
        ['files/../config.yaml', 400],
        ['files/%2e%2e/config.yaml', 400],
        ['files%2f..%2fconfig.yaml', 400],
        ['uploads/x', 404],
        ['files/x/y', 404],
        ['files\\..\\config.yaml', 400],
        ['files/\u0000', 400],
        ['store/000001.log', 400],
        ['files', 400],
        ['files/', 400],
      ] as const) {
        const answer = await read(path);
        expect(answer.status, path).to.equal(status);
        expect(answer.text).not.to.include('canary');
      }
      await office.put('files/out/x', 'x');
      await rm(join(office.layout.files, 'out'), { recursive: true });
      await symlink(office.layout.home, join(office.layout.files, 'out'));
      expect((await read('files/out/config.yaml')).status).to.equal(403);
      expect((await office.operator.get('/api/files/read')).status).to.equal(400);
    });
  });

  it("is the people's: an agent is refused on every one of its routes, and no one else gets in", async () => {
    const { body } = await keep({ content: base64('x'), filename: 'a.txt' });
    const agent = await office.agent();
    const calls: [string, string, object?][] = [
      ['GET', '/api/files'],
      ['POST', '/api/files', { content: base64('x') }],
      ['GET', `/api/files/${body.id}`],
      ['GET', `/api/files/${body.id}/meta`],
      ['GET', `/api/files/read?path=${body.path}`],
      ['DELETE', `/api/files/${body.id}`],
      ['POST', `/api/files/${body.id}/open`, {}],
    ];
    for (const [method, path, sent] of calls) {
      expect((await agent.call(method, path, sent)).status, `${method} ${path}`).to.equal(403);
      expect((await office.client().call(method, path, sent)).status, `${method} ${path}`).to.equal(401);
    }
    expect((await upload([{ head: fileHead('a'), body: 'x' }], '/api/files', agent)).status).to.equal(403);
    expect((await office.operator.get(`/api/files/${body.id}`)).text).to.equal('x');
  });

  it('opens nothing unless that was switched on', async () => {
    const { body } = await keep({ content: base64('x'), filename: 'a.txt' });
    expect((await office.operator.post(`/api/files/${body.id}/open`)).status).to.equal(403);
  });

  it('sweeps what belongs to no one after an hour, and nothing else', async () => {
    const { body } = await keep({ content: base64('x'), filename: 'a.txt' });
    const orphan = '00000000-0000-4000-8000-000000000001';
    const old = new Date(Date.now() - 2 * 3_600_000);
    const stale = [
      `files/${orphan}`,
      'files/notes',
      `uploads/2020-01-01/s/${orphan}-a.txt`,
      'tmp/uploads/left',
      `files/${body.id}`,
    ];
    await office.put(`files/${orphan}/a.txt`, 'x');
    await office.put('files/notes/mine.txt', 'x');
    await office.put(`uploads/2020-01-01/s/${orphan}-a.txt`, 'x');
    await office.put('tmp/uploads/left', 'x');
    await office.put('tmp/uploads/fresh', 'x');
    await office.put('files/00000000-0000-4000-8000-000000000002/fresh.txt', 'x');
    for (const path of stale) await utimes(join(office.layout.home, path), old, old);
    await office.records.sweep();
    expect(await readdir(office.layout.files))
      .to.include.members(['notes', body.id, '00000000-0000-4000-8000-000000000002'])
      .and.not.to.include(orphan);
    expect(await staged()).to.deep.equal(['fresh']);
    expect(await readdir(office.layout.uploads)).to.not.include('2020-01-01');
    await rm(join(office.layout.temporary, 'uploads', 'fresh'));
  });
});

describe('files by address and from elsewhere', () => {
  let site: Server;
  let office: Office;
  before(async () => {
    site = createServer(
      (request, response) =>
        void (request.url === '/gone' ? response.writeHead(404).end() : response.end('from afar')),
    );
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const { port } = site.address() as AddressInfo;
    office = await openOffice(
      { 'docs/elsewhere.txt': 'mine' },
      {
        allow: { customPaths: true },
        fetch: {
          resolve: async (name) => (name === 'files.test' ? ['93.184.216.34'] : ['127.0.0.1']),
          dial: () => connect(port, '127.0.0.1'),
        },
      },
    );
  });
  after(async () => {
    site.closeAllConnections();
    site.close();
    await office.close();
  });

  it('fetches a public address and calls the file as it does', async () => {
    const { status, body } = await office.operator.post('/api/files', {
      url: 'http://files.test/a%20b.png?x=1',
    });
    expect([status, body.filename, body.mimetype, body.size]).to.deep.equal([201, 'a b.png', 'image/png', 9]);
  });

  it('refuses private ones and says so of broken ones', async () => {
    for (const url of [
      'http://127.0.0.1/',
      'http://inside.test/',
      'http://[::ffff:127.0.0.1]/',
      'ftp://files.test/',
    ])
      expect((await office.operator.post('/api/files', { url })).body.code, url).to.equal('URL_REFUSED');
    expect((await office.operator.post('/api/files', { url: 'http://files.test/gone' })).status).to.equal(
      502,
    );
  });

  it('copies from anywhere when that was opened, but never for an agent, and never a device', async () => {
    const path = join(office.layout.home, 'docs', 'elsewhere.txt');
    expect((await office.operator.post('/api/files', { path })).body).to.include({
      filename: 'elsewhere.txt',
      size: 4,
    });
    expect((await office.operator.post('/api/files', { path: '/dev/zero' })).status).to.equal(403);
    const agent = await office.agent();
    expect((await agent.post(`/api/sessions/${agent.sessionId}/attachments`, { path })).status).to.equal(403);
    // A browser that was let in once could keep a copy of the token for ever.
    for (const own of [
      'gateway.json',
      'auth-devices.json',
      'config.yaml',
      'store/000005.ldb',
      'logs/gateway.log',
      'engines/codex/auth.json',
      'run/worker-0a1b2c3d.key',
      'trusted-folders.json',
      'tls.pem',
    ]) {
      const secret = await office.put(own, 'x');
      expect((await office.operator.post('/api/files', { path: secret })).status, own).to.equal(403);
    }
    await symlink(join(office.layout.home, 'gateway.json'), join(office.layout.home, 'innocent.txt'));
    for (const round of [
      join(office.layout.home, 'innocent.txt'),
      `/proc/self/cwd/../../../../../..${join(office.layout.home, 'gateway.json')}`,
      '/proc/self/environ',
    ])
      expect((await office.operator.post('/api/files', { path: round })).status, round).to.equal(403);
  });
});

describe('attachments', () => {
  let office: Office;
  before(async () => {
    office = await openOffice();
  });
  after(() => office.close());

  it("are kept below the session's uploads, shown as an assistant message and announced", async () => {
    const agent = await office.agent();
    const socket = await office.socket();
    await office.put(`work/${agent.sessionId}/out/plot.png`, 'pixels');
    const { status, body } = await agent.post(`/api/sessions/${agent.sessionId}/attachments`, {
      path: 'out/plot.png',
      text: 'The plot',
    });
    expect(status).to.equal(201);
    expect(body.media).to.deep.equal({
      type: 'image',
      url: `/api/files/${body.id}`,
      name: 'plot.png',
      mimeType: 'image/png',
      size: 6,
    });
    expect(body.message).to.deep.include({ role: 'assistant', content: 'The plot', media: [body.media] });
    expect(body.path).to.match(
      new RegExp(`^uploads/\\d{4}-\\d\\d-\\d\\d/${agent.sessionId}/${body.id}-plot\\.png$`),
    );
    const { messages } = (await office.operator.get(`/api/sessions/${agent.sessionId}`)).body;
    expect(messages.find(({ id }: { id: string }) => id === body.message.id)).to.deep.equal(body.message);
    expect((await socket.until(({ event }) => event === 'session:attachment')).payload).to.deep.include({
      sessionId: agent.sessionId,
      media: [body.media],
    });
    expect((await office.operator.get(body.media.url)).text).to.equal('pixels');
  });

  it('come by upload, too, and only from people and the session itself', async () => {
    const agent = await office.agent();
    const other = await office.agent();
    const child = await office.agent({ parent: agent.sessionId });
    const path = `/api/sessions/${agent.sessionId}/attachments`;
    const { body, headers } = multipart([
      { head: 'name="text"', body: 'Look' },
      { head: fileHead('a.txt'), body: 'hello' },
    ]);
    expect((await office.operator.call('POST', path, body, headers)).body.message.content).to.equal('Look');
    for (const outsider of [other, child])
      expect((await outsider.post(path, { content: base64('x'), filename: 'a' })).status).to.equal(403);
    expect(
      (await office.operator.post('/api/sessions/nobody/attachments', { content: base64('x') })).status,
    ).to.equal(404);
    expect((await office.operator.post(path, {})).status).to.equal(400);
  });

  it('cannot reach out of the working folder', async () => {
    const agent = await office.agent();
    await office.put('config.yaml', 'canary\n');
    await office.put(`work/${agent.sessionId}/a.txt`, 'x');
    await symlink(join(office.layout.home, 'config.yaml'), join(office.layout.work, agent.sessionId, 'link'));
    await link(join(office.layout.home, 'config.yaml'), join(office.layout.work, agent.sessionId, 'twin'));
    for (const path of [
      'link',
      'twin',
      '../../config.yaml',
      join(office.layout.home, 'config.yaml'),
      join(office.layout.work, agent.sessionId, '..', '..', 'config.yaml'),
    ]) {
      expect(
        (await agent.post(`/api/sessions/${agent.sessionId}/attachments`, { path })).status,
        path,
      ).to.be.oneOf([400, 403]);
    }
    expect(
      (
        await agent.post(`/api/sessions/${agent.sessionId}/attachments`, {
          path: join(office.layout.work, agent.sessionId, 'a.txt'),
        })
      ).status,
    ).to.equal(201);
  });

  it('go with a new session and with a message; an id that names no file refuses both', async () => {
    const { body: file } = await office.operator.post('/api/files', {
      content: base64('hello'),
      filename: 'a.txt',
    });
    const opened = await office.operator.post('/api/sessions', {
      prompt: 'Read this',
      attachments: [file.id],
    });
    expect(opened.status).to.equal(201);
    const page = (await office.operator.get(`/api/sessions/${opened.body.id}`)).body;
    expect(page.messages[0].media).to.deep.equal([
      { type: 'file', url: `/api/files/${file.id}`, name: 'a.txt', mimeType: 'text/plain', size: 5 },
    ]);
    expect(
      (
        await office.operator.post(`/api/sessions/${opened.body.id}/message`, {
          message: 'Again',
          attachments: [file.id],
        })
      ).status,
    ).to.equal(200);
    for (const [path, body] of [
      ['/api/sessions', { prompt: 'x' }],
      [`/api/sessions/${opened.body.id}/message`, { message: 'x' }],
      ['/api/delegations', { task: 'x', engine: 'pen' }],
    ] as const) {
      const refused = await office.operator.post(path, {
        ...body,
        attachments: [file.id, 'nothing', '../x'],
      });
      expect([refused.status, refused.body.code, refused.body.unresolvedAttachments], path).to.deep.equal([
        400,
        'UNKNOWN_ATTACHMENT',
        ['nothing', '../x'],
      ]);
    }
    await office.operator.call('DELETE', `/api/files/${file.id}`);
    expect(
      (await office.operator.post('/api/sessions', { prompt: 'x', attachments: [file.id] })).status,
    ).to.equal(400);
  });
});
