import type { Kind } from '../../../actors/contracts.js';
import { createConnectorLinks } from '../../../actors/connector/links.js';
import { createConnectorRegistry, type Connectors } from '../../../actors/connectors/registry.js';
import { cronFireKind } from '../../../actors/cron-fire/kind.js';
import { homeKind } from '../../../actors/home/kind.js';
import { untilWritten } from '../../../actors/until-written.js';
import { scheduleKind } from '../../../actors/schedule/kind.js';
import { createEngineRegistry } from '../../../actors/engines/registry.js';
import { createSessionTokens } from '../../../actors/engines/tokens.js';
import { agentKinds } from '../../../lib/agents.js';
import type { App, AppParts } from '../../../lib/commands/app.js';
import { alignConnectors } from '../../../lib/commands/connectors.js';
import { followClock, launchFire } from '../../../lib/commands/cron.js';
import { idsOf } from '../../../lib/commands/iterate.js';
import { followWaiting } from '../../../lib/commands/notifications/follow-waiting.js';
import { receiveMessage } from '../../../lib/commands/sessions/receive-message.js';
import { workflowPorts } from '../../../lib/commands/workflow-runs/ports.js';
import { createWorkflow } from '../../../lib/commands/workflows/write-workflow.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { operator } from '../../../machines/caller.js';
import { isRefusal } from '../../../machines/refusals.js';
import type { Machine, SimulatedProcess } from '../machine.js';
import { must } from '../model.js';
import { allOperations, type Operation, type Step } from '../plan.js';
import { allLetters } from '../workshop.js';
import { ofTheDisk, type World } from '../world.js';
import { scriptedAgent, type Outside } from './agent.js';
import { bindingKinds, bindOutside, checkBindings, missedFlash, Sky } from './bindings.js';
import { concurrency, farOperations, FleetClients, fleetOperations, workflowId } from './clients.js';
import { Loft, pigeon } from './loft.js';
import { checkFarPromises } from './far-promises.js';
import { checkPeople, evidence, notify, peopleKinds, missingNotices } from './people.js';
import { checkPromises, readFleet } from './promises.js';

/**
 * Sessions, work items and runs of workflows as a gateway has them: the built-in kinds, asked through the commands that
 * its routes call, with agents that follow a script.
 */
export class Fleet implements World {
  /** Of the machine; a turn that is silent ends by its deadline. */
  readonly calmMs = 1_200_000;
  readonly anyone = {
    actor: { kind: 'session', id: 'nobody' },
    event: { type: 'queue.pause' },
  };
  private readonly clients: FleetClients;
  private readonly loft: Loft;
  private readonly sky: Sky;
  private readonly connectors: Connectors;
  /** The lines of the runs' files, by the run. */
  private readonly lines = new Map<string, string>();
  private readonly heard = new Map<string, number>();
  private outside: Outside = {
    heard: this.heard,
    alive: () => false,
    wait: () => new Promise(() => undefined),
  };
  private parts!: AppParts;
  private made: readonly Kind[] = [];
  /** Processes so far. */
  private begun = 0;

  constructor(private readonly machine: Machine) {
    const passedMs = (): number => machine.now / 1000 + machine.sleptMs;
    this.loft = new Loft(() => this.outside, passedMs);
    this.sky = new Sky(() => this.outside, passedMs);
    this.connectors = {
      types: [this.loft.connector],
      instances: () => [{ name: pigeon, type: pigeon, employee: null, allowFrom: ['ann'], settings: {} }],
      reread: async () => undefined,
    };
    this.clients = new FleetClients(machine, this.loft);
  }

  get acknowledged(): number {
    return this.clients.acknowledged;
  }

  kinds(): readonly Kind[] {
    if (this.made.length === 0) this.make();
    return this.made;
  }

  begin(process: SimulatedProcess): void {
    this.begun += 1;
    this.outside = {
      heard: this.heard,
      alive: () => process.alive,
      wait: (ms: number) => new Promise((resolve) => this.machine.timeout(ms, resolve)),
    };
    this.make();
  }

  async settleIn(supervisor: Supervisor, process: SimulatedProcess): Promise<void> {
    const definition = { title: 'Fleet', id: workflowId, name: workflowId, nodes, edges, concurrency };
    const made = await createWorkflow({ app: this.app(supervisor), caller: operator }, { definition }).catch(
      (error: unknown) => {
        if (process.alive && !ofTheDisk(error)) throw error;
        return undefined;
      },
    );
    if (process.alive && isRefusal(made))
      must(made.code === 'EXISTS', `the workflow was refused: ${made.message}`);
    const forgiven = (error: unknown): void => {
      if (process.alive && !ofTheDisk(error)) this.clients.surprises.push(String((error as Error).stack));
    };
    const { supervisor: typed } = this.app(supervisor);
    await bindOutside(this.app(supervisor)).catch(forgiven);
    await alignConnectors(typed, this.connectors).catch(forgiven);
    if (process.alive) followClock({ supervisor: typed }, forgiven);
    // What the disk refuses is looked for again
    if (process.alive) void followWaiting(() => undefined).poll(this.app(supervisor));
  }

  again(supervisor: Supervisor, process: SimulatedProcess, passedMs: number): void {
    this.clients.again(this.app(supervisor), process, passedMs);
  }

  ask(
    supervisor: Supervisor,
    process: SimulatedProcess,
    passedMs: number,
    step: Step & { readonly do: Operation },
  ): void {
    const operations = step.who === 1 && step.whom === 1 ? farOperations : fleetOperations;
    // There are more of them than names in a plan
    const at = allOperations.indexOf(step.do) + allOperations.length * step.whom;
    const operation = operations[at % operations.length]!;
    const { behaviour } = step;
    this.clients.ask(
      this.app(supervisor),
      process,
      passedMs,
      { operation, behaviour },
      step.who * 2 + step.whom,
    );
  }

