import { expect } from 'chai';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { WorkItemOperation } from '../../../machines/graph/definition.js';
import { receiveMessage } from '../../../lib/commands/sessions/receive-message.js';
import { startInstance, type Instance } from '../../../lib/instance.js';
import { Troupe } from '../cli/troupe.js';
import { makeClient, poll, type Answer, type Client } from '../gateway/fixture.js';
import { cookiesOf } from '../records/office.js';

/**
 * The rest of the table of authority, on a whole gateway: the ways that start by themselves (a work item that
 * changes, the clock, a program that looks, a message from outside, a letter that is sent again), and people as
 * callers. On none of them may anybody do what is refused directly. Where a way is narrower, the rule has a name.
 */
const agents = ['self', 'child', 'above', 'root', 'beside', 'promoted', 'anonymous', 'stopped'] as const;
const people = ['operator', 'device'] as const;
const callers = [...people, ...agents] as const;
type Who = (typeof callers)[number];

/** Only an employee owns a workflow: a session that acts as no one writes none, and a stopped one nothing. */
const writesNothing: readonly Who[] = ['anonymous', 'stopped'];

/** With whose rights each of them acts, and so what it may own. */
const employees: Readonly<Record<(typeof agents)[number], string | null>> = {
  self: 'ann',
  child: 'ann',
  above: 'bob',
  root: 'chief',
  beside: 'cat',
  promoted: 'ann',
  anonymous: null,
  stopped: null,
};

const roster = {
  chief: ['board', 'rank: executive\n'],
  bob: ['build', 'rank: manager\nreportsTo: chief\n'],
  ann: ['build', 'rank: employee\nreportsTo: bob\n'],
  cat: ['sales', 'rank: employee\nreportsTo: chief\n'],
} as const;

/** As a step, and the same directly. */
const operations: Readonly<
  Partial<
    Record<WorkItemOperation, { fields: object; direct: (client: Client, item: string) => Promise<Answer> }>
  >
> = {
  status: {
    fields: { status: 'executing' },
    direct: (client, item) => client.post(`/api/work-items/${item}/status`, { status: 'executing' }),
  },
  assign: {
    fields: { assignee: 'cat' },
    direct: (client, item) => client.post(`/api/work-items/${item}/assign`, { assignee: 'cat' }),
  },
  comment: {
    fields: { text: 'x' },
    direct: (client, item) => client.post(`/api/work-items/${item}/comments`, { text: 'x' }),
  },
  archive: { fields: {}, direct: (client, item) => client.post(`/api/work-items/${item}/archive`) },
};

