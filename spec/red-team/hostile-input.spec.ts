import { expect } from 'chai';
import { openOffice, type Office } from '../lib/records/office.js';
import { operatorToken } from '../lib/gateway/fixture.js';
import { raw, statuses } from './wire.js';

/**
 * Input that is meant to break, blow up or turn the head of the one who reads it: JSON and YAML bombs, prototype
 * pollution (ASVS 15.3.6), wrong types (15.3.5), texts that make patterns backtrack, multipart abuse (5.2),
 * log injection (16). After all of it the gateway answers as before, and no answer is a 500.
 */
describe('red team: hostile input', () => {
  let office: Office;
  before(async () => {
    office = await openOffice({
      'knowledge/tea.md': 'green tea',
      'org/build/ann.yaml': 'rank: employee\n',
      'skills/tea/SKILL.md': '---\nname: tea\ndescription: x\n---\n',
    });
  });
  after(() => office.close());

  const refused = async (body: unknown, path = '/api/work-items'): Promise<void> => {
    const { status, text } = await office.operator.post(path, body);
    expect(status, `${path} ${String(body).slice(0, 60)} ${text.slice(0, 200)}`).to.be.within(400, 431);
    expect(text).not.to.match(/\bat .+\.(?:js|ts):\d+|node:internal|node_modules/);
  };
  afterEach('the gateway answers as before', async () => {
    expect((await office.operator.get('/healthz')).status).to.equal(200);
    expect(Object.keys(Object.prototype)).to.deep.equal([]);
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  it('bombs of JSON are refused: deep, long, half, crooked', async () => {
    for (const bomb of [
      '['.repeat(500_000),
      `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
      `{"title":${'['.repeat(33)}${']'.repeat(33)}}`,
      '{"title":"x"',
      '{"title":"x"}{"title":"y"}',
      '{"title":1e999}',
      'NaN',
      '"x"',
      'null',
      '123',
      '\ufeff{"title":"x"}',
      '{"title":"\\ud800"',
    ])
      await refused(bomb);
  });

  it('a hundred thousand members, or numbers beyond all bounds, do no harm', async () => {
    const wide = JSON.stringify({
      title: 'wide',
      ...Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`m${n}`, n])),
    });
    expect((await office.operator.post('/api/work-items', wide)).status).to.be.oneOf([201, 400, 413]);
    for (const priority of ['1e308', '-1e308', '9007199254740993', '1.5', '"1"'])
      expect(
        (await office.operator.post('/api/work-items', `{"title":"x","priority":${priority}}`)).status,
        priority,
      ).to.be.oneOf([201, 400]);
  });

  it('no prototype is polluted, by any body, query, form or frame', async () => {
    const poisons = [
      '{"__proto__":{"polluted":1},"title":"x"}',
      '{"constructor":{"prototype":{"polluted":1}},"title":"x"}',
      '{"title":"x","verifyPolicy":{"__proto__":{"polluted":1},"mode":"trust","maxRounds":1}}',
    ];
    for (const path of [
      '/api/work-items',
      '/api/sessions',
      '/api/auth/pair',
      '/api/delegations',
      '/mcp',
      '/api/files',
    ])
      for (const poison of poisons)
        expect((await office.operator.post(path, poison)).status, path).to.be.below(500);
    for (const query of [
      '__proto__[polluted]=1',
      'constructor.prototype.polluted=1',
      '__proto__.polluted=1',
      'status[__proto__]=x',
    ])
      expect((await office.operator.get(`/api/work-items?${query}`)).status, query).to.be.below(500);
    expect(
      (await office.operator.call('PATCH', '/api/org/employees/ann', '{"__proto__":{"polluted":1}}')).status,
    ).to.be.below(500);
    for (const id of ['__proto__', 'constructor', 'hasOwnProperty', 'toString']) {
      for (const path of [
        `/api/work-items/${id}`,
        `/api/sessions/${id}`,
        `/api/org/employees/${id}`,
        `/api/skills/${id}`,
        `/api/inspect/actors/${id}/${id}`,
        `/api/files/${id}/meta`,
      ])
        expect((await office.operator.get(path)).status, path).to.be.oneOf([400, 404]);
    }
    const socket = await office.socket();
    socket.ws.send('{"type":"subscribe","__proto__":{"polluted":1},"kinds":["__proto__"]}');
    socket.ws.send('{"event":"ping"}');
    await socket.until(({ event }) => event === 'pong');
  });

  it('a member of another type is refused by its name, whatever the type', async () => {
    for (const value of [null, 1, true, [], ['x'], {}, { toString: 'x' }, { length: 1 }]) {
      const { status, body } = await office.operator.post('/api/work-items', { title: value });
      expect([status, body.path], JSON.stringify(value)).to.deep.equal([400, 'title']);
    }
  });

  it('one parameter twice is refused: which one counts would be a guess', async () => {
    for (const query of ['status=done&status=backlog', 'limit=1&limit=2', 'status[]=done&status[]=backlog'])
      expect((await office.operator.get(`/api/work-items?${query}`)).status, query).to.equal(
        query.includes('[') ? 400 : 400,
      );
  });

  it('texts that make patterns backtrack are read in one go', async () => {
    const evils = [
      'a'.repeat(50_000),
      `${'a '.repeat(20_000)}!`,
      '-'.repeat(50_000),
      `${'a@'.repeat(20_000)}.`,
      '\t'.repeat(50_000),
      `${'*a'.repeat(5_000)}b`,
      '('.repeat(3_000),
    ];
    for (const evil of evils) {
      const encoded = encodeURIComponent(evil).slice(0, 12_000).replace(/%.?$/, '');
      for (const path of [
        '/api/knowledge/search?q=',
        '/api/search/messages?query=',
        '/api/search/work-items?text=',
        '/api/sessions?q=',
        '/api/knowledge/read?path=',
      ])
        expect((await office.operator.get(path + encoded)).status, path).to.be.below(500);
      expect(
        (await office.operator.post('/api/work-items', { title: evil.slice(0, 400), body: evil })).status,
      ).to.be.below(500);
      expect(
        (
          await office
            .client({ 'user-agent': evil.slice(0, 8_000).replaceAll('\t', ' ') })
            .post('/api/auth/pair', { code: evil.slice(0, 200) })
        ).status,
      ).to.be.oneOf([400, 401, 429]);
      expect(
        (
          await office
            .client({ cookie: `svc_auth=${evil.slice(0, 6_000).replaceAll('\t', ' ')}` })
            .get('/api/work-items')
        ).status,
      ).to.equal(401);
    }
  });

  it('bombs of YAML set one file aside and nothing else', async () => {
    const billion = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
      .split('')
      .map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[at]}`).join(',')}]`)
      .join('\n')}\n`;
    for (const [name, text] of [
      ['laughs', billion],
      ['tag', 'rank: !!js/function "function(){}"\n'],
      ['merge', 'a: &a {rank: executive}\n<<: *a\n'],
      ['deep', `${'['.repeat(5_000)}${']'.repeat(5_000)}\n`],
      ['proto', '__proto__: {rank: executive}\n'],
    ] as const)
      await office.put(`org/build/${name}.yaml`, text);
    await office.records.roster.reload();
    const { body } = await office.operator.get('/api/org');
    expect(JSON.stringify(body.employees)).to.include('"ann"');
    for (const content of [
      `---\n${billion}---\n`,
      '---js\nprocess.exit(1)\n---\n',
      '---\nname: !!binary "x"\n---\n',
      `---\n${'a'.repeat(100_000)}\n---\n`,
    ]) {
      expect(
        (await office.operator.call('PUT', '/api/skills/tea', { content })).status,
        content.slice(0, 20),
      ).to.be.within(400, 431);
    }
  });

  it('crooked multipart bodies end in a refusal, and leave nothing behind', async () => {
    const boundary = 'xxBOUNDARYxx';
    const send = async (body: string, type = `multipart/form-data; boundary=${boundary}`): Promise<number> =>
      (await office.operator.post('/api/files', Buffer.from(body), { 'content-type': type })).status;
    const part = (head: string, content = 'x'): string => `--${boundary}\r\n${head}\r\n\r\n${content}\r\n`;
    const file = (name: string): string =>
      part(`Content-Disposition: form-data; name="file"; filename="${name}"`);
    const end = `--${boundary}--\r\n`;
    const bodies: Record<string, [string, string?]> = {
      'no boundary': [file('a') + end, 'multipart/form-data'],
      'another boundary': [file('a') + end, 'multipart/form-data; boundary=zz'],
      'a boundary without an end': [`multipart ${'-'.repeat(50_000)}`],
      'two files': [file('a') + file('b') + end],
      'a thousand parts': [
        Array.from({ length: 1_000 }, (_, n) => part(`Content-Disposition: form-data; name="f${n}"`)).join(
          '',
        ) + end,
      ],
      'a header without an end': [part(`X-Long: ${'a'.repeat(100_000)}`) + end],
      'a name of quotes': [
        part(`Content-Disposition: form-data; name="file"; filename="${'\\"'.repeat(20_000)}`) + end,
      ],
      nothing: [''],
    };
    for (const [name, [body, type]] of Object.entries(bodies))
      expect(await send(body, type), name).to.be.within(400, 431);
    for (const name of [
      '../../../etc/cron.d/x',
      '..\\..\\x',
      'a\0b',
      '/etc/passwd',
      '.bashrc',
      'CON',
      'x'.repeat(5_000),
      '\u202egnp.exe',
    ]) {
      const answer = await office.operator.post('/api/files', Buffer.from(file(name) + end), {
        'content-type': `multipart/form-data; boundary=${boundary}`,
      });
      expect(answer.status, name).to.be.oneOf([201, 400]);
      if (answer.status === 201) expect(answer.body.path, name).to.match(/^files\/[\w-]+\/[^/\\\0]+$/);
    }
  });

  it('headers by the thousand, or without an end, are refused', async () => {
    const many = Array.from({ length: 3_000 }, (_, n) => `X-${n}: 1\r\n`).join('');
    for (const headers of [many, `X-Long: ${'x'.repeat(30_000)}\r\n`]) {
      expect(
        statuses(
          await raw(office.port, [
            `GET /api/work-items HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${operatorToken}\r\n${headers}Connection: close\r\n\r\n`,
          ]),
        ),
      ).to.deep.equal([431]);
    }
    const upgrade = `GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`;
    expect(
      statuses(
        await raw(office.port, [
          `${upgrade}${Array.from({ length: 1_500 }, (_, n) => `X-${n}: 1\r\n`).join('')}\r\n`,
        ]),
      ).every((status) => status >= 400),
    ).to.equal(true);
    expect(
      statuses(
        await raw(office.port, [`${upgrade}Sec-WebSocket-Protocol: ${', '.repeat(4_000)}\r\n\r\n`]),
      ).every((status) => status >= 400),
    ).to.equal(true);
  });
});
