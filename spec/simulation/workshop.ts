import type { Kind } from '../../actors/contracts.js';
import type { DeadLetter, Supervisor } from '../../lib/supervisor/contract.js';
import { Clients, idOf, residents } from './client.js';
import { goOutside, simulatedKinds } from './kinds.js';
import type { Machine, SimulatedProcess } from './machine.js';
import { compare, compareEffects, compareTimers, must, type Views } from './model.js';
import { residentsOfEach, type Operation, type Step } from './plan.js';
import { ofTheDisk, type World } from './world.js';

/** Small actors that use every durable thing the kernel has, one at a time. */
export class Workshop implements World {
  private readonly clients: Clients;
  private readonly acts = new Map<string, number>();
  readonly anyone = {
    actor: { kind: 'account', id: idOf(0) },
    event: { type: 'add', id: 'late' },
  };
  private version: 1 | 2 = 1;

  constructor(private readonly machine: Machine) {
    this.clients = new Clients(machine);
  }

  get acknowledged(): number {
    return this.clients.acknowledged;
  }

  get calmMs(): number {
    let ms = 0;
    for (const { operation } of this.clients.all.values())
      if (slow.has(operation)) ms += 30_000;
      else if (poison.has(operation)) ms += 60_000;
    return ms;
  }

  kinds(version: 1 | 2): readonly Kind[] {
    return simulatedKinds(version);
  }

  begin(process: SimulatedProcess): void {
    goOutside({
      acts: this.acts,
      alive: () => process.alive,
      wait: (ms: number) => new Promise((resolve) => this.machine.timeout(ms, resolve)),
    });
  }

  settleIn(supervisor: Supervisor, process: SimulatedProcess, version: 1 | 2): Promise<void> {
    this.version = version;
    return this.clients.settleIn(supervisor, process, version);
  }

  again(supervisor: Supervisor, process: SimulatedProcess, passedMs: number): void {
    this.clients.again(supervisor, process, passedMs);
  }

  ask(
    supervisor: Supervisor,
    process: SimulatedProcess,
    passedMs: number,
    step: Step & { readonly do: Operation },
  ): void {
    this.clients.ask(supervisor, process, passedMs, step);
  }

  overdue(quietSince: number): string | undefined {
    return this.clients.overdue(quietSince);
  }

  async repair(supervisor: Supervisor): Promise<void> {
    const by = { type: 'operator' } as never;
    try {
      for (let who = 0; who < residentsOfEach; who += 1) {
        const actor = { kind: 'brittle', id: idOf(who) };
        if ((await supervisor.get('brittle', actor.id))?.meta.halted) await supervisor.resume(actor, by);
        await supervisor.ask('brittle', actor.id, { type: 'repair' });
      }
      for (const { id, event } of await allLetters(supervisor))
        if ((event as { type?: string } | null)?.type !== 'spin') await supervisor.retry(id, by);
    } catch (error) {
      if (!ofTheDisk(error) && (error as Error).name !== 'Fault') throw error;
    }
  }

  async read(supervisor: Supervisor): Promise<void> {
    await this.views(supervisor);
  }

  async check(supervisor: Supervisor, process: SimulatedProcess, settled: boolean): Promise<void> {
    const before = await this.views(supervisor);
    // Where nothing is owed nothing changes between two looks
    const views = settled ? before : await this.views(supervisor);
    if (!process.alive || before === undefined || views === undefined) return;
    compare(this.clients.all.values(), views, before, settled);
    compareEffects(views, this.acts, settled);
    compareTimers(views, settled);
    must(this.clients.surprises.length === 0, this.clients.surprises[0] ?? '');
  }

  /** Actors of a kind that the second version does not know any more keep what they have. */
  owes(): Promise<string[]> {
    return Promise.resolve([]);
  }

  mayRest(key: string): boolean {
    return this.version === 2 && /(?:^|\/)retired\//.test(key);
  }

  /** Undefined where the store cannot be read at the moment. */
  private async views(supervisor: Supervisor): Promise<Views | undefined> {
    const views = new Map<string, Record<string, unknown>>();
    try {
      for (const kind of residents)
        for (let who = 0; who < residentsOfEach; who += 1) {
          const view = (await supervisor.get(kind, idOf(who)))?.view;
          if (view !== undefined) views.set(`${kind}/${idOf(who)}`, view as Record<string, unknown>);
        }
      return views;
    } catch (error) {
      if (ofTheDisk(error)) return undefined;
      throw error;
    }
  }
}

/** What waits for something outside, and may be asked of it again. */
const slow: ReadonlySet<Operation> = new Set<Operation>(['order', 'guard', 'retire']);
/** What its actor fails at, each time after a longer pause; when it is repaired, all of that once more. */
const poison: ReadonlySet<Operation> = new Set<Operation>([
  'bigint',
  'buffer',
  'carry',
  'crack',
  'cyclic',
  'inherited',
  'inplace',
  'spin',
]);

/** In pages: newest first, each once. */
export async function allLetters(supervisor: Supervisor): Promise<readonly DeadLetter[]> {
  const letters: DeadLetter[] = [];
  for (;;) {
    const before = letters.at(-1)?.place;
    const page = await supervisor.deadLetters({ limit: 3, ...(before === undefined ? {} : { before }) });
    for (const letter of page) {
      const last = letters.at(-1);
      must(last === undefined || letter.place < last.place, 'dead letters are not listed newest first');
      letters.push(letter);
    }
    if (page.length === 0) return letters;
  }
}