describe('the table of authority: what starts by itself', function () {
  this.timeout(240_000);
  let troupe: Troupe;
  let instance: Instance;
  let clients: Readonly<Record<Who, Client>>;
  const root = '/api/workflow-definitions';

  before(async () => {
    troupe = await Troupe.create();
    for (const [name, [department, text]] of Object.entries(roster)) {
      const file = join(troupe.home(), 'org', department, `${name}.yaml`);
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(file, text);
    }
    await writeFile(
      join(troupe.home(), 'config.yaml'),
      JSON.stringify({
        agents: { sandbox: 'off' }, // nothing here is started that would be confined, but for the polls
        engines: { default: 'echo', echo: { command: ['/bin/cat'] } },
        connectors: {
          instances: [
            {
              name: 'hook',
              type: 'webhook',
              url: 'http://127.0.0.1:9/',
              secret: { file: await secretFile() },
              employee: 'ann',
              allowFrom: ['eva'],
            },
          ],
        },
      }),
    );
    instance = await startInstance({ home: troupe.home(), port: 0 });
    const port = Number(new URL(instance.url).port);
    const operator = makeClient(port, {
      authorization: `Bearer ${(await troupe.announcement()).token}`,
    });
    const open = async (by: Client, employee: string | null): Promise<readonly [string, Client]> => {
      const opened = await by.post('/api/sessions', { prompt: 'x', ...(employee !== null && { employee }) });
      expect(opened.status, opened.text).to.equal(201);
      const id = opened.body.id as string;
      // the end of its turn takes the token of that turn away
      await poll(
        () => operator.get(`/api/sessions/${id}`),
        ({ body }) => body.status === 'idle',
      );
      return [id, makeClient(port, { authorization: `Bearer ${instance.tokens.mint(id)}` })];
    };
    const [, self] = await open(operator, 'ann');
    const [stoppedId, stopped] = await open(operator, 'chief');
    clients = {
      operator,
      device: await browserOf(port),
      self,
      child: (await open(self, 'ann'))[1],
      above: (await open(operator, 'bob'))[1],
      root: (await open(operator, 'chief'))[1],
      beside: (await open(operator, 'cat'))[1],
      promoted: (await open(self, 'chief'))[1],
      anonymous: (await open(operator, null))[1],
      stopped,
    };
    await operator.post(`/api/sessions/${stoppedId}/stop`);
  });
  after(async () => {
    await instance?.close();
    await troupe.clear();
  });

  async function secretFile(): Promise<string> {
    const path = join(troupe.folder, 'secret');
    await writeFile(path, 'a secret of the far side', { mode: 0o600 });
    return path;
  }

  /** A paired browser, as it sends cookies. */
  async function browserOf(port: number): Promise<Client> {
    const anyone = makeClient(port, {});
    const { challengeId, nonce, path } = (await anyone.post('/api/auth/pairing-challenges')).body;
    await writeFile(path, nonce, { mode: 0o600 });
    const { code } = (await anyone.post('/api/auth/pairing-codes', { challengeId })).body;
    const cookie = cookiesOf(await anyone.post('/api/auth/pair', { code }));
    return makeClient(port, { cookie, origin: `http://127.0.0.1:${port}` });
  }

  const newItem = async (assignee = 'ann'): Promise<string> =>
    (await clients.operator.post('/api/work-items', { title: 'x', assignee })).body.workItem.id as string;
  const ownerOf = (who: Who): string | null => (who in employees ? employees[who as 'self'] : 'ann');
  /** A workflow of one step; undefined where the caller may write none, by the rule of that name. */
  async function write(
    who: Who,
    title: string,
    actor: object,
    trigger?: object,
  ): Promise<string | undefined> {
    const owner = ownerOf(who);
    const made = await clients[who].post(`${root}/mutate`, {
      operation: 'create',
      definition: {
        title: `${title} ${who}`,
        ...(owner !== null && { owner }),
        nodes: [
          ...(trigger === undefined ? [] : [{ id: 't', type: 'trigger', trigger }]),
          { id: 'a', type: 'step', actor },
        ],
        edges: trigger === undefined ? [] : [{ from: 't', to: 'a' }],
      },
    });
    if (made.status === 201) return (made.body.definition ?? made.body).id as string;
    expect(made.status, `${title} ${who}: ${made.text}`).to.be.oneOf([401, 403]);
    expect(writesNothing, `${title} ${who}: ${made.text}`).to.include(who);
    return undefined;
  }
  const step = (operation: string, id: string, fields: object) => ({
    kind: 'work-item',
    operation,
    id,
    fields,
  });
  /** How the first run of a workflow ended. */
  async function ended(id: string): Promise<string> {
    const { body } = await poll(
      () => clients.operator.get(`${root}/${id}/runs`),
      ({ body: { runs } }) => ['completed', 'failed'].includes(runs[0]?.status as string),
    );
    return body.runs[0].status as string;
  }
  const states = async (id: string): Promise<unknown> =>
    (await clients.operator.get(`/api/inspect/actors/workflow/${id}`)).body.view.authority.state;

  for (const [operation, { fields, direct }] of Object.entries(operations))
    it(`a work item that changes does "${operation}" for no one who may not do it directly`, async () => {
      for (const who of callers) {
        const allowed = (await direct(clients[who], await newItem())).status < 300;
        const [watched, target] = [await newItem(ownerOf(who) ?? 'ann'), await newItem()];
        const id = await write(who, `Listen ${operation}`, step(operation, target, fields), {
          kind: 'todo-status-change',
          toStatus: 'executing',
          filter: { assignee: ownerOf(who) },
        });
        if (id === undefined) continue;
        const moved = await clients.operator.post(`/api/work-items/${watched}/status`, {
          status: 'executing',
        });
        expect(moved.status, moved.text).to.equal(200);
        expect((await ended(id)) === 'completed', `${operation} by ${who}`).to.equal(allowed);
        await clients.operator.post(`${root}/${id}/retire`);
      }
    });

  // Rule "starts by the clock": what an agent writes does so only once a person approved exactly that version
  it('the clock starts nothing that an agent wrote before a person approved it', async () => {
    const daily = { kind: 'schedule', cron: '0 9 * * *', timezone: 'UTC' };
    for (const who of callers) {
      const id = await write(who, 'Daily', step('archive', await newItem(), {}), daily);
      if (id === undefined) continue;
      const job = `/api/cron/workflow:${id}`;
      const isPerson = people.some((one) => one === who);
      expect(await states(id), who).to.equal(isPerson ? 'approved' : 'pending_approval');
      expect((await clients.operator.get(job)).status, `the job of ${who}`).to.equal(isPerson ? 200 : 404);
      if (!isPerson) {
        expect((await clients[who].post(`${job}/trigger`)).status, who).to.equal(403);
        const decide = (by: Client) =>
          by.post('/api/workflow-approvals', {
            decision: 'approve',
            versions: [{ workflowId: id, version: 1 }],
          });
        expect((await decide(clients[who])).status, who).to.equal(403);
        expect((await decide(clients.device)).status, who).to.equal(200);
      }
      expect((await clients.device.post(`${job}/trigger`)).status, who).to.equal(200);
      expect(await ended(id), `lent to ${who}`).to.equal('completed');
    }
  });

  // Rule "people bind programs": a poll runs a program on this machine
  it('a program that looks is bound by people alone, and lends nothing to what an agent wrote', async () => {
    const bind = (by: Client, name: string, targetWorkflowId: string) =>
      by.post('/api/workflow-triggers', {
        kind: 'poll',
        name,
        event: 'found',
        targetWorkflowId,
        command: ['/bin/sh', '-c', `printf '{"fire": true, "fireRef": "${name}"}'`],
      });
    for (const who of callers) {
      const target = await newItem();
      const allowed = (await direct('archive', who)).status < 300;
      const id = await write(who, 'Look', step('archive', target, {}));
      if (id === undefined) continue;
      const name = `look-${who}`;
      const isPerson = people.some((one) => one === who);
      const own = await bind(clients[who], name, id);
      expect(own.status, own.text).to.equal(isPerson ? 201 : 403);
      if (!isPerson) expect((await bind(clients.operator, name, id)).status).to.equal(201);
      const activate = (by: Client) =>
        by.post(`/api/workflow-triggers/${name}/activation-approval`, { decision: 'approve' });
      if (!isPerson) expect((await activate(clients[who])).status, who).to.equal(403);
      expect((await activate(clients.device)).status, who).to.equal(200);
      expect((await ended(id)) === 'completed', `a poll of ${who}`).to.equal(allowed);
    }
  });
  const direct = async (operation: 'archive', who: Who): Promise<Answer> =>
    clients[who].post(`/api/work-items/${await newItem()}/${operation}`);

  // Rule "sends through a connector": not before a person approved exactly that version
  it('a connector takes from outside what the operator lets in, and sends nothing that no person approved', async () => {
    const message = { id: 'm1', from: 'eva', channel: 'c', thread: null, text: 'hello' };
    expect(await receiveMessage(instance.app, 'hook', { ...message, from: 'mallory' } as never)).to.equal(
      'ignored',
    );
    expect(await receiveMessage(instance.app, 'hook', message as never)).to.equal('heard');
    const { sessions } = (await clients.operator.get('/api/sessions')).body;
    const heard = sessions.find(({ source }: { source?: string }) => source === 'connector');
    expect(heard?.actsAs ?? (await clients.operator.get(`/api/sessions/${heard?.id}`)).body.actsAs).to.equal(
      'ann',
    );
    for (const who of agents) {
      const actor = { kind: 'connector-send', connector: 'hook', channel: 'c', text: 'x' };
      const id = await write(who, 'Send', actor);
      if (id === undefined) continue;
      expect(await states(id), who).to.equal('pending_approval');
      for (const by of [clients[who], clients.operator])
        expect((await by.post(`${root}/${id}/run`, {})).body, who).to.include({ code: 'PENDING_APPROVAL' });
    }
  });

  // Rule "people retry": spec/lib/supervisor/delivery/dead-letters.spec.ts judges the letter as its sender and its causes
  it('a letter that no one could read is sent again by people alone', async () => {
    for (const who of callers) {
      const { status, text } = await clients[who].post('/api/inspect/dead-letters/none/retry');
      expect(status, `${who}: ${text}`).to.equal(
        people.some((one) => one === who) ? 404 : who === 'stopped' ? 401 : 403,
      );
    }
  });
});
