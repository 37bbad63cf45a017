import { expect } from 'chai';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decisionRequest, type WaitingThing } from '../../../lib/client/decision.js';
import { readAnnouncement } from '../../../lib/home/announce.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { startInstance } from '../../../lib/instance.js';
import { isAlive } from '../../helpers/is-alive.js';
import { makeClient, type Client } from './fixture.js';

/**
 * A question to the gateway between two looks sets the pace: ending a program may take the seconds that it is
 * granted.
 */
let pace: () => Promise<unknown>;

async function until<Value>(ask: () => Promise<Value | undefined>): Promise<Value> {
  for (let tries = 0; tries < 20_000; tries += 1) {
    const value = await ask();
    if (value !== undefined) return value;
    await pace();
  }
  throw new Error('what was waited for never came');
}

/** A whole gateway with a workflow of one plain step, and a folder for programs. */
async function openHome() {
  const folder = await mkdtemp(join(tmpdir(), 'polls-'));
  const layout = layoutOf({ home: join(folder, 'home') });
  // programs tell their process ids, which are others within a sandbox
  await mkdir(layout.home, { mode: 0o700 });
  await writeFile(layout.config, 'agents: {sandbox: off}\n');
  let served = await startInstance({ layout, port: 0 });
  const connect = async (): Promise<Client> =>
    makeClient(Number(new URL(served.url).port), {
      authorization: `Bearer ${String((await readAnnouncement(layout.announcement))?.token)}`,
    });
  let operator = await connect();
  const nodes = [
    { id: 't', type: 'trigger', trigger: { kind: 'manual' } },
    { id: 'a', type: 'step', actor: { kind: 'noop' } },
  ];
  const drawn = await operator.post('/api/workflow-definitions/mutate', {
    operation: 'create',
    definition: { id: 'sort', title: 'Sort', nodes, edges: [{ from: 't', to: 'a' }] },
  });
  expect(drawn.status, drawn.text).to.equal(201);
  const script = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  };
  const at = async (name: string) =>
    (await operator.get('/api/workflow-triggers')).body.triggers.find(
      (each: { name: string }) => each.name === name,
    );
  return {
    folder,
    script,
    at,
    get operator() {
      return operator;
    },
    bind: async (name: string, command: readonly string[], more: object = {}) =>
      operator.post('/api/workflow-triggers', {
        kind: 'poll',
        name,
        event: 'mail',
        targetWorkflowId: 'sort',
        command,
        ...more,
      }),
    approve: async (name: string, more: object = {}) =>
      operator.post(`/api/workflow-triggers/${name}/activation-approval`, { decision: 'approve', ...more }),
    came: async (name: string, outcome: string) =>
      until(async () => {
        const binding = await at(name);
        return binding.lastOutcome === outcome ? binding : undefined;
      }),
    runs: async () => (await operator.get('/api/workflow-definitions/sort/runs')).body.runs,
    async restart(): Promise<void> {
      await served.close();
      served = await startInstance({ layout, port: 0 });
      operator = await connect();
    },
    async close() {
      await served.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

describe('/api/workflow-triggers of the kind poll', () => {
  let home: Awaited<ReturnType<typeof openHome>>;
  beforeEach(async () => {
    home = await openHome();
    pace = () => home.operator.get('/api/status');
  });
  afterEach(() => home.close());

  // The command line and the inspector approved whatever program stood there by then
  it('are decided by what was listed: a program that has changed since is refused', async () => {
    const program = await home.script('look.sh', 'echo {}');
    const listed = async (): Promise<WaitingThing> =>
      (await home.operator.get('/api/attention')).body.waiting.find(({ id }: WaitingThing) => id === 'mail');
    const decide = async (thing: WaitingThing) => {
      const { path, body } = decisionRequest(thing, 'approve') ?? expect.fail('it cannot be decided');
      return home.operator.post(path, body);
    };
    await home.bind('mail', ['/bin/sh', program]);
    const stale = await listed();
    expect(stale.waitingId).to.equal((await home.at('mail')).activationContractHash);
    await home.operator.call('DELETE', '/api/workflow-triggers/mail', {});
    await home.bind('mail', ['/bin/sh', program, 'something else']);
    const refused = await decide(stale);
    expect(refused.status, refused.text).to.be.within(400, 499);
    const { status, text } = await decide(await listed());
    expect(status, text).to.equal(200);
  });

  it('run nothing before a person approved exactly that contract, and then start a run, once for a fireRef', async () => {
    const program = await home.script(
      'look.sh',
      `echo ran >> ${home.folder}/ran; printf '{"fire": true, "payload": {"from": "you"}, "fireRef": "m1"}'`,
    );
    const made = await home.bind('mail', ['/bin/sh', program]);
    expect(made.status, made.text).to.equal(201);
    const { trigger } = made.body;
    expect(trigger).to.deep.include({
      kind: 'poll',
      source: 'poll',
      activation: 'pending_approval',
      command: ['/bin/sh', program],
      intervalSeconds: 300,
      lastOutcome: null,
    });
    expect(
      trigger.activationContract.executableArtifacts.map(({ role, path }: { role: string; path: string }) => [
        role,
        path,
      ]),
    ).to.deep.equal([
      ['executable', '/bin/sh'],
      ['argument', program],
    ]);
    expect(trigger.approvalCapability).to.deep.equal({
      canDecide: true,
      canEscalate: true,
      needsYou: true,
      target: 'operator',
      escalated: false,
    });
    expect(made.body).to.not.have.property('secretToken');
    const other = await home.approve('mail', { activationContractHash: 'of something else' });
    expect([other.status, other.body.code]).to.deep.equal([409, 'CONFLICT']);
    expect(await readFile(join(home.folder, 'ran'), 'utf8').catch(() => 'never')).to.equal('never');

    const approved = await home.approve('mail', {
      activationContractHash: trigger.activationContractHash,
      note: 'fine',
    });
    expect(approved.status, approved.text).to.equal(200);
    expect(approved.body.trigger.approval).to.deep.include({
      state: 'approved',
      decidedBy: 'operator',
      note: 'fine',
    });
    const fired = await home.came('mail', 'fired');
    expect(fired).to.deep.include({ activation: 'active', fired: 1, failures: 0 });
    const [run] = await home.runs();
    expect([run.runId, run.trigger]).to.deep.equal([
      fired.lastRunId,
      { source: 'check-poll', event: 'mail', fireRef: 'm1' },
    ]);
    expect(
      (await home.operator.get(`/api/workflow-definitions/sort/runs/${run.runId}`)).body.trigger.payload,
    ).to.deep.equal({ from: 'you' });

    // switched off and on again it looks at once, and finds the same occurrence
    expect(
      (await home.operator.post('/api/workflow-triggers/mail/activation-approval', { decision: 'reject' }))
        .body.trigger.activation,
    ).to.equal('disabled');
    await home.approve('mail');
    await until(async () => ((await home.at('mail')).fired === 2 ? true : undefined));
    expect(await home.runs()).to.have.length(1);
  });

  it('tell what every look came to', async () => {
    const looks: Record<string, readonly [string, object?]> = {
      nonzero: ['echo broken >&2; exit 3'],
      'no-output': ['exit 0'],
      'invalid-json': ['echo hello'],
      'no-fire': ['echo \'{"fire": "yes"}\''],
      'long-ref': ['printf \'{"fire": true, "fireRef": "%s"}\' "$(head -c 257 /dev/zero | tr "\\0" x)"'],
      'too-deep': [
        'printf \'{"fire": true, "payload": {"deep": %s%s}}\' "$(head -c 4000 /dev/zero | tr "\\0" "[")" "$(head -c 4000 /dev/zero | tr "\\0" "]")"',
      ],
      'output-too-large': ['head -c 60000 /dev/zero | tr "\\0" x'],
      'too-large-for-its-contract': [
        'echo \'{"fire": true, "payload": {"words": "as many as that"}}\'',
        { stdoutMaxBytes: 40 },
      ],
      'not-too-large': ['echo a lot of words and more of them >&2; echo {}', { stdoutMaxBytes: 4 }],
      timeout: ['sleep 60', { timeoutMs: 300 }],
      fired: ['echo \'{"fire": true}\'', { filter: [{ path: 'x', op: 'exists' }] }],
    };
    for (const [name, [body, more]] of Object.entries(looks)) {
      await home.bind(name, ['/bin/sh', '-c', body], more);
      await home.approve(name);
    }
    const others: Record<string, string> = {
      fired: 'no-fire',
      'too-deep': 'invalid-json',
      'long-ref': 'invalid-json',
      'too-large-for-its-contract': 'output-too-large',
      'not-too-large': 'no-fire',
    }; // `fired`: its filter does not let it through
    for (const name of Object.keys(looks)) {
      const expected = others[name] ?? name;
      const binding = await home.came(name, expected);
      expect(binding.failures, name).to.equal(
        ['no-output', 'no-fire', 'fired', 'not-too-large'].includes(name) ? 0 : 1,
      );
    }
    expect((await home.at('nonzero')).lastReason).to.equal('The program ended with 3: broken');
    expect(await home.runs()).to.have.length(0);
  });

  it('ask again when the program was changed, and do not run the other one', async () => {
    const program = await home.script('look.sh', 'echo \'{"fire": false}\'');
    const {
      body: { trigger },
    } = await home.bind('mail', ['/bin/sh', program]);
    await home.script('look.sh', `echo ran > ${home.folder}/ran`);
    await home.approve('mail', { activationContractHash: trigger.activationContractHash });
    const revoked = await home.came('mail', 'revoked');
    expect(revoked).to.deep.include({ activation: 'pending_approval' });
    expect(revoked.activationContractHash).to.not.equal(trigger.activationContractHash);
    expect(await readFile(join(home.folder, 'ran'), 'utf8').catch(() => 'never')).to.equal('never');
    await home.approve('mail', { activationContractHash: revoked.activationContractHash });
    await home.came('mail', 'no-output');
    expect(await readFile(join(home.folder, 'ran'), 'utf8')).to.equal('ran\n');
  });

  it('run in a folder of their own, and are told nothing of what the gateway knows', async () => {
    process.env['SVC_SOMEBODYS_KEY'] = 'very-secret';
    try {
      await home.bind('mail', [
        '/bin/sh',
        '-c',
        `env > ${home.folder}/env; pwd > ${home.folder}/pwd; cat > ${home.folder}/stdin`,
      ]);
      await home.approve('mail');
      await home.came('mail', 'no-output');
    } finally {
      delete process.env['SVC_SOMEBODYS_KEY'];
    }
    const names = (await readFile(join(home.folder, 'env'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]);
    expect(names).to.include.members(['PATH', 'SVC_SPAWN_ID']);
    expect(names.filter((name) => name?.startsWith('SVC_'))).to.deep.equal(['SVC_SPAWN_ID']);
    expect(await readFile(join(home.folder, 'pwd'), 'utf8')).to.match(/\/polls\/mail\n$/);
    expect(await readFile(join(home.folder, 'stdin'), 'utf8')).to.equal('');
  });

  it('end their program when they are taken away, and free their name', async () => {
    await home.bind('mail', ['/bin/sh', '-c', `echo $$ > ${home.folder}/pid; sleep 300`]);
    await home.approve('mail');
    const pid = await until(
      async () => Number(await readFile(join(home.folder, 'pid'), 'utf8').catch(() => '')) || undefined,
    );
    expect(await isAlive(pid)).to.equal(true);
    expect((await home.at('mail')).checking).to.equal(true);
    expect((await home.operator.call('DELETE', '/api/workflow-triggers/mail')).body).to.deep.equal({
      deleted: true,
      name: 'mail',
    });
    await until(async () => {
      await home.at('mail');
      return (await isAlive(pid)) ? undefined : true;
    }); // asks meanwhile: the program has a moment to end by itself
    expect((await home.operator.call('DELETE', '/api/workflow-triggers/mail')).status).to.equal(404);
    expect((await home.bind('mail', ['/bin/true'])).body.trigger).to.deep.include({
      activation: 'pending_approval',
      bindingRevision: 'mail@2',
      checks: 0,
    });
  });

  it('never run two programs at once, not even that of a name that was taken away and given again', async () => {
    await home.bind('mail', [
      '/bin/sh',
      '-c',
      `trap '' INT; echo $$ > ${home.folder}/pid; while :; do sleep 0.1; done`,
    ]); // takes its time to end
    await home.approve('mail');
    const pid = await until(
      async () => Number(await readFile(join(home.folder, 'pid'), 'utf8').catch(() => '')) || undefined,
    );
    await home.operator.call('DELETE', '/api/workflow-triggers/mail');
    expect(await isAlive(pid)).to.equal(true);
    await home.bind('mail', [
      '/bin/sh',
      '-c',
      `grep -q 'State:.[RSD]' /proc/${pid}/status && echo '{"fire": true}'; echo '{}'`,
    ]);
    await home.approve('mail');
    await home.came('mail', 'no-fire');
    expect(await isAlive(pid)).to.equal(false);
  });

  it('do not leave a program behind when the gateway ends, and say at the next start that the look was broken off', async () => {
    await home.bind('mail', ['/bin/sh', '-c', `echo $$ >> ${home.folder}/pid; sleep 300`]);
    await home.approve('mail');
    const pid = await until(
      async () => Number(await readFile(join(home.folder, 'pid'), 'utf8').catch(() => '')) || undefined,
    );
    await home.restart();
    expect(await isAlive(pid)).to.equal(false);
    const binding = await home.came('mail', 'error');
    expect(binding).to.deep.include({ activation: 'active', checking: false, checks: 1 });
    expect((await readFile(join(home.folder, 'pid'), 'utf8')).trim().split('\n')).to.have.length(1);
  });

  it('share their names with webhooks', async () => {
    await home.operator.post('/api/workflow-triggers', {
      kind: 'webhook',
      name: 'push',
      event: 'repo.push',
      targetWorkflowId: 'sort',
    });
    const taken = await home.bind('push', ['/bin/true']);
    expect([taken.status, taken.body.error]).to.deep.equal([409, 'workflow trigger "push" already exists']);
    const unneeded = await home.approve('push');
    expect([unneeded.status, unneeded.body.code]).to.deep.equal([409, 'CONFLICT']);
  });

  it('refuse what is no contract, by the member that is wrong', async () => {
    const refusals = [
      await home.bind('a', ['sh', '-c', 'true']),
      await home.bind('a', ['/no/such/program']),
      await home.bind('a', ['/bin/true'], { intervalSeconds: 1 }),
      await home.bind('a', ['/bin/true'], { secretToken: 'x'.repeat(20) }),
      await home.operator.post('/api/workflow-triggers', {
        kind: 'poll',
        name: 'a',
        event: 'mail',
        targetWorkflowId: 'sort',
      }),
      await home.operator.post('/api/workflow-triggers', {
        kind: 'webhook',
        name: 'a',
        event: 'mail',
        targetWorkflowId: 'sort',
        command: ['/bin/true'],
      }),
    ];
    expect(refusals.map(({ status, body }) => [status, body.path])).to.deep.equal([
      [400, 'command'],
      [400, 'command'],
      [400, 'intervalSeconds'],
      [400, 'secretToken'],
      [400, 'command'],
      [400, 'command'],
    ]);
    expect((await home.bind('a', ['/bin/true'], { targetWorkflowId: 'nothing' })).body.error).to.equal(
      'target workflow not found',
    );
  });

  it('measure files, and take a folder that they are given for what it is: something that changes', async () => {
    const { status, text, body } = await home.bind('mail', ['/bin/ls', home.folder]);
    expect(status, text).to.equal(201);
    expect(
      body.trigger.activationContract.executableArtifacts.map(({ role }: { role: string }) => role),
    ).to.deep.equal(['executable']);
  });

  it('can be marked as urgent while they wait', async () => {
    await home.bind('mail', ['/bin/true']);
    const escalate = () =>
      home.operator.post('/api/workflow-triggers/mail/activation-approval/escalate', {
        reason: 'customers wait',
      });
    expect((await escalate()).body.trigger.approvalCapability.escalated).to.equal(true);
    await home.approve('mail');
    expect((await escalate()).status).to.equal(409);
  });
});
