import { expect } from 'chai';
import type { App } from '../../../lib/commands/app.js';
import { firePoll } from '../../../lib/commands/workflows/polls.js';
import { followSchedule } from '../../../lib/commands/workflow-runs/follow-schedule.js';
import { followTodos } from '../../../lib/commands/workflow-runs/follow-todos.js';
import { startRun } from '../../../lib/commands/workflow-runs/start-run.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { operator } from '../../../machines/caller.js';
import { isRefusal, refuse } from '../../../machines/refusals.js';
import { openHouse, type House } from '../gateway/fixture.js';

describe('what starts runs', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse();
    await drawn({ id: 'sort', title: 'Sort' });
  });
  afterEach(() => house.close());

  const nodes = (trigger: object) => [
    { id: 't', type: 'trigger', trigger },
    { id: 'a', type: 'step', actor: { kind: 'noop' } },
  ];
  async function drawn(definition: object, trigger: object = { kind: 'manual' }): Promise<void> {
    const made = await house.supervisor.spawn('workflow', {
      id: (definition as { id: string }).id,
      input: {
        definition: { ...definition, nodes: nodes(trigger), edges: [{ from: 't', to: 'a' }] },
      } as never,
    });
    if (isRefusal(made)) throw new Error(JSON.stringify(made));
  }
  /** The real app of a gateway, but for some verbs of its supervisor. */
  function deskWith(verbs: Partial<Supervisor>): App {
    const supervisor = Object.create(
      house.supervisor,
      Object.fromEntries(Object.entries(verbs).map(([name, value]) => [name, { value }])),
    ) as Supervisor;
    const engines = {
      select: async () => refuse('UNKNOWN_ENGINE'),
      list: async () => ({ default: null, engines: {} }),
      refresh: () => undefined,
      limits: async () => ({ default: null, engines: {} }),
    };
    return {
      supervisor,
      engines,
      settings: { home: house.home, sessionRoots: [], interruptOnNewMessage: true, turnDeadlineMs: 1_000 },
    };
  }

  it('starts the newest version of a definition that is written in the very moment of the start', async () => {
    // the start was refused with 409, which no one repeats for a timer, a todo or a poll: its run never came
    let written = 0;
    const app = deskWith({
      async countRange(...asked) {
        if (written++ === 0)
          expect(
            isRefusal(
              await house.supervisor.ask('workflow', 'sort', {
                type: 'definition.update',
                expectedVersion: 1,
                definition: {
                  id: 'sort',
                  title: 'Sort better',
                  nodes: nodes({ kind: 'manual' }),
                  edges: [{ from: 't', to: 'a' }],
                } as never,
              }),
            ),
          ).to.equal(false);
        return house.supervisor.countRange(...asked);
      },
    });
    const run = await startRun({ app, caller: operator }, { workflowId: 'sort' });
    expect(
      isRefusal(run) ? run.message : (run.body.view as { definitionVersion: number }).definitionVersion,
    ).to.equal(2);
  });

  it('gives up a start only after the definition was written again and again', async () => {
    let version = 1;
    const app = deskWith({
      async countRange(...asked) {
        await house.supervisor.ask('workflow', 'sort', {
          type: 'definition.update',
          expectedVersion: version,
          definition: {
            id: 'sort',
            title: `Sort ${version++}`,
            nodes: nodes({ kind: 'manual' }),
            edges: [{ from: 't', to: 'a' }],
          } as never,
        });
        return house.supervisor.countRange(...asked);
      },
    });
    const run = await startRun({ app, caller: operator }, { workflowId: 'sort' });
    expect([isRefusal(run) && run.code, version]).to.deep.equal(['CONFLICT', 6]);
  });

  it('says when the job of a workflow could not be made: no one heard that it would never wake', async () => {
    await drawn({ id: 'wakes', title: 'Wakes' }, { kind: 'schedule', cron: '0 9 * * *', timezone: 'UTC' });
    const said: unknown[] = [];
    const environment = {
      ...house.supervisor.environment,
      log: {
        warn: (told: unknown) => {
          said.push(told);
        },
      } as never,
    };
    const app = deskWith({
      spawn: async () => refuse('DISK_LOW'),
      get: async () => undefined,
      list: async () => ({ items: [], next: null }),
      environment,
    });
    // That there is a home is all that is looked at
    await followSchedule({ ...app, records: {} as never }, 'wakes');
    expect(said).to.deep.include.members([
      { workflowId: 'wakes', code: 'DISK_LOW', reason: refuse('DISK_LOW').message },
    ]);
  });

  it('tries what a poll found once more where the store cannot write at the moment: it was thrown away', async () => {
    const occurrence = { payload: {}, fireRef: null, ref: 'mail@1#1' };
    const input = {
      name: 'mail',
      createdBy: 'operator',
      event: 'mail',
      targetWorkflowId: 'sort',
      filter: [],
      occurrence,
    };
    const full = deskWith({ transact: async () => refuse('DISK_LOW') });
    expect(await firePoll(full, input).catch((error: Error) => error.message)).to.include(
      'disk is almost full',
    );
    expect((await firePoll(deskWith({}), input)).outcome).to.equal('fired');
  });

  it('reads the changes of work items once, also when two definitions are written at once', async () => {
    await drawn(
      { id: 'wakes', title: 'Wakes' },
      {
        kind: 'todo-status-change',
        toStatus: 'in_review',
        fromStatus: null,
        filter: { source: null, department: null, assignee: null },
      },
    );
    let readers = 0;
    const app = deskWith({
      watch(options) {
        readers += 1;
        return house.supervisor.watch(options);
      },
    });
    const todos = followTodos((error) => {
      throw error;
    });
    await Promise.all([todos.poll(app), todos.poll(app), todos.poll(app)]);
    for (let commits = 0; commits < 20; commits += 1)
      await house.supervisor.transact({ name: 'until they have begun', actors: [], run: () => null });
    todos.close();
    expect(readers).to.equal(1);
  });

  it('looks again after it could not even read where it had stopped', async () => {
    await drawn(
      { id: 'wakes', title: 'Wakes' },
      {
        kind: 'todo-status-change',
        toStatus: 'in_review',
        fromStatus: null,
        filter: { source: null, department: null, assignee: null },
      },
    );
    let readers = 0;
    let broken = true;
    const app = deskWith({
      watch(options) {
        readers += 1;
        return house.supervisor.watch(options);
      },
      keyValues: (prefix) =>
        broken ? Promise.reject(new Error('not now')) : house.supervisor.keyValues(prefix),
    });
    const failures: unknown[] = [];
    const todos = followTodos((error) => {
      failures.push(error);
    });
    await todos.poll(app);
    for (let commits = 0; commits < 20; commits += 1)
      await house.supervisor.transact({ name: 'until it has failed', actors: [], run: () => null });
    expect(failures.map((error) => (error as Error).message)).to.deep.equal(['not now']);
    broken = false;
    await todos.poll(app);
    for (let commits = 0; commits < 20; commits += 1)
      await house.supervisor.transact({ name: 'until it has begun', actors: [], run: () => null });
    todos.close();
    expect(readers).to.equal(1);
  });
});
