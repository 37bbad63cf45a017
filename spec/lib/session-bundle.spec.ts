import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineEngine } from '../../actors/engines/engine.js';
import { startInstance, type Instance } from '../../lib/instance.js';
import type { MessageRow } from '../../machines/session/context.js';
import { makeClient, poll, type Client } from './gateway/fixture.js';

interface Message extends Omit<MessageRow, 'meta' | 'media'> {
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly media?: readonly { readonly url: string; readonly name: string }[];
  readonly attachments?: readonly string[];
}
interface Past {
  readonly id: string;
  readonly title: string;
  readonly messages: readonly Message[];
  readonly attachments?: readonly {
    readonly sha256: string;
    readonly name: string;
    readonly content?: string;
  }[];
}

/** A session leaves one real home as a file and comes into another, at rest. */
describe('a session as a file', () => {
  let folder: string;
  const instances: Instance[] = [];
  let here: Client;
  let there: Client;
  let turns = 0;
  const secret = `sk-${'a1'.repeat(20)}`;
  const scribe = defineEngine({
    name: 'scribe',
    effortMechanism: 'none',
    isInProcess: true,
    discover: async () => ({ available: true, defaultModel: null, models: [] }),
    async turn({ prompt, transcript }, io) {
      turns += 1;
      io.report({ type: 'tool.started', toolId: 't', tool: 'Bash', input: `{"command":"ls ${secret}"}` });
      io.report({
        type: 'tool.finished',
        toolId: 't',
        output: 'ferns <b>bold</b> \u001b[1m'.repeat(50),
        isError: false,
      });
      const usage = { costUsd: 0.25, inputTokens: 10, outputTokens: 5 };
      return { outcome: 'succeeded', text: `heard ${prompt} after ${transcript.length}`, usage };
    },
  });
  async function home(name: string): Promise<Client> {
    const place = join(folder, name);
    await mkdir(place, { mode: 0o700 });
    await writeFile(join(place, 'config.yaml'), 'agents: {sandbox: off}\n');
    const instance = await startInstance({ home: place, port: 0, engines: [scribe] });
    instances.push(instance);
    const { token } = JSON.parse(await readFile(join(place, 'gateway.json'), 'utf8')) as { token: string };
    return makeClient(Number(new URL(instance.url).port), { authorization: `Bearer ${token}` });
  }
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'session-bundle-'));
    here = await home('here');
    there = await home('there');
  });
  after(async () => {
    for (const instance of instances) await instance.close();
    await rm(folder, { recursive: true, force: true });
  });

  const idle = (client: Client, id: string) =>
    poll(
      () => client.get(`/api/sessions/${id}`),
      (answer) => answer.body.status === 'idle' && answer.body.queueDepth === 0,
    );
  async function session(title: string): Promise<string> {
    const { body } = await here.post('/api/sessions', { prompt: `key ${secret}`, engine: 'scribe', title });
    await idle(here, body.id);
    return body.id;
  }
  const exported = async (id: string, client = here): Promise<{ bundle: string; secretsRemoved: number }> =>
    (await client.get(`/api/export?what=session&name=${id}`)).body;
  const take = (bundle: unknown, options: object = { apply: true }) =>
    there.post('/api/import', {
      bundle: typeof bundle === 'string' ? bundle : JSON.stringify(bundle),
      ...options,
    });
  const past = (bundle: string): Past => (JSON.parse(bundle) as { sessions: [Past] }).sessions[0];
  const messages = async (client: Client, id: string): Promise<readonly Message[]> =>
    (await client.get(`/api/sessions/${id}/messages?limit=500`)).body.messages;
  const list = async (): Promise<readonly { id: string; title: string }[]> =>
    (await there.get('/api/sessions?limit=0')).body;
  const named = async (title: string) => (await list()).filter((one) => one.title === title);
  const bundle = (session: object) => ({
    troupe: 1,
    title: 'One',
    sessions: [
      { id: 'far-1', createdAt: '2026-01-02T03:04:05.000Z', title: 'Far', messages: [], ...session },
    ],
  });
  const said = (id: string, more: object = {}): object => ({
    id,
    role: 'user',
    content: `words of ${id}`,
    timestamp: 1_700_000_000_000,
    ...more,
  });

  it('comes over with messages, tools, files and cost, without keys, at rest and once', async () => {
    const id = await session('Ferns');
    const leaf = { content: Buffer.from('a leaf').toString('base64'), filename: 'leaf.txt', text: 'look' };
    expect((await here.post(`/api/sessions/${id}/attachments`, leaf)).status).to.equal(201);
    const key = { content: Buffer.from(`my ${secret}`).toString('base64'), filename: 'key.txt' };
    await here.post(`/api/sessions/${id}/attachments`, key);
    const file = await exported(id);
    expect(file.secretsRemoved).to.equal(3);
    expect(file.bundle)
      .not.to.include(secret)
      .and.not.include(Buffer.from(`my ${secret}`).toString('base64'));
    expect(
      past(file.bundle).attachments?.map(({ name, content }) => [name, content !== undefined]),
    ).to.deep.equal([
      ['key.txt', false],
      ['leaf.txt', true],
    ]);

    const preview = await take(file.bundle, {});
    expect(preview.body.entries[0].name).to.equal(`session ${id} (under a new id)`);
    expect(preview.body.entries[0].diff).to.include.members(['+title: Ferns', '+cost: 0.25 USD']);
    expect(await named('Ferns')).to.deep.equal([]);

    const before = turns;
    for (let time = 0; time < 2; time += 1) expect((await take(file.bundle)).body.applied).to.equal(true);
    const [copy, ...others] = await named('Ferns');
    expect(others).to.deep.equal([]);
    const copyId = String(copy?.id);
    expect(copyId).not.to.equal(id);
    expect((await there.get(`/api/sessions/${copyId}`)).body).to.include({
      status: 'idle',
      source: 'import',
      engine: 'scribe',
      totalCost: 0.25,
      totalTurns: 1,
      parentSessionId: null,
      workItemId: null,
      queueDepth: 0,
    });
    const [notice, ...rows] = await messages(there, copyId);
    expect(notice?.content).to.include(id);
    const mine = await messages(here, id);
    expect(
      rows.map(({ id: row, role, timestamp, toolCall }) => [row, role, timestamp, toolCall]),
    ).to.deep.equal(mine.map(({ id: row, role, timestamp, toolCall }) => [row, role, timestamp, toolCall]));
    const tool = rows.find(({ toolCall }) => toolCall === 'Bash');
    expect(tool?.meta).to.deep.include({
      kind: 'tool',
      state: 'done',
      toolInput: '{"command":"ls [secret]"}',
    });
    const [shown] = rows.find(({ content }) => content === 'look')?.media ?? [];
    expect((await there.get(String(shown?.url))).text).to.equal('a leaf');
    expect(rows.at(-1)?.content).to.match(/^key\.txt\n\n\[Not imported: key\.txt, SHA-256 /);
    expect(turns).to.equal(before);

    // It goes on here like any other, and its agent knows what was said
    await there.post(`/api/sessions/${copyId}/message`, { message: 'and now' });
    await idle(there, copyId);
    expect((await messages(there, copyId)).at(-1)?.content).to.match(/^heard and now after [1-9]/);
    expect((await take(file.bundle)).body.entries[0].change).to.equal('same');
    // Home again, it never left
    const back = await here.post('/api/import', { bundle: file.bundle, apply: true });
    expect(back.body.entries[0]).to.include({
      change: 'same',
      name: `session ${id} (here ${id}; stays as it is)`,
    });
  });

  it('is erased like any session, with the files that came along, and does not come back', async () => {
    const id = await session('Erased');
    const leaf = { content: Buffer.from('a petal').toString('base64'), filename: 'petal.txt' };
    await here.post(`/api/sessions/${id}/attachments`, leaf);
    const file = await exported(id);
    await take(file.bundle);
    const copy = String((await named('Erased'))[0]?.id);
    const media = (await messages(there, copy)).flatMap((one) => one.media ?? []);
    expect(media).to.have.length(1);
    expect((await there.post('/api/erase', { sessionId: copy })).body).to.deep.include({ files: 1 });
    expect((await there.get(String(media[0]?.url))).status).to.equal(404);
    expect((await take(file.bundle)).body.entries[0].change).to.equal('same');
    expect(await messages(there, copy)).to.deep.equal([]);
    expect(await named('Erased')).to.deep.equal([]);
  });

  it('comes over in parts, in order, and a part that was taken is not taken again', async () => {
    const part = (from: number, count: number) =>
      bundle({ from, messages: Array.from({ length: count }, (_, place) => said(`m${from + place}`)) });
    expect((await take(part(3, 2))).body).to.include({ code: 'CONFLICT' });
    await take(part(0, 3));
    expect((await take(part(4, 2))).body.error).to.match(/The 1 messages before this part are missing/);
    await take(part(0, 3));
    await take(part(2, 300)); // overlaps, and is more than one commit takes
    const [far] = await named('Far');
    const rows = (await messages(there, String(far?.id))).map(({ id }) => id);
    expect(rows.slice(1)).to.deep.equal(Array.from({ length: 302 }, (_, place) => `m${place}`));
    expect(await named('Far')).to.have.length(1);
  });

  const range = (from: number, to: number, name = 'g') =>
    Array.from({ length: to - from }, (_, place) => said(`${name}${from + place}`));
  const idsIn = async (id: string) => (await messages(there, id)).slice(1).map(({ id: row }) => row);

  it('takes what a session has grown by from a file that begins later, and misses nothing silently', async () => {
    const grown = (omitted: number, to: number) =>
      bundle({ id: 'far-6', title: 'Grown', omitted, messages: range(omitted, to) });
    await take(grown(0, 10));
    const id = String((await named('Grown'))[0]?.id);
    expect((await take(grown(11, 20))).body.error).to.match(/The 1 messages before this part are missing/);
    await take(grown(5, 15));
    await take(grown(15, 17)); // begins right behind it
    const all = range(0, 17).map((one) => (one as { id: string }).id);
    expect(await idsIn(id)).to.deep.equal(all);
    // Older files bring nothing
    for (const file of [grown(0, 10), grown(5, 15)])
      expect((await take(file)).body.entries[0].change).to.equal('same');
    expect(await idsIn(id)).to.deep.equal(all);
  });

  it('refuses a session that was begun again in the other home', async () => {
    const file = (rows: readonly object[]) => bundle({ id: 'far-7', title: 'Anew', messages: rows });
    await take(file(range(0, 4)));
    for (const count of [2, 4, 6]) {
      const answer = await take(file(range(0, count, 'new')));
      expect([answer.status, answer.body.error]).to.deep.equal([409, answer.body.error]);
      expect(answer.body.error).to.match(/begun again/);
    }
    expect(await idsIn(String((await named('Anew'))[0]?.id))).to.deep.equal(['g0', 'g1', 'g2', 'g3']);
  });

  it('goes on behind a file that someone attached to a half of it', async () => {
    const part = (from: number, to: number, more: boolean) =>
      bundle({ id: 'far-8', title: 'Attached', from, more, messages: range(from, to) });
    await take(part(0, 2, true));
    const id = String((await named('Attached'))[0]?.id);
    const leafFile = { content: Buffer.from('a leaf').toString('base64'), filename: 'leaf.txt' };
    expect((await there.post(`/api/sessions/${id}/attachments`, leafFile)).status).to.equal(201);
    expect((await take(part(0, 2, true))).body.entries[0].change).to.equal('same');
    await take(part(2, 4, true));
    expect((await take(part(0, 2, true))).body.entries[0].change).to.equal('same');
    await take(part(0, 6, false));
    const ids = await idsIn(id);
    expect(ids.filter((_, place) => place !== 2)).to.deep.equal(['g0', 'g1', 'g2', 'g3', 'g4', 'g5']);
  });

  it('says that a session was left half which has gone on since, and leaves an erased one alone', async () => {
    const part = (name: string, from: number, more: boolean) =>
      bundle({ id: name, title: name, from, more, messages: range(from, from + 2) });
    for (const name of ['half-on', 'half-erased', 'whole-on']) await take(part(name, 0, name !== 'whole-on'));
    const [halfOn = '', halfErased = '', wholeOn = ''] = await Promise.all(
      ['half-on', 'half-erased', 'whole-on'].map(async (name) => String((await named(name))[0]?.id)),
    );
    for (const id of [halfOn, wholeOn]) {
      await there.post(`/api/sessions/${id}/message`, { message: 'mine' });
      await idle(there, id);
    }
    await there.post('/api/erase', { sessionId: halfErased });
    for (const from of [0, 2]) {
      const half = await take(part('half-on', from, from === 0));
      expect(half.status).to.equal(409);
      expect(half.body.error).to.include(`it has gone on here (session ${halfOn}): it stays half`);
    }
    for (const name of ['half-erased', 'whole-on'])
      expect((await take(part(name, 0, false))).body.entries[0].change).to.equal('same');
  });

  it('leaves a session alone that has gone on, though more of it comes', async () => {
    const one = { id: 'far-2', title: 'Went on' };
    await take(bundle({ ...one, messages: [said('a')] }));
    const id = String((await named('Went on'))[0]?.id);
    await there.post(`/api/sessions/${id}/message`, { message: 'mine' });
    await idle(there, id);
    expect(
      (await take(bundle({ ...one, messages: [said('a'), said('b')] }))).body.entries[0].change,
    ).to.equal('same');
    expect((await messages(there, id)).map(({ id: row }) => row)).not.to.include('b');
  });

  it('brings nothing that waits, decides or belongs to others, whatever the file says', async () => {
    const { body: other } = await there.post('/api/files', {
      content: Buffer.from('not of that session').toString('base64'),
      filename: 'other.txt',
    });
    const messagesOf = [
      said('q', {
        role: 'assistant',
        meta: { kind: 'permission', state: 'pending', permissionId: 'x', turnId: 'y' },
      }),
      said('c', { role: 'assistant', meta: { kind: 'changes', turnId: 'y', patch: 'rm -rf /' } }),
      said('t', { role: 'assistant', toolCall: 'Bash', meta: { kind: 'tool', state: 'running' } }),
      said('h', { content: '<img src=x onerror=alert(1)>' }),
    ];
    const wanted = { id: 'far-3', title: 'Forged', employee: 'no one here', engine: 'no engine', model: 'm' };
    const more = { parent: '../../x', workItem: 'TRP-1', archived: true, costUsd: 1, turns: 3 };
    expect((await take(bundle({ ...wanted, ...more, messages: messagesOf }))).body.applied).to.equal(true);
    const archived = (await there.get('/api/search/sessions?text=Forged&archived=true')).body;
    const id = JSON.stringify(archived).match(/"id":"([0-9a-f-]{36})"/)?.[1];
    const view = (await there.get(`/api/sessions/${id}`)).body;
    expect(view).to.include({ employee: null, parentSessionId: null, workItemId: null, totalCost: 1 });
    expect(view.archivedAt).to.be.a('string');
    expect(view.toolPolicy.mode).to.equal('ask');
    const [, q, c, t, h] = await messages(there, String(id));
    expect([q?.meta, c?.meta, t?.meta]).to.deep.equal([
      { kind: 'remark', state: 'interrupted' },
      { kind: 'remark', patch: 'rm -rf /' },
      { kind: 'tool', state: 'interrupted' },
    ]);
    expect(h?.content).to.equal('<img src=x onerror=alert(1)>');
    expect((await there.get('/api/waiting')).text).not.to.include(String(id));
    expect((await there.get(`/api/files/${other.id}`)).status).to.equal(200);
  });

  const leaf = { name: 'leaf.txt', sha256: createHash('sha256').update('a leaf').digest('hex') };
  const refused: Readonly<Record<string, readonly [object, RegExp]>> = {
    'a file that its hash does not fit': [
      { attachments: [{ ...leaf, content: Buffer.from('another').toString('base64') }] },
      /leaf.txt is not what its hash says/,
    ],
    'media that name a file of this home': [
      { messages: [said('a', { media: [{ url: '/api/files/x' }] })] },
      /Unrecognized key|unrecognized/i,
    ],
    'an id twice': [{ messages: [said('a'), said('a')] }, /the same id twice/],
    'an id that leads elsewhere': [{ id: '../../etc' }, /sessions.0.id/],
    'a message of the system': [{ messages: [said('a', { role: 'system' })] }, /messages.0.role/],
    'a time that is none': [{ messages: [said('a', { timestamp: 1e300 })] }, /messages.0.timestamp/],
    'a nest': [{ messages: [said('a', { meta: { kind: { a: 1 } } })] }, /messages.0.meta/],
    'a cost below nothing': [{ costUsd: -1 }, /costUsd/],
    'a message that is too large': [
      { messages: [said('a', { content: 'x'.repeat(1_000_001) })] },
      /at most 1000000/,
    ],
  };
  for (const [what, [session, sentence]] of Object.entries(refused))
    it(`refuses ${what}, and makes nothing`, async () => {
      const before = await list();
      const answer = await take(bundle({ id: `bad-${what.length}`, ...session }));
      expect(answer.status).to.equal(400);
      expect(answer.body.error).to.match(sentence);
      expect(await list()).to.deep.equal(before);
    });

  it('leaves out the oldest messages of one that is too long for a file, and says how many', async () => {
    const long = (from: number) =>
      bundle({
        id: 'far-4',
        title: 'Long',
        from,
        messages: Array.from({ length: 3 }, (_, place) =>
          said(`m${from + place}`, { content: '"'.repeat(400_000) }),
        ),
      });
    for (const from of [0, 3]) expect((await take(long(from))).body.error).to.equal(undefined);
    const { bundle: file } = await exported(String((await named('Long'))[0]?.id), there);
    expect(Buffer.byteLength(file)).to.be.lessThan(4 * 2 ** 20);
    const [kept] = (JSON.parse(file) as { sessions: [Past & { omitted: number }] }).sessions;
    expect(kept.messages.at(-1)?.id).to.equal('m5');
    expect(kept.omitted + kept.messages.length).to.equal(7); // with the one that says whence it came
    expect(kept.omitted).to.be.greaterThan(0);
  });

  it('leaves no folder of a session that is only previewed', async () => {
    const work = () => readdir(join(folder, 'there', 'work')).catch(() => []);
    const before = await work();
    await take(bundle({ id: 'far-5', messages: [said('a')] }), {});
    expect(await work()).to.deep.equal(before);
  });
});
