import { expect } from 'chai';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callerKinds, authorityIds, verdict, type AuthorityId } from '../../../lib/gateway/authorization.js';
import { openEvidence } from '../../../lib/records/evidence/evidence.js';
import { openHouse, poll, type Answer, type Client, type House } from './fixture.js';

const root = '/api/workflow-definitions';
const noop = (id: string, more: object = {}) => ({ id, type: 'step', actor: { kind: 'noop' }, ...more });
const line = (title: string, more: object = {}) => ({
  title,
  nodes: [{ id: 't', type: 'trigger' }, noop('a'), noop('b')],
  edges: [
    { id: 'ta', from: 't', to: 'a' },
    { id: 'ab', from: 'a', to: 'b' },
  ],
  ...more,
});

describe('/api/workflow-definitions', () => {
  let house: House;
  let folder: string;
  let agents: Readonly<Record<string, Client>>;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'workflows-'));
    house = await openHouse({ withRoster: true, evidence: await openEvidence({ standard: folder }) });
    const agent = async (employee: string | null): Promise<Client> => {
      const id = `of-${employee ?? 'nobody'}`;
      await house.supervisor.spawn('session', {
        id,
        input: {
          engine: 'pen',
          model: null,
          effort: null,
          employee,
          parentSessionId: null,
          ancestors: [],
          workItemId: null,
          title: null,
          cwd: house.home,
          source: 'web',
          sourceRef: null,
          interruptOnNewMessage: true,
          turnDeadlineMs: 1000,
        },
      });
      return house.agent(id);
    };
    agents = {
      ann: await agent('ann'),
      bob: await agent('bob'),
      cat: await agent('cat'),
      chief: await agent('chief'),
      anonymous: await agent(null),
    };
  });
  after(async () => {
    await house.close();
    await rm(folder, { recursive: true, force: true });
  });
  const create = (definition: object, client: Client = house.operator): Promise<Answer> =>
    client.post(`${root}/mutate`, { operation: 'create', definition });
  const update = (
    workflowId: string,
    patch: object,
    expectedVersion?: number,
    client: Client = house.operator,
  ): Promise<Answer> =>
    client.post(`${root}/mutate`, {
      operation: 'update',
      workflowId,
      patch,
      ...(expectedVersion !== undefined && { expectedVersion }),
    });

  describe('mutate create', () => {
    it('answers 201 with the definition in its normal form, version 1', async () => {
      const { status, body } = await create(line('Morning digest'));
      expect(status).to.equal(201);
      expect(body.definition).to.include({
        id: 'morning-digest',
        name: 'morning-digest',
        schemaVersion: 1,
        version: 1,
        status: 'active',
        concurrency: 1,
        createdBy: 'operator',
      });
      expect(body.definition.nodes[1]).to.deep.include({
        id: 'a',
        label: 'a',
        optional: false,
        actor: { kind: 'noop' },
      });
      expect(body.definition.nodes[1].options).to.deep.include({
        onError: 'fail-run',
        retry: { maxAttempts: 2, on: ['interrupted'], delayMs: 0 },
      });
      expect(
        body.definition.nodes.map(({ position }: { position: { x: number } }) => position.x),
      ).to.deep.equal([0, 260, 520]);
      const read = await house.operator.get(`${root}/morning-digest`);
      expect(read.body).to.deep.equal(body.definition);
    });

    it('tells all faults at once, each with what it is about, and writes nothing', async () => {
      const { status, body } = await create({
        title: 'Broken',
        nodes: [
          { id: 't', type: 'trigger' },
          { id: 's', type: 'switch' },
          { id: 'w', type: 'wait' },
          { id: 'x', type: 'dance' },
          { id: 'lost', type: 'step', actor: { kind: 'employee' } },
        ],
        edges: [
          { id: 'e', from: 't', to: 's' },
          { id: 'f', from: 's', to: 'w', when: [{ path: 'process.env', op: 'eq', value: 1 }] },
          { id: 'g', from: 's', to: 'nowhere' },
        ],
      });
      expect(status).to.equal(400);
      expect(body).to.include({ error: 'definition failed validation', code: 'WORKFLOW_INVALID' });
      const told = body.errors.map(({ code, ref }: { code: string; ref: string }) => `${code} ${ref}`);
      expect(told).to.include.members([
        'bad-wait w',
        'bad-node-type x',
        'actor-missing-ref lost',
        'bad-edge-condition f',
        'dangling-edge g',
        'unreachable-node lost',
        'switch-without-default s',
        'dead-end w',
      ]);
      expect((await house.operator.get(`${root}/broken`)).status).to.equal(404);
    });

    it('knows a name among very many that begin with it: it once looked at a hundred of them', async () => {
      for (let n = 1; n <= 101; n += 1) expect((await create(line(`Twin ${n}`))).status).to.equal(201);
      await create(line('Twin', { id: 'first-of-them', name: 'twin' }));
      expect(
        (await house.operator.post('/api/workflow-runs/by-name', { name: 'twin' })).body.workflowId,
      ).to.equal('first-of-them');
      expect((await create(line('Another', { id: 'another', name: 'twin' }))).status).to.equal(409);
    });

    it('refuses an id and a name that are taken, also to two who ask at once', async () => {
      await create(line('Twice'));
      expect(await create(line('Twice')).then(({ status, body }) => [status, body.error])).to.deep.equal([
        409,
        'workflow "twice" already exists',
      ]);
      expect((await create(line('Other', { id: 'other', name: 'twice' }))).status).to.equal(409);
      const both = await Promise.all([
        create(line('One', { id: 'one', name: 'race' })),
        create(line('Two', { id: 'two', name: 'race' })),
      ]);
      expect(both.map(({ status }) => status).sort((a, b) => a - b)).to.deep.equal([201, 409]);
    });

    it('answers a repeated key with the same workflow, and another body with 409', async () => {
      const body = { operation: 'create', definition: line('Keyed'), idempotencyKey: 'k-1' };
      expect((await house.operator.post(`${root}/mutate`, body)).status).to.equal(201);
      const again = await house.operator.post(`${root}/mutate`, body);
      expect([
        again.status,
        again.headers['idempotency-replayed'],
        again.body.definition.version,
      ]).to.deep.equal([201, 'true', 1]);
      expect(
        (
          await house.operator.post(`${root}/mutate`, {
            ...body,
            definition: line('Keyed', { concurrency: 2 }),
          })
        ).body.code,
      ).to.equal('IDEMPOTENCY_CONFLICT');
    });

    it('rehearses with dryRun and keeps nothing', async () => {
      const { status, body } = await house.operator.post(`${root}/mutate?dryRun=true`, {
        operation: 'create',
        definition: line('Dry'),
      });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect((await house.operator.get(`${root}/dry`)).status).to.equal(404);
    });

    it('makes a workflow of a procedure', async () => {
      const sop = {
        title: 'Weekly',
        wakeUp: { cron: '0 9 * * 1', timezone: 'Europe/Berlin' },
        steps: [
          { title: 'Read', employee: 'ann', instructions: 'Read it.' },
          { title: 'Write', engine: 'pen' },
        ],
      };
      const { body } = await house.operator.post(`${root}/mutate`, { operation: 'create', sop });
      expect(body.definition.nodes[0].trigger).to.deep.equal({
        kind: 'schedule',
        cron: '0 9 * * 1',
        timezone: 'Europe/Berlin',
        until: null,
      });
      expect(body.definition.edges.map(({ kind }: { kind: string }) => kind)).to.deep.equal([
        'sequence',
        'handoff',
      ]);
    });
  });

  describe('mutate update', () => {
    it('writes the next version and keeps the ones before', async () => {
      await create(line('Grow'));
      const { status, body } = await update('grow', { title: 'Grown', concurrency: 3 }, 1);
      expect([
        status,
        body.definition.version,
        body.definition.title,
        body.definition.concurrency,
      ]).to.deep.equal([200, 2, 'Grown', 3]);
      expect((await house.operator.get(`${root}/grow?version=1`)).body).to.include({
        version: 1,
        title: 'Grow',
        concurrency: 1,
      });
      expect((await house.operator.get(`${root}/grow?version=3`)).status).to.equal(404);
      expect(
        (await house.operator.get(`${root}/grow/versions`)).body.versions.map(
          ({ version }: { version: number }) => version,
        ),
      ).to.deep.equal([2, 1]);
    });

    it('refuses a stale version with 409 and the current one; nothing moved', async () => {
      await create(line('Stale'));
      await update('stale', { title: 'Second' });
      const { status, body } = await update('stale', { title: 'Third' }, 1);
      expect(status).to.equal(409);
      expect(body).to.include({
        code: 'VERSION_CONFLICT',
        currentVersion: 2,
        error: 'version conflict: expected 1, on disk 2',
      });
      expect((await house.operator.get(`${root}/stale`)).body.title).to.equal('Second');
    });

    it('overlooks no write where no version is expected: each lands on the one before', async () => {
      await create(line('Crowd'));
      const patches = [
        { title: 'T' },
        { description: 'D' },
        { concurrency: 4 },
        { owner: 'ann' },
        { department: 'build' },
      ];
      expect(
        (await Promise.all(patches.map((patch) => update('crowd', patch)))).map(({ status }) => status),
      ).to.deep.equal([200, 200, 200, 200, 200]);
      expect((await house.operator.get(`${root}/crowd`)).body).to.include({
        version: 6,
        title: 'T',
        description: 'D',
        concurrency: 4,
        owner: 'ann',
        department: 'build',
      });
    });

    it('refuses what a patch may not touch, and what no definition has', async () => {
      await create(line('Fixed'));
      const { body } = await update('fixed', { version: 9, createdBy: 'me', colour: 'red' });
      expect(body.errors.map(({ message }: { message: string }) => message).join())
        .to.include('version of a definition cannot be changed')
        .and.include('createdBy of a definition')
        .and.include('colour');
      expect((await update('nobody', { title: 'x' })).status).to.equal(404);
    });

    it('writes once for a repeated key, and rehearses without writing', async () => {
      await create(line('Once'));
      const body = {
        operation: 'update',
        workflowId: 'once',
        patch: { title: 'Once more' },
        idempotencyKey: 'u-1',
      };
      for (const replayed of [undefined, 'true']) {
        const answer = await house.operator.post(`${root}/mutate`, body);
        expect([
          answer.status,
          answer.body.definition.version,
          answer.headers['idempotency-replayed'],
        ]).to.deep.equal([200, 2, replayed]);
      }
      const rehearsed = await house.operator.post(`${root}/mutate?dryRun=true`, {
        ...body,
        idempotencyKey: undefined,
        patch: { title: 'Never' },
      });
      expect(rehearsed.status, rehearsed.text).to.equal(200);
      expect((await house.operator.get(`${root}/once`)).body).to.include({ version: 2, title: 'Once more' });
    });

    it('lets edges follow a new ceiling of the loop', async () => {
      await create(
        line('Loop', {
          loop: { maxRoundsPerRun: 3 },
          edges: [
            { id: 'ta', from: 't', to: 'a' },
            { id: 'ab', from: 'a', to: 'b' },
            { id: 'ba', from: 'b', to: 'a', kind: 'loop' },
          ],
        }),
      );
      const { body } = await update('loop', { loop: { maxRoundsPerRun: 7 } });
      expect(body.definition.edges[2].maxRounds).to.equal(7);
    });
  });

  it('writes directly: POST the definition, PUT it whole', async () => {
    const made = await house.operator.post(root, line('Direct'));
    expect([made.status, made.body.id]).to.deep.equal([201, 'direct']);
    const put = await house.operator.call('PUT', `${root}/direct`, {
      definition: { ...made.body, title: 'Put' },
      expectedVersion: 1,
    });
    expect([put.status, put.body.version, put.body.title, put.body.createdBy]).to.deep.equal([
      200,
      2,
      'Put',
      'operator',
    ]);
    expect(
      (await house.operator.call('PUT', `${root}/direct`, line('Bare', { id: 'direct', name: 'direct' })))
        .body.title,
    ).to.equal('Bare');
    expect(
      (await house.operator.call('PUT', `${root}/direct`, { definition: line('x'), expectedVersion: 1 })).body
        .currentVersion,
    ).to.equal(3);
  });

  it('keeps its name when it is PUT without one: what is started by name would start no more', async () => {
    const { body: definition } = await house.operator.post(root, { ...line('Called'), name: 'by-its-name' });
    const put = await house.operator.call('PUT', `${root}/${definition.id}`, line('Another title'));
    expect([put.status, put.body.name, put.body.title]).to.deep.equal([200, 'by-its-name', 'Another title']);
  });

  it('refuses a blank title, and says of what is fixed that it is', async () => {
    const { body: definition } = await house.operator.post(root, { ...line('Titled'), name: 'titled' });
    const patch = async (change: object): Promise<{ code: string; message: string; ref?: string }[]> =>
      (
        await house.operator.post(`${root}/mutate`, {
          operation: 'update',
          workflowId: definition.id,
          patch: change,
        })
      ).body.errors;
    expect((await patch({ title: ' ' })).map(({ code }) => code)).to.deep.equal(['missing-title']);
    expect((await patch({ version: 9 })).map(({ message }) => message)).to.deep.equal([
      'version of a definition cannot be changed',
    ]);
  });

  it('duplicates; what wakes by itself is created paused', async () => {
    await create(line('Source'));
    expect((await house.operator.post(`${root}/source/duplicate`)).body).to.include({
      id: 'source-copy',
      status: 'active',
      version: 1,
    });
    expect((await house.operator.post(`${root}/source/duplicate`)).body).to.include({
      id: 'source-copy-2',
    });
    await create(
      line('Clock', {
        nodes: [
          { id: 't', type: 'trigger', trigger: { kind: 'schedule', cron: '* * * * *' } },
          noop('a'),
          noop('b'),
        ],
      }),
    );
    expect((await house.operator.post(`${root}/clock/duplicate`, { title: 'Second clock' })).body).to.include(
      { id: 'second-clock', status: 'paused' },
    );
  });

  it('pauses, resumes and retires, each once; a retired one changes no more', async () => {
    await create(line('Life'));
    for (const [verb, status, version] of [
      ['pause', 'paused', 2],
      ['pause', 'paused', 2],
      ['resume', 'active', 3],
      ['retire', 'retired', 4],
      ['retire', 'retired', 4],
    ] as const) {
      expect((await house.operator.post(`${root}/life/${verb}`)).body, verb).to.include({
        status,
        version,
      });
    }
    expect((await update('life', { title: 'No' })).status).to.equal(409);
    expect((await house.operator.post(`${root}/life/resume`)).status).to.equal(409);
    expect((await create(line('Again', { id: 'again', name: 'life' }))).status, 'its name is free').to.equal(
      201,
    );
    const { definitions } = (await house.operator.get(`${root}?status=retired`)).body;
    expect(definitions.map(({ id }: { id: string }) => id)).to.deep.equal(['life']);
  });

  describe('plan', () => {
    it('shows how it would run, and saves nothing', async () => {
      const { status, body } = await house.operator.post(`${root}/plan`, { definition: line('Planned') });
      expect(status).to.equal(200);
      expect(body).to.include({ ok: true, diff: null });
      expect(body.execution.plan).to.deep.include({
        stepOrder: ['a', 'b'],
        waves: [['t'], ['a'], ['b']],
        hasApprovalGate: false,
        trigger: { kind: 'manual', declaresCronJobId: null },
      });
      expect(body.layout.normalizedPreview.nodes[2].position).to.deep.equal({ x: 520, y: 0 });
      expect((await house.operator.get(`${root}/planned`)).status).to.equal(404);
    });

    it('tells what it would change, and who in it is not here', async () => {
      await create(line('Known'));
      const { body } = await house.operator.post(`${root}/plan`, {
        workflowId: 'known',
        patch: {
          title: 'New',
          nodes: [
            { id: 't', type: 'trigger' },
            noop('a', { actor: { kind: 'employee', ref: 'zoe' } }),
            noop('c'),
          ],
          edges: [
            { id: 'ta', from: 't', to: 'a' },
            { id: 'ac', from: 'a', to: 'c' },
          ],
        },
      });
      expect(body.diff).to.deep.equal({
        storedVersion: 1,
        changed: true,
        members: ['title'],
        nodes: { added: ['c'], removed: ['b'], changed: ['a'] },
        edges: { added: ['ac'], removed: ['ab'], changed: [] },
      });
      expect(body.warnings).to.deep.equal([
        { code: 'unknown-employee', message: 'unknown employee "zoe"', ref: 'a' },
      ]);
      const stored = (await house.operator.get(`${root}/known/plan`)).body;
      expect([stored.ok, stored.diff.changed]).to.deep.equal([true, false]);
    });

    it('names the node at which a run could get stuck', async () => {
      const { body } = await house.operator.post(`${root}/plan`, {
        definition: line('Stuck', {
          edges: [
            { id: 'ta', from: 't', to: 'a' },
            { id: 'ab', from: 'a', to: 'b' },
            { id: 'ba', from: 'b', to: 'a' },
          ],
        }),
      });
      expect(body).to.deep.include({ ok: false });
      expect(body.liveness.findings).to.have.length(1);
      expect(body.liveness.findings[0]).to.include({ code: 'non-loop-cycle', ref: 'a' });
      expect(body.liveness.findings[0].message).to.include('"a", "b"');
    });

    it('finds workflows that run each other in a circle, which none of them shows alone', async () => {
      const calling = (title: string, target: string) => ({
        title,
        nodes: [
          { id: 't', type: 'trigger' },
          noop('call', { actor: { kind: 'workflow', workflowId: target } }),
        ],
        edges: [{ id: 'e', from: 't', to: 'call' }],
      });
      expect((await create(calling('Ring one', 'ring-two'))).status).to.equal(201);
      expect((await create(calling('Ring two', 'ring-three'))).status).to.equal(201);
      const { status, body } = await create(calling('Ring three', 'ring-one'));
      expect([status, body.errors]).to.deep.equal([
        400,
        [
          {
            code: 'call-circle',
            message: 'step "call" runs "ring-one", which leads back to "ring-three" via ring-one, ring-two',
            ref: 'call',
          },
        ],
      ]);
      expect(
        (await house.operator.post(`${root}/plan`, { definition: calling('Ring three', 'ring-one') })).body
          .liveness.findings,
      ).to.have.length(1);
      expect(
        (await create({ ...calling('Ring three', 'ring-one'), owner: 'ann' }, agents['cat'])).status,
        'a stranger hears that they are one',
      ).to.equal(403);
      expect(
        (
          await update('ring-two', {
            nodes: [
              { id: 't', type: 'trigger' },
              noop('call', { actor: { kind: 'workflow', workflowId: 'ring-one' } }),
            ],
          })
        ).body.errors[0].code,
      ).to.equal('call-circle');
    });

    it('refuses what names nothing to plan', async () => {
      for (const body of [
        {},
        { definition: 3 },
        { definition: {}, sop: {} },
        { workflowId: 'absent-one', patch: {} },
      ])
        expect((await house.operator.post(`${root}/plan`, body)).status, JSON.stringify(body)).to.be.oneOf([
          400, 404,
        ]);
    });
  });

  describe('authority', () => {
    const asks: Partial<Record<AuthorityId, (client: Client) => Promise<Answer>>> = {
      'workflow.list': (client) => client.get(root),
      'workflow.read': (client) => client.get(`${root}/morning-digest`),
      'workflow.plan': (client) => client.post(`${root}/plan`, { definition: line('x') }),
      'workflow.write': (client) => client.post(`${root}/morning-digest/pause`),
      'workflow.approvals': (client) => client.get('/api/workflow-approvals'),
      'workflow.approve': (client) =>
        client.post('/api/workflow-approvals', {
          decision: 'approve',
          versions: [{ workflowId: 'none', version: 1 }],
        }),
    };
    for (const [id, ask] of Object.entries(asks) as [AuthorityId, (client: Client) => Promise<Answer>][]) {
      it(`${id} answers as the table says`, async () => {
        const clients: Record<string, Client> = {
          none: house.client(),
          bad: house.client({ authorization: 'Bearer bad' }),
          operator: house.operator,
          device: house.operator,
          self: agents['cat']!,
          above: agents['cat']!,
          below: agents['cat']!,
          outsider: agents['cat']!,
        };
        for (const kind of callerKinds) {
          const judged = verdict(id, kind);
          const answer = await ask(clients[kind]!);
          if (judged === 'yes') expect(answer.status, kind).to.equal(200);
          else if (judged === 'policy') expect(answer.status, kind).to.be.oneOf([200, 403]);
          else expect(answer.body.code, kind).to.equal(judged);
        }
      });
    }

    it("asks for every row of workflows' definitions", () => {
      expect(Object.keys(asks)).to.have.members(authorityIds.filter((id) => /^workflow\./.test(id)));
    });

    it('lets an agent write what its employee owns, or what belongs to a department that it manages; the root the rest', async () => {
      const tries: readonly [who: string, owned: object, status: number][] = [
        ['ann', { owner: 'ann' }, 201],
        ['ann', { owner: 'bob' }, 403],
        ['ann', { department: 'build' }, 403],
        ['ann', {}, 201],
        ['bob', { department: 'build' }, 201],
        ['bob', { department: 'sales' }, 403],
        ['chief', { department: 'build' }, 201],
        ['chief', {}, 201],
        ['cat', { owner: 'ann' }, 403],
        ['anonymous', {}, 403],
      ];
      for (const [index, [who, owned, status]] of tries.entries()) {
        const answer = await create(line(`Own ${index}`, owned), agents[who]);
        expect(answer.status, `${who} ${JSON.stringify(owned)}: ${answer.text.slice(0, 200)}`).to.equal(
          status,
        );
      }
      expect((await create(line('Own none'), agents['anonymous'])).body.error).to.include(
        'does not declare owner/department authority',
      );
    });

    it('judges a write by who owned it before and by who would own it after', async () => {
      await create(line('Theirs', { owner: 'ann' }));
      expect((await update('theirs', { title: 'Mine' }, undefined, agents['cat'])).status).to.equal(403);
      expect((await update('theirs', { owner: 'cat' }, undefined, agents['cat'])).status).to.equal(403);
      expect((await update('theirs', { owner: 'cat' }, undefined, agents['ann'])).status).to.equal(403);
      expect((await update('theirs', { title: 'Ours' }, undefined, agents['ann'])).status).to.equal(200);
      expect((await house.operator.get(`${root}/theirs`)).body).to.include({ title: 'Ours', owner: 'ann' });
    });

    it('tells an outsider nothing of its version or of the faults in what they sent', async () => {
      await create(line('Closed', { owner: 'ann' }));
      for (const [patch, version] of [
        [{ nodes: [] }, 1],
        [{ title: 'x' }, 9],
      ] as const) {
        const { status, body } = await update('closed', patch, version, agents['cat']);
        expect([status, body.code, body.errors, body.currentVersion]).to.deep.equal([
          403,
          'FORBIDDEN',
          undefined,
          undefined,
        ]);
      }
    });
  });

  it('leaves definitions and graphs as evidence, a file per version', async () => {
    await create(line('Evident'));
    await update('evident', { title: 'Evident again' });
    await poll(
      () => house.operator.get('/api/inspect/actors/workflow/evident'),
      ({ text }) => text.includes('"evidence":{"version":2,'),
    );
    expect((await readdir(join(folder, 'workflows', 'evident'))).sort()).to.deep.equal(['1.json', '2.json']);
    expect(JSON.parse(await readFile(join(folder, 'workflows', 'evident', '1.json'), 'utf8')).title).to.equal(
      'Evident',
    );
    expect(JSON.parse(await readFile(join(folder, 'workflows', 'evident.json'), 'utf8'))).to.deep.equal(
      (await house.operator.get(`${root}/evident`)).body,
    );
    expect(await readFile(join(folder, 'workflows', 'evident.mmd'), 'utf8'))
      .to.include('flowchart LR')
      .and.include('n1 --> n2');
  });

  it('announces what is created and written, to agents too', async () => {
    const [people, agent] = [
      await house.socket('/ws'),
      await house.socket('/ws', { authorization: `Bearer ${house.tokens.mint('of-cat')}` }),
    ];
    await create(line('Heard'));
    await update('heard', { title: 'Heard twice' });
    for (const verb of ['pause', 'resume', 'retire']) await house.operator.post(`${root}/heard/${verb}`);
    for (const socket of [people, agent]) {
      const frame = await socket.until(
        ({ event, payload }) =>
          event === 'company:changed' &&
          (payload as { action?: string; id?: string }).action === 'updated' &&
          (payload as { id?: string }).id === 'heard',
      );
      expect(frame.payload).to.include({ entity: 'workflow-definition', id: 'heard', version: 2 });
      await socket.until(
        ({ payload }) => (payload as { action?: string; id?: string } | null)?.action === 'retired',
      );
      expect(
        socket.frames.flatMap(({ payload }) => (payload?.id === 'heard' ? [payload.action] : [])),
      ).to.deep.equal(['created', 'updated', 'paused', 'resumed', 'retired']);
    }
  });
});

