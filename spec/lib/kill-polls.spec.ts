import { expect } from 'chai';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { processTable } from '../../actors/engines/process.js';
import { Troupe, type Running } from './cli/troupe.js';
import { makeClient, watch, type Client } from './gateway/fixture.js';

/** A dead process whose parent has not looked yet is dead. */
const isAlive = async (pid: number): Promise<boolean> => (await processTable().startTime(pid)) !== undefined;

/** Real processes: a gateway that is killed, and the programs that it had begun. */
describe('a gateway that is killed while it polls', () => {
  let troupe: Troupe;
  let running: Running;
  let client: Client;
  beforeEach(async () => {
    troupe = await Troupe.create();
    // programs tell their process ids, which are others within a sandbox
    await mkdir(troupe.home(), { mode: 0o700 });
    await writeFile(join(troupe.home(), 'config.yaml'), 'agents: {sandbox: off}\n');
    await start();
    const nodes = [
      { id: 't', type: 'trigger', trigger: { kind: 'manual' } },
      { id: 'a', type: 'step', actor: { kind: 'noop' } },
    ];
    const drawn = await client.post('/api/workflow-definitions/mutate', {
      operation: 'create',
      definition: { id: 'sort', title: 'Sort', nodes, edges: [{ from: 't', to: 'a' }], concurrency: 8 },
    });
    expect(drawn.status, drawn.text).to.equal(201);
  });
  afterEach(() => troupe.clear());

  async function start(): Promise<void> {
    running = await troupe.start();
    const { port, token } = await troupe.announcement();
    client = makeClient(port, { authorization: `Bearer ${token}` });
  }
  async function feed() {
    const { port, token } = await troupe.announcement();
    return watch(`ws://127.0.0.1:${port}/ws`, { authorization: `Bearer ${token}` });
  }
  const binding = async (name = 'mail') =>
    (await client.get('/api/workflow-triggers')).body.triggers.find(
      (each: { name: string }) => each.name === name,
    );
  const runs = async (): Promise<{ trigger: { event: string } }[]> =>
    (await client.get('/api/workflow-definitions/sort/runs')).body.runs;
  async function bind(script: string, name = 'mail'): Promise<void> {
    const program = join(troupe.folder, `${name}.sh`);
    await writeFile(program, script);
    const made = await client.post('/api/workflow-triggers', {
      kind: 'poll',
      name,
      event: name,
      targetWorkflowId: 'sort',
      command: ['/bin/sh', program],
      intervalSeconds: 86_400,
    });
    expect(made.status, made.text).to.equal(201);
    expect(
      (await client.post(`/api/workflow-triggers/${name}/activation-approval`, { decision: 'approve' }))
        .status,
    ).to.equal(200);
  }
  async function until<Value>(ask: () => Promise<Value | undefined>): Promise<Value> {
    for (;;) {
      const value = await ask();
      if (value !== undefined) return value;
      await new Promise(setImmediate);
    }
  }
  const lines = async (name: string): Promise<string[]> =>
    (await readFile(join(troupe.folder, name), 'utf8').catch(() => '')).split('\n').filter(Boolean);

  it('ends the program of the dead gateway before anything else, and begins no second one', async function () {
    this.timeout(180_000);
    await bind(`echo $$ >> ${troupe.folder}/pids; sleep 300 & echo $! >> ${troupe.folder}/pids; wait`);
    const pids = (
      await until(async () => {
        const found = await lines('pids');
        return found.length === 2 ? found : undefined;
      })
    ).map(Number);
    await running.kill('SIGKILL');
    expect(await Promise.all(pids.map(isAlive)), 'they outlived their gateway').to.deep.equal([true, true]);
    await start();
    const after = await until(async () => {
      const now = await binding();
      return now.lastOutcome === null ? undefined : now;
    });
    expect(await Promise.all(pids.map(isAlive))).to.deep.equal([false, false]);
    expect(after).to.include({
      activation: 'active',
      lastOutcome: 'error',
      lastReason: 'The gateway ended while the program ran.',
      checks: 1,
      failures: 1,
      checking: false,
    });
    expect(await lines('pids')).to.have.length(2);
  });

  it('ends the program of a binding that was taken away in its last moment', async function () {
    this.timeout(180_000);
    await bind(`trap '' INT TERM; echo $$ >> ${troupe.folder}/pids; while :; do sleep 1; done`);
    const pid = Number(await until(async () => (await lines('pids'))[0]));
    const gone = client.call('DELETE', '/api/workflow-triggers/mail');
    expect((await gone).status).to.equal(200);
    await running.kill('SIGKILL'); // the program hears no signal but the last one: it is still there
    expect(await isAlive(pid)).to.equal(true);
    await start();
    await until(async () => ((await isAlive(pid)) ? undefined : true));
    expect((await client.get('/api/workflow-triggers')).body.triggers).to.deep.equal([]);
  });

  it('starts one run for what it took note of, and none for what it did not, whenever it dies', async function () {
    this.timeout(180_000);
    const moments: Record<string, (frame: { readonly event: string; readonly payload: any }) => boolean> = {
      // a frame is an outsider's JSON
      approved: ({ event, payload }) =>
        event === 'company:changed' && payload.id === 'approved' && payload.action === 'trigger-activated',
      run: ({ event }) => event === 'run:step',
      fired: ({ event, payload }) =>
        event === 'company:changed' && payload.id === 'fired' && payload.action === 'trigger-fired',
    };
    for (const [name, moment] of Object.entries(moments)) {
      const socket = await feed();
      await bind(`echo ran >> ${troupe.folder}/${name}; echo '{"fire": true, "payload": {"n": 1}}'`, name);
      await socket.until(moment);
      await running.kill('SIGKILL');
      await start();
      const settled = await until(async () => {
        const now = await binding(name);
        return now.lastOutcome === null ? undefined : now;
      });
      expect(settled.lastOutcome, name).to.be.oneOf(name === 'approved' ? ['fired', 'error'] : ['fired']);
      expect(
        (await runs()).filter(({ trigger }) => trigger.event === name),
        name,
      ).to.have.length(settled.fired);
      expect([settled.checks, (await lines(name)).length], name).to.deep.equal([
        1,
        settled.lastOutcome === 'fired' ? 1 : (await lines(name)).length,
      ]);
    }
  });
});
