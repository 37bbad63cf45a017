import { expect } from 'chai';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeClient, watch, type Answer } from '../lib/gateway/fixture.js';
import { Troupe } from '../lib/cli/troupe.js';

/**
 * The secrets that others gave into our keeping: tokens of connectors, passwords, secrets of triggers. They
 * stand in config.yaml (or were told once), and nothing that the gateway writes, answers or prints may repeat
 * them – least of all when something fails, for then libraries like to show what they were doing.
 */
describe('red team: secrets of others as canaries', function () {
  this.timeout(180_000);
  let troupe: Troupe;
  before(async () => {
    troupe = await Troupe.create();
  });
  after(() => troupe.clear());

  const secrets: Record<string, string> = {
    telegram: '7654321:AAcanary-of-telegram-bot',
    slack: 'xoxb-canary-of-slack-bot',
    slackApp: 'xapp-canary-of-slack-app',
    discord: 'canary-of-discord.bot.token',
    mail: 'canary of a password',
    webhook: 'canary-of-webhook-secret',
    path: 'canary-in-a-hook-address',
  };
  const config = (level: string): string => `logging:
  level: ${level}
connectors:
  instances:
    - {name: tele, type: telegram, botToken: "${secrets['telegram']}", apiRoot: "http://127.0.0.1:1", allowFrom: ["1"]}
    - {name: slack, type: slack, botToken: "${secrets['slack']}", appToken: "${secrets['slackApp']}", apiRoot: "http://127.0.0.1:1/api/", allowFrom: ["*"]}
    - {name: disc, type: discord, botToken: "${secrets['discord']}", apiRoot: "http://127.0.0.1:1/api"}
    - {name: mail, type: email, host: 127.0.0.1, port: 1, from: a@example.org, user: me, password: "${secrets['mail']}", tls: none, timeoutSeconds: 2}
    - {name: hook, type: webhook, url: "http://127.0.0.1:1/${secrets['path']}", secret: "${secrets['webhook']}"}
`;

  it('are repeated by nothing, also when everything fails', async () => {
    const home = troupe.home();
    await mkdir(home, { mode: 0o700 });
    await writeFile(join(home, 'config.yaml'), config('trace'), { mode: 0o600 });
    const running = await troupe.start(home);
    const { port, token } = await troupe.announcement(home);
    const operator = makeClient(port, { authorization: `Bearer ${token}` });
    const sockets = await Promise.all(
      ['/ws?since=0', '/ws/inspect?since=0', '/ws/stately'].map((path) =>
        watch(`ws://127.0.0.1:${port}${path}`, { authorization: `Bearer ${token}` }),
      ),
    );
    const said: [string, Answer][] = [];
    const get = async (path: string): Promise<Answer> => {
      const answer = await operator.get(path);
      said.push([path, answer]);
      return answer;
    };

    const made = await operator.post('/api/workflow-definitions/mutate', {
      operation: 'create',
      definition: { title: 'Deploy', nodes: [{ id: 'a', type: 'step', actor: { kind: 'noop' } }], edges: [] },
    });
    expect(made.status, made.text).to.equal(201);
    const bound = await operator.post('/api/workflow-triggers', {
      kind: 'webhook',
      name: 'push',
      event: 'repo.push',
      targetWorkflowId: made.body.definition.id,
    });
    secrets['trigger'] = bound.body.secretToken as string;
    expect(secrets['trigger']).to.match(/^svcwe_/);
    for (const headers of [
      { 'x-svc-workflow-event-token': secrets['trigger'] },
      { authorization: `Bearer ${secrets['trigger']}` },
      { 'x-svc-workflow-event-token': `${secrets['trigger']}x` },
    ] as Record<string, string>[]) {
      for (const body of [{ event: 'repo.push', payload: {}, fireRef: 'f1' }, { event: 7 }, '{'])
        said.push(['an event', await makeClient(port, headers).post('/api/workflow-events', body)]);
    }
    said.push(['a reload', await operator.post('/api/connectors/reload')]);
    for (const name of ['tele', 'slack', 'disc', 'mail', 'hook'])
      said.push([
        `a send by ${name}`,
        await operator.post(`/api/connectors/${name}/send`, { channel: 'a@example.org', text: 'Hello' }),
      ]);
    const actors = (
      await Promise.all(
        ['connector', 'trigger', 'workflow', 'workflow-run', 'home'].map((kind) =>
          get(`/api/inspect/actors?kind=${kind}`),
        ),
      )
    ).flatMap(({ body }) => body.actors as { kind: string; id: string }[]);
    expect(actors.filter(({ kind }) => kind === 'connector')).to.have.length(5);
    for (const { kind, id } of actors) {
      for (const view of ['', '/history', '/why']) await get(`/api/inspect/actors/${kind}/${id}${view}`);
      expect((await get(`/api/inspect/bundle?kind=${kind}&id=${id}`)).status).to.equal(200);
    }
    for (const path of [
      '/api/config',
      '/api/logs?n=1000',
      '/api/connectors',
      '/api/status',
      '/api/workflow-triggers',
      '/api/inspect/dead-letters',
      '/api/inspect/supervision',
      '/metrics',
      '/api/engines',
      '/api/openapi.json',
    ])
      await get(path);
    expect(said.find(([path]) => path === '/api/config')?.[1].text, 'the settings are shown').to.include(
      '"tele"',
    );
    const frames = sockets.map((socket) => JSON.stringify(socket.frames)).join('\n');
    for (const socket of sockets) socket.ws.terminate();

    let printed = '';
    const print = async (...words: string[]): Promise<void> => {
      const { out, err } = await troupe.run(...words, '--home', home);
      printed += out + err;
    };
    for (const words of [['status'], ['doctor'], ['config', 'check']]) await print(...words);
    for (const [from, to] of [
      ['xoxb', '\t"xoxb'],
      ['botToken: "', 'botToken: ["'],
      ['name: hook', 'nme: hook'],
      ['port: 1,', 'port: "'],
      ['type: telegram', 'type: telegraph'],
      ['secret: "', 'secret: !!binary "'],
    ] as const) {
      // Also while it runs: the gateway looks at it and says what is wrong
      await writeFile(join(home, 'config.yaml'), config('trace').replace(from, to), { mode: 0o600 });
      await print('config', 'check');
    }
    await print('stop');
    const { out, err } = await running.ended;
    printed += out + err;
    await print('start', '--port', '0'); // which it refuses with a reason
    expect(printed).to.include('config.yaml');

    const found: string[] = [];
    const look = (where: string, text: string): void => {
      for (const [name, value] of Object.entries(secrets))
        if (text.includes(value)) found.push(`${name} in ${where}`);
    };
    for (const [where, { text }] of said) look(where, text);
    look('frames', frames);
    look('what was printed', printed);
    for (const name of await readdir(home, { recursive: true, encoding: 'utf8' })) {
      const path = join(home, name);
      if (name !== 'config.yaml' && (await stat(path)).isFile()) look(name, await readFile(path, 'latin1'));
    }
    expect(found).to.deep.equal([]);
    look('config.yaml', await readFile(join(home, 'config.yaml'), 'utf8'));
    expect(found, 'the search finds what is there').to.include('telegram in config.yaml');
  });
});