describe('/api/workflow-definitions without evidence', () => {
  it('says why in lists, and answers 503 with the reason everywhere else', async () => {
    const house = await openHouse({
      evidence: await openEvidence({ standard: '/nowhere', override: join(tmpdir(), 'surely', 'absent') }),
    });
    try {
      const { status, body } = await house.operator.get(root);
      expect([status, body.definitions, body.evidenceConfigured]).to.deep.equal([200, [], false]);
      expect(body.evidenceReason).to.match(
        /^SVC_WORKFLOW_EVIDENCE_ROOT is set to .* but no such directory exists\.$/,
      );
      const asks = [
        house.operator.get(`${root}/x`),
        house.operator.post(`${root}/plan`, { definition: line('x') }),
        create('x'),
        house.operator.post(`${root}/x/retire`),
        house.operator.get(`${root}/x/plan`),
        house.operator.call('PUT', `${root}/x`, line('x')),
      ];
      for (const answer of await Promise.all(asks))
        expect([answer.status, answer.body.code, answer.body.evidenceReason]).to.deep.equal([
          503,
          'WORKFLOWS_DISABLED',
          body.evidenceReason,
        ]);
      function create(title: string): Promise<Answer> {
        return house.operator.post(`${root}/mutate`, { operation: 'create', definition: line(title) });
      }
    } finally {
      await house.close();
    }
  });
});
