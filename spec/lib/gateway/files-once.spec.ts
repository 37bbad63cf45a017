import { expect } from 'chai';
import { readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { openOffice, type Office } from '../records/office.js';
import type { Answer, Client } from './fixture.js';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const part = (head: string, body: string): string =>
  `--edge\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;

describe('a file that is sent twice with one key', () => {
  let office: Office;
  let origin: Server;
  let fetched = 0;
  before(async () => {
    origin = createServer((_request, response) => {
      fetched += 1;
      response.end(`answer ${fetched}`);
    });
    await new Promise<void>((resolve) => {
      origin.listen(0, '127.0.0.1', resolve);
    });
    const { port } = origin.address() as AddressInfo;
    office = await openOffice(
      {},
      { fetch: { resolve: async () => ['93.184.216.34'], dial: () => connect(port, '127.0.0.1') } },
    );
  });
  after(async () => {
    await office.close();
    origin.close();
  });

  const send = (
    parts: string,
    key: string | undefined,
    client: Client = office.operator,
    path = '/api/files',
  ): Promise<Answer> =>
    client.call('POST', path, Buffer.from(`${parts}--edge--\r\n`), {
      'content-type': 'multipart/form-data; boundary=edge',
      ...(key !== undefined && { 'idempotency-key': key }),
    });
  const file = (text: string, name = 'a.txt'): string =>
    part(`name="file"; filename="${name}"\r\nContent-Type: text/plain`, text);
  const files = async (): Promise<number> => (await office.operator.get('/api/files')).body.length;
  const kept = () => readdir(office.layout.files);

  it('is one file and one answer, as multipart', async () => {
    const first = await send(file('hello'), 'm1');
    const again = await send(file('hello'), 'm1');
    expect([first.status, again.status, again.headers['idempotency-replayed']]).to.deep.equal([
      201,
      201,
      'true',
    ]);
    expect(again.body).to.deep.equal(first.body);
    expect(await files()).to.equal(1);
    expect(await kept()).to.deep.equal([first.body.id]);
    expect(await readdir(office.records.files.staging.folder)).to.deep.equal([]);
    expect((await office.operator.get(`/api/files/${first.body.id}`)).text).to.equal('hello');
  });

  it('is refused when the bytes, the name or the texts differ', async () => {
    await send(file('one') + part('name="filename"', 'x.txt'), 'm2');
    const before = await files();
    for (const other of [
      file('two') + part('name="filename"', 'x.txt'),
      file('one', 'b.txt') + part('name="filename"', 'x.txt'),
      file('one') + part('name="filename"', 'y.txt'),
      file('one'),
    ]) {
      const answer = await send(other, 'm2');
      expect([answer.status, answer.body.code]).to.deep.equal([409, 'IDEMPOTENCY_CONFLICT']);
    }
    expect(
      (await office.operator.post('/api/files', { content: base64('one') }, { 'idempotency-key': 'm2' }))
        .status,
    ).to.equal(409);
    expect(await files()).to.equal(before);
    expect((await kept()).length).to.equal(before);
  });

  it("takes the key from a text of the body too, which must be the same as the header's", async () => {
    const keyed = part('name="idempotencyKey"', 'm3') + file('hello');
    const first = await send(keyed, undefined);
    expect((await send(keyed, 'm3')).body.id).to.equal(first.body.id);
    expect((await send(file('hello'), 'm3')).body.id).to.equal(first.body.id);
    expect((await send(keyed, 'other')).body.code).to.equal('IDEMPOTENCY_KEYS_DIFFER');
    expect((await send(part('name="idempotencyKey"', ' ') + file('hello'), undefined)).status).to.equal(400);
    expect(await readdir(office.records.files.staging.folder)).to.deep.equal([]);
  });

  it('is one file when both come at once, also in base64', async () => {
    const before = await files();
    const twins = await Promise.all(
      Array.from({ length: 6 }, () =>
        office.operator.post(
          '/api/files',
          { content: base64('twin'), filename: 't' },
          { 'idempotency-key': 'm4' },
        ),
      ),
    );
    expect(new Set(twins.map(({ status }) => status))).to.deep.equal(new Set([201]));
    expect(new Set(twins.map(({ body }) => body.id)).size).to.equal(1);
    expect(await files()).to.equal(before + 1);
    expect((await kept()).length).to.equal(before + 1);
  });

  it('is two files without a key, and with the keys of two callers', async () => {
    const before = await files();
    await send(file('same'), undefined);
    await send(file('same'), undefined);
    expect(await files()).to.equal(before + 2);
    const [one, other] = [await office.agent(), await office.agent()];
    const mine = await send(file('same'), 'm5', one, `/api/sessions/${one.sessionId}/attachments`);
    expect(
      (await send(file('same'), 'm5', other, `/api/sessions/${other.sessionId}/attachments`)).body.id,
    ).not.to.equal(mine.body.id);
  });

  it('is one attachment and one message', async () => {
    const agent = await office.agent();
    const path = `/api/sessions/${agent.sessionId}/attachments`;
    const messages = async (): Promise<number> =>
      (await office.operator.get(`/api/sessions/${agent.sessionId}`)).body.messages.length;
    const first = await send(file('plot') + part('name="text"', 'Look'), 'm6', agent, path);
    const then = await messages();
    const again = await send(file('plot') + part('name="text"', 'Look'), 'm6', agent, path);
    expect([first.status, again.status, again.headers['idempotency-replayed']]).to.deep.equal([
      201,
      201,
      'true',
    ]);
    expect(again.body).to.deep.equal(first.body);
    expect(await messages()).to.equal(then);
  });

  // a replay that fetches again would be a second action at someone else's address
  it('is fetched once', async () => {
    const ask = () =>
      office.operator.post('/api/files', { url: 'http://public.test/a.txt' }, { 'idempotency-key': 'm7' });
    const first = await ask();
    const again = await ask();
    expect([first.status, again.status, again.body.id, fetched]).to.deep.equal([201, 201, first.body.id, 1]);
  });

  it('is tried again when the first did not succeed', async () => {
    expect(
      (await office.operator.post('/api/files', { path: 'files/none.txt' }, { 'idempotency-key': 'm8' }))
        .status,
    ).to.equal(404);
    await office.put('files/none.txt', 'there now');
    expect(
      (await office.operator.post('/api/files', { path: 'files/none.txt' }, { 'idempotency-key': 'm8' }))
        .status,
    ).to.equal(201);
  });
});