  overdue(quietSince: number): string | undefined {
    return this.clients.overdue(quietSince);
  }

  /** A person goes on with what stands still. */
  async repair(supervisor: Supervisor): Promise<void> {
    const app = this.app(supervisor);
    try {
      for (const id of await idsOf(supervisor, 'session', { index: 'all' }))
        await app.supervisor.ask('session', id, { type: 'queue.resume' }, { by: operator });
      for (const { id } of await allLetters(supervisor)) await supervisor.retry(id, operator);
      await alignConnectors(app.supervisor, this.connectors); // where the disk failed at the start
    } catch (error) {
      if (!ofTheDisk(error)) throw error;
    }
  }

  async read(supervisor: Supervisor): Promise<void> {
    await readFleet(supervisor).catch((error: unknown) => {
      if (!ofTheDisk(error)) throw error;
    });
  }

  async check(supervisor: Supervisor, process: SimulatedProcess, settled: boolean): Promise<void> {
    const heardBefore = new Map(this.heard);
    const found = await readFleet(supervisor).catch((error: unknown) => {
      if (!process.alive || ofTheDisk(error)) return undefined;
      throw error;
    });
    if (!process.alive || found === undefined) return;
    const { heard, loft, lines } = { heard: heardBefore, loft: this.loft, lines: this.lines };
    checkPromises([...this.clients.operations.values()], found, heard, this.begun - 1, settled);
    checkFarPromises([...this.clients.operations.values()], found, { loft, lines }, settled);
    const forgiven = (error: unknown): void => {
      if (process.alive && !ofTheDisk(error)) throw error;
    };
    const app = this.app(supervisor);
    await checkPeople(app, [...this.clients.operations.values()], this.loft, settled).catch(forgiven);
    await checkBindings(app, found, this.sky).catch(forgiven);
    must(this.clients.surprises.length === 0, this.clients.surprises[0] ?? '');
  }

  /** What waits for a person ends by itself after a day, or an hour. */
  mayRest(key: string): boolean {
    return (
      /^t\/[^/]*\/(?:work-item\/|schedule\/|connector\/|poll\/|workflow-run\/[^/]*\/answer:)/.test(key) ||
      key.startsWith('o/connector/') // a link that is held; what waits to be sent is owed, see below
    );
  }

  async owes(supervisor: Supervisor): Promise<string[]> {
    const rows = await supervisor.rows({ kind: 'connector', id: pigeon }, 'deliveries', { last: 500 });
    const queued = rows.filter(({ row }) => (row as { status?: unknown }).status === 'queued');
    return [
      ...queued.map(({ n }) => `delivery ${n}`),
      ...this.loft.unheard,
      ...(await missingNotices(this.app(supervisor))),
      ...(await missedFlash(this.app(supervisor), this.sky)),
    ];
  }

  private app(supervisor: Supervisor): App {
    return { ...this.parts, supervisor: supervisor as unknown as App['supervisor'] };
  }

  /** Kinds of a new process: what they keep in memory is gone with the old one. */
  private make(): void {
    const registry = createEngineRegistry({
      engines: [scriptedAgent(() => this.outside)],
      default: 'scripted',
    });
    this.parts = {
      engines: registry,
      connectors: this.connectors,
      evidence,
      settings: {
        home: '/home',
        sessionRoots: [],
        interruptOnNewMessage: false,
        turnDeadlineMs: 60_000,
        notify,
      },
    };
    const links = createConnectorLinks(
      createConnectorRegistry({ connectors: this.connectors.types, instances: this.connectors.instances }),
    );
    const agents = agentKinds({
      registry,
      connectors: this.connectors.types,
      connectorInstances: this.connectors.instances,
      links,
      inboxOf:
        (name, { supervisor }) =>
        (message) =>
          receiveMessage(this.app(supervisor), name, message).then(() => undefined),
      tokens: createSessionTokens(),
      workFolder: '/home/work',
      permissionWaitMs: 20_000,
      evidence,
      workflows: ({ supervisor }) => workflowPorts(this.app(supervisor)),
    });
    const fire = cronFireKind({
      launch: {
        guarantee: 'at-least-once',
        run: (input, { supervisor, signal }) =>
          untilWritten(() => launchFire(this.app(supervisor), input), signal),
      },
      record: {
        guarantee: 'at-least-once',
        run: async ({ line }) => void this.lines.set(line.sessionKey, line.status),
      },
    });
    const people = peopleKinds((supervisor) => this.app(supervisor), links);
    const bindings = bindingKinds((supervisor) => this.app(supervisor), this.sky);
    this.made = [
      ...agents,
      homeKind(),
      scheduleKind(),
      fire,
      ...people,
      ...bindings,
    ] as unknown as readonly Kind[];
  }
}

const nodes = [
  { id: 'start', type: 'trigger', trigger: { kind: 'manual' } },
  {
    id: 'think',
    type: 'step',
    actor: { kind: 'engine', ref: 'scripted' },
    instructions: 'Think about {{input.say}}',
  },
  { id: 'ask', type: 'gate', gate: { id: 'ask', kind: 'approval', description: 'Shall it go on?' } },
  { id: 'pause', type: 'wait', waitMinutes: 1 },
  { id: 'act', type: 'step', actor: { kind: 'noop' } },
];
const edges = ['start', 'think', 'ask', 'pause', 'act'].flatMap((from, at, all) =>
  all[at + 1] === undefined ? [] : [{ id: `${from}-${all[at + 1]}`, from, to: all[at + 1] }],
);
