import { writeFile } from 'node:fs/promises';
import { deliveryIdOf } from '../../lib/client/decision.js';
import type { Random } from '../crash/random.js';
import { chain } from '../machines/graph/graphs.js';
import { people, skillNames, skillText, until, type Victim } from './victim.js';

interface Waits {
  readonly what: string;
  readonly waitingId: string;
}

/**
 * What is true in the home under test: actors that exist, by kind of path. Filled by an operator with plain
 * requests before every batch, so that most requests of the batch reach something, however much of it they
 * remove.
 */
export class World {
  readonly ids: Record<string, string[]> = {
    sessions: [],
    'work-items': [],
    comments: [],
    cron: [],
    files: [],
    'workflow-definitions': [],
    busy: [],
    challenges: [],
    filePaths: [],
    messages: [],
  };
  agent: { readonly id: string; readonly token: string } | undefined;
  browser: { readonly id: string; readonly cookies: string } | undefined;
  kinds: readonly string[] = [];
  tools: readonly { readonly name: string; readonly inputSchema: Readonly<Record<string, unknown>> }[] = [];
  #round = 0;

  constructor(readonly victim: Victim) {}

  async tend(): Promise<void> {
    const { ids } = this;
    this.#round += 1;
    await this.victim.furnish();
    let known: unknown = await this.ask('GET', '/api/org');
    await until(
      async () =>
        people.every((name) => JSON.stringify(known).includes(`"${name}"`)) ||
        ((known = await this.ask('GET', '/api/org')), false),
      'everybody to be back',
    );
    await this.#keepAgent();
    for (let n = 0; n < 4; n++) {
      this.#know(
        'work-items',
        await this.#post('/api/work-items', { title: `Plant ${this.#round}.${n}`, assignee: people[n] }),
      );
      this.#know(
        'sessions',
        await this.#post('/api/sessions', { prompt: 'add water the plants', employee: people[n] }),
      );
    }
    this.#know(
      'comments',
      await this.#post(`/api/work-items/${ids['work-items']?.at(-1)}/comments`, { text: 'Watered.' }),
    );
    await this.#post(`/api/work-items/${ids['work-items']?.at(-1)}/approval/request`, { request: 'May I?' });
    for (let n = 0; n < 2; n++) {
      this.#know(
        'cron',
        await this.#post('/api/cron', { prompt: 'list', schedule: '0 0 1 1 *', name: `job ${this.#round}` }),
      );
      this.#know(
        'workflow-definitions',
        await this.#post('/api/workflow-definitions', {
          ...chain('a', 'b'),
          title: `Flow ${this.#round} ${n}`,
        }),
      );
      const file = await this.#post('/api/files', {
        content: Buffer.from('hello world').toString('base64'),
        filename: 'hello.txt',
      });
      this.#know('files', file);
      this.#know('filePaths', { id: file['path'] });
    }
    const flow = ids['workflow-definitions']?.at(-1);
    this.#know('runs', await this.#post(`/api/workflow-definitions/${flow}/run`, {}));
    ids['flows'] = [flow ?? ''];
    ids['runs'] = ids['runs']?.slice(-1) ?? []; // of that workflow
    await this.#post('/api/connectors/hook/send', { channel: 'lost', text: 'It may have arrived.' });
    const { waiting } = (await this.ask('GET', '/api/attention')) as { waiting?: readonly Waits[] };
    ids['deliveries'] = (waiting ?? [])
      .filter(({ what }) => what === 'unknown-delivery')
      .map(({ waitingId }) => deliveryIdOf(waitingId));
    await this.#pair();
    const busy = (await this.#isRunning(ids['busy']?.[0]))
      ? ids['busy']?.[0]
      : (await this.#post('/api/sessions', { prompt: 'wait', engine: 'keeper' }))['id'];
    ids['busy'] = [String(busy)];
    await this.#post(`/api/sessions/${String(busy)}/queue/resume`, {});
    for (const prompt of ['then', 'and then'])
      await this.#post(`/api/sessions/${String(busy)}/message`, { prompt });
    const queue = Object.values(await this.ask('GET', `/api/sessions/${String(busy)}/queue`)) as readonly {
      readonly id: string;
    }[];
    ids['queued'] = queue.map(({ id }) => id);
    const first = ids['sessions']?.at(-1);
    const { messages } = (await this.ask('GET', `/api/sessions/${first}`)) as {
      messages?: readonly { id: string }[];
    };
    if (messages?.[0]) this.#know('messages', messages[0]);
    if (this.kinds.length > 0) return;
    this.kinds =
      Object.keys((await this.ask('GET', '/api/inspect/machines')) as object).length > 0
        ? ['session', 'work-item', 'connector', 'file', 'cron-job', 'workflow']
        : [];
    const listed = await this.#post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    this.tools = (listed['result'] as { tools?: World['tools'] } | undefined)?.tools ?? [];
  }

  /** A true word for a member or a parameter of that name; nothing for those that any text will do for. */
  word(operation: string, name: string, random: Random): unknown {
    const { ids } = this;
    const one = (kind: string): string => (ids[kind]?.length ? random.pick(ids[kind]) : 'none');
    switch (name) {
      case 'employee':
      case 'assignee':
      case 'reportsTo':
        return random.pick(people);
      case 'department':
        return random.pick(['build', 'board', 'sales']);
      case 'engine':
        return 'clerk';
      case 'model':
      case 'effort':
      case 'effortLevel':
      case 'cwd':
        return null;
      case 'sessionId':
      case 'parent':
      case 'parentSessionId':
        return one('sessions');
      case 'workItemId':
      case 'other':
        return one('work-items');
      case 'attachment':
        return one('files');
      case 'messageId':
        return one('messages');
      case 'parentId':
        return one('work-items');
      case 'schedule':
        return random.pick(['0 * * * *', '*/5 0-6 1,15 * 1-5', '0 0 1 1 *']);
      case 'timezone':
        return random.pick(['Europe/Berlin', 'UTC', 'Asia/Kolkata']);
      case 'connector':
        return 'hook';
      case 'channel':
        return 'general';
      case 'content':
        return Buffer.from('some bytes').toString('base64');
      case 'url':
        return `http://127.0.0.1:1/${random.pick(['x', 'y?z'])}`;
      case 'definition':
        return { ...chain('a', 'b'), title: `Flow ${random.between(1, 1e9)}` };
      case 'kind':
        return this.kinds.length > 0 ? random.pick(this.kinds) : 'session';
      case 'worktree':
        return false;
      case 'dueAt':
        return '2030-01-02';
      case 'challengeId':
        return ids['challenges']?.at(-1) ?? 'none';
      case 'target':
        return operation.includes('approval') ? random.pick(people) : undefined;
      case 'id':
        return operation === 'POST /api/sessions/bulk-delete' ? one('sessions') : undefined;
      case 'path':
        return operation.includes('knowledge')
          ? random.pick(['tea.md', 'knowledge/tea.md', 'docs/house.md'])
          : one('filePaths');
      default:
        return undefined;
    }
  }

  /** A whole body, where its members hang together. */
  body(operation: string, params: Readonly<Record<string, string>>, random: Random): unknown {
    switch (operation) {
      case 'PUT /api/skills/{name}':
        return { content: skillText(params['name'] ?? '') };
      case 'PUT /api/workflow-definitions/{id}':
        return { definition: { ...chain('a', 'c'), title: 'Changed', name: params['id'] } };
      case 'POST /api/workflow-definitions':
        return { ...chain('a', 'b'), title: `Flow ${random.between(1, 1e9)}` };
      case 'PATCH /api/org/employees/{name}':
        return random.pick([
          { displayName: 'Ann B.' },
          { persona: 'Leads.\nAnd reads.' },
          { engine: null },
          { cliFlags: ['--x'] },
          { monthlyBudgetUsd: 20 },
          { alwaysNotify: true },
        ]);
      case 'PUT /api/org/departments/{name}/board':
        return random.pick([[], { columns: [] }, [{ id: '1', title: 'x' }]]);
      case 'POST /api/files':
        return { content: Buffer.from('hello').toString('base64'), filename: 'hello.txt' };
      case 'POST /api/sessions/{id}/attachments':
        return { content: Buffer.from('hello').toString('base64'), filename: 'hello.txt', text: 'See.' };
      case 'POST /api/sessions/{id}/message':
        return { prompt: random.pick(['list', 'add tea', 'help']) };
      case 'POST /api/sessions':
        return {
          prompt: 'list',
          ...(random.chance(0.5) && { employee: random.pick(people) }),
          ...(random.chance(0.3) && { title: 'T' }),
        };
      case 'POST /api/inspect/actors/{kind}/{id}/send':
        return {
          event: {
            type: random.pick([
              'session.stop',
              'queue.pause',
              'queue.resume',
              'queue.clear',
              'item.comment',
              'item.move',
              'file.remove',
              'x',
            ]),
            reason: 'fuzz',
            text: 'hello',
            commentId: 'c1',
            status: 'blocked',
          },
        };
      case 'POST /mcp':
        return this.#call(random);
      // Whatever else it says, it stays in the temporary folder, and mostly meets a folder that is not empty.
      case 'POST /api/backup':
        return {
          target: random.chance(0.02)
            ? `${this.victim.home}-backup/${random.between(1, 1e9)}`
            : this.victim.home,
        };
      case 'PATCH /api/work-items/{id}':
        return { title: 'Renamed', expectedVersion: random.between(1, 3) };
      default:
        return undefined;
    }
  }

  /** A value for a parameter of a path. */
  param(path: string, name: string, random: Random): string {
    const one = (kind: string): string => (this.ids[kind]?.length ? random.pick(this.ids[kind]) : 'none');
    const resource = path.split('/')[2] ?? '';
    if (name === 'runId') return one('runs');
    if (path.includes('{runId}') && name === 'id') return one('flows');
    if (resource === 'auth') return this.browser?.id ?? 'none';
    if (path.startsWith('/inspect/')) return random.pick(['page.js', 'index.html', 'style.css']);
    if (name === 'commentId') return one('comments');
    if (name === 'relation') return random.pick(['blocks', 'relates', 'duplicates']);
    if (name === 'other') return one('work-items');
    if (name === 'kind') return String(this.word('', 'kind', random));
    if (name === 'seq') return String(random.between(1, 500));
    if (resource === 'skills') return random.pick(skillNames);
    if (name === 'deliveryId') return one('deliveries');
    if (resource === 'connectors') return 'hook';
    if (path.includes('employees')) return random.pick(people);
    if (path.includes('departments')) return random.pick(['build', 'board', 'sales']);
    if (path.includes('/queue')) return name === 'id' ? one('busy') : one('queued');
    if (resource === 'inspect')
      return one(random.pick(['sessions', 'work-items', 'files', 'cron', 'workflow-definitions']));
    return this.ids[resource] ? one(resource) : 'none';
  }

  async ask(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await fetch(`http://127.0.0.1:${this.victim.port}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.victim.token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Record<string, unknown>;
  }

  #call(random: Random): unknown {
    const tool = this.tools.length === 0 ? { name: 'x', inputSchema: {} } : random.pick(this.tools);
    const params = { name: tool.name, arguments: this.toolArguments(tool.inputSchema, random) };
    return {
      jsonrpc: '2.0',
      id: random.between(1, 99),
      ...random.pick([
        { method: 'tools/list' },
        { method: 'ping' },
        {
          method: 'initialize',
          params: {
            protocolVersion: '2025-06-18',
            capabilities: {},
            clientInfo: { name: 'f', version: '1' },
          },
        },
        ...Array.from({ length: 6 }, () => ({ method: 'tools/call', params })),
      ]),
    };
  }

  toolArguments: (schema: Readonly<Record<string, unknown>>, random: Random) => unknown = () => ({});

  /**
   * A browser of this machine, paired as `troupe pair` does it. Outsiders share a limit with it: then the old
   * one must do.
   */
  async #pair(): Promise<void> {
    const url = `http://127.0.0.1:${this.victim.port}/api/auth/`;
    const post = (path: string, body: object): Promise<Response> =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const proven = async (): Promise<string | undefined> => {
      const { challengeId, nonce, path } = (await (await post('pairing-challenges', {})).json()) as Record<
        string,
        string | undefined
      >;
      if (path !== undefined && nonce !== undefined) await writeFile(path, nonce, { mode: 0o600 });
      return challengeId;
    };
    const spare = await proven();
    if (spare !== undefined) this.ids['challenges'] = [spare];
    const { code } = (await (await post('pairing-codes', { challengeId: await proven() })).json()) as {
      code?: string;
    };
    const paired = await post('pair', { code: code ?? '' });
    const cookies = paired.headers
      .getSetCookie()
      .map((one) => one.split(';', 1)[0])
      .join('; ');
    if (!paired.ok) return;
    const { devices } = (await this.ask('GET', '/api/auth/devices')) as {
      devices?: readonly { id: string }[];
    };
    this.browser = { id: devices?.[0]?.id ?? 'none', cookies };
  }

  async #keepAgent(): Promise<void> {
    if (await this.#isRunning(this.agent?.id)) return;
    const { id } = (await this.#post('/api/sessions', {
      prompt: 'stay',
      engine: 'keeper',
      employee: 'bob',
    })) as { id: string };
    this.agent = { id, token: await this.victim.tokenOf(id) };
  }

  async #isRunning(id: string | undefined): Promise<boolean> {
    return (
      id !== undefined && (await this.ask('GET', `/api/sessions/${id}?messages=0`))['status'] === 'running'
    );
  }

  #post(path: string, body: unknown): Promise<Record<string, unknown>> {
    return this.ask('POST', path, body);
  }

  /** Answers name what was made by `id`, or hold it in a member. */
  #know(kind: string, made: Record<string, unknown>): string {
    const { id } = [made, ...Object.values(made)].find(
      (each): each is { id: string } => typeof (each as { id?: unknown } | null)?.id === 'string',
    ) ?? { id: undefined };
    const list = (this.ids[kind] ??= []);
    if (typeof id !== 'string')
      throw new Error(`a ${kind} could not be made: ${JSON.stringify(made).slice(0, 300)}`);
    list.push(id);
    if (list.length > 40) list.shift();
    return id;
  }
}
