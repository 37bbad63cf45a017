import { expect } from 'chai';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Troupe } from './cli/troupe.js';
import { makeClient, type Client } from './gateway/fixture.js';

/**
 * Without a sandbox an agent can read gateway.json. It did, and the operator's token was in its answer, in
 * the store and in every copy; with it any shell of the agent's was the operator.
 */
describe("the operator's token, read by an agent that is not confined", () => {
  let troupe: Troupe;
  let client: Client;
  let token: string;
  beforeEach(async () => {
    troupe = await Troupe.create();
    await mkdir(troupe.home(), { mode: 0o700 });
    await writeFile(
      join(troupe.home(), 'config.yaml'),
      'agents: {sandbox: off}\nengines:\n  default: shell\n  shell: {command: [/bin/sh]}\n',
    );
    await troupe.start();
    const announcement = await troupe.announcement();
    token = announcement.token;
    client = makeClient(announcement.port, { authorization: `Bearer ${token}` });
  });
  afterEach(() => troupe.clear());

  async function said(prompt: string): Promise<string> {
    const { body, status, text } = await client.post('/api/sessions', { prompt });
    expect(status, text).to.equal(201);
    for (;;) {
      const { status: now } = (await client.get(`/api/sessions/${body.id}`)).body;
      if (['running', 'waiting'].includes(now)) continue;
      const { messages } = (await client.get(`/api/sessions/${body.id}/messages`)).body;
      return String(messages.at(-1).content);
    }
  }
  const tokenOf = `node -p 'JSON.parse(require("fs").readFileSync(process.env.HOME + "/home/gateway.json")).token'`;

  it('is in no answer, no item, no file of the store and no log', async () => {
    expect(await said(`echo "it is $(${tokenOf})"`)).to.include('it is [secret]');
    await said(
      `curl -s -X POST -H "authorization: Bearer $SVC_GATEWAY_TOKEN" -H 'content-type: application/json' -d "{\\"title\\":\\"see $(${tokenOf})\\"}" $SVC_GATEWAY_URL/api/work-items`,
    );
    const { body } = await client.get('/api/work-items');
    expect(JSON.stringify(body)).to.include('see [secret]');
    for (const folder of ['store', 'store-copy', 'logs'])
      for (const name of await readdir(join(troupe.home(), folder), { recursive: true })) {
        const text = await readFile(join(troupe.home(), folder, name), 'latin1').catch(() => '');
        expect(text.includes(token), `${folder}/${name}`).to.equal(false);
      }
  });

  it('does not make the agent, or what it started, the operator', async () => {
    if (process.platform !== 'linux') return; // elsewhere the system does not tell whose a connection is
    const ask = (way: string): string =>
      `T=$(${tokenOf}); ${way} curl -s -H "authorization: Bearer $T" "$SVC_GATEWAY_URL/api/work-items"`;
    expect(await said(ask('')))
      .to.include('not the operator')
      .and.include('FORBIDDEN');
    expect(await said(ask('env -u SVC_GATEWAY_TOKEN'))).to.include('FORBIDDEN');
    expect((await client.get('/api/work-items')).status, 'a person meanwhile').to.equal(200);
    await troupe.run('stop', '--home', troupe.home()); // what was refused is written by then
    const audit = await readdir(join(troupe.home(), 'logs', 'audit'));
    expect(audit.length).to.be.greaterThan(0);
  });

  /** It reads the home, so it could prove a challenge: without any credential it paired itself a browser. */
  it('is not made up for by a browser that the agent pairs itself', async () => {
    if (process.platform !== 'linux') return;
    const ask = (route: string): string =>
      `env -u SVC_GATEWAY_TOKEN curl -s -X POST -H 'content-type: application/json' -d '{}' "$SVC_GATEWAY_URL/api/auth/${route}"`;
    for (const route of ['pairing-challenges', 'pairing-codes', 'bootstrap-grants', 'pair', 'bootstrap'])
      expect(await said(ask(route)), route)
        .to.include('FORBIDDEN')
        .and.include('pairs no browser');
    const { port } = await troupe.announcement();
    const person = await makeClient(port, {}).post('/api/auth/pairing-challenges');
    expect(person.status, 'a person meanwhile').to.equal(200);
  });

  it('is replaced by token rotate, which a running gateway must not miss', async () => {
    const running = await troupe.run('token', 'rotate', '--home', troupe.home());
    expect(running.code).to.not.equal(0);
    expect(running.err).to.include('Stop it first');
    await troupe.run('stop', '--home', troupe.home());
    expect((await troupe.run('token', 'rotate', '--home', troupe.home())).code).to.equal(0);
    const now = await troupe.announcement();
    expect(now.token)
      .to.match(/^[\w-]{43}$/)
      .and.not.equal(token);
    expect(now.secret).to.match(/^[\w-]{43}$/);
    await troupe.start();
    const { port } = await troupe.announcement();
    const status = async (bearer: string): Promise<number> =>
      (await makeClient(port, { authorization: `Bearer ${bearer}` }).get('/api/work-items')).status;
    expect([await status(token), await status(now.token)]).to.deep.equal([401, 200]);
  });
});
