import { pino } from 'pino';
import type { Store } from '../../lib/store/contract.js';
import { faultyStore } from '../../lib/store/faulty.js';
import { memoryStore } from '../../lib/store/memory.js';
import { createSupervisor } from '../../lib/supervisor/create.js';
import type { EventObject, Supervisor } from '../../lib/supervisor/contract.js';
import { virtualWorld, type VirtualWorld } from '../../lib/testing/virtual-world.js';
import { isRefusal } from '../../machines/refusals.js';
import { mortalStore, type MortalStore } from '../fixtures/mortal-store.js';
import { unclosable } from '../fixtures/house.js';
import { townKinds, type Outside } from './town.js';

/** Several lives of one town on one store: commands, and how each life ends. */
export type Command =
  | { readonly do: 'add' | 'forward' | 'later' | 'order' | 'forge' | 'hatch' | 'move' | 'number'; readonly who: number; readonly whom: number }
  | { readonly do: 'pass'; readonly ms: number };

export type Fate =
  /** Killed around its k-th write; where it never comes so far, at its end. */
  | { readonly kill: number; readonly when: 'before' | 'after' }
  /** One write fails and the store recovers; killed at its end. */
  | { readonly refuse: number }
  | 'stop';

export interface Life { readonly commands: readonly Command[]; readonly fate: Fate }

/** What the client knows of each deed. */
export type Knowledge = 'acknowledged' | 'refused' | 'unknown';
export interface Deed { readonly id: string; readonly command: Exclude<Command, { do: 'pass' }>; knowledge: Knowledge; number?: number }

export interface Outcome {
  readonly store: Store;
  readonly deeds: readonly Deed[];
  readonly acts: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
  /** Writes of the first life. */
  readonly writes: number;
  readonly views: ReadonlyMap<string, Record<string, unknown>>;
}

const residents = ['book', 'post', 'bell', 'shop', 'smithy', 'nest'] as const;
export const housesOfEach = 2;
const addressOf = (who: number): string => `h${who % housesOfEach}`;

export async function run(lives: readonly Life[]): Promise<Outcome> {
  const town = new Town();
  for (const life of lives) await town.live(life);
  return town.judgementDay();
}

class Town {
  private readonly inner = unclosable(memoryStore());
  private readonly deeds = new Map<string, Deed>();
  private readonly outside: Outside = { world: virtualWorld(), alive: () => true, acts: new Map() };
  private readonly faults: string[] = [];
  private readonly log = pino({ level: 'error', base: null }, { write: (line: string) => { this.faults.push(line); } });
  private clock: number | undefined;
  private seed = 1;
  private writes: number | undefined;

  async live({ commands, fate }: Life): Promise<void> {
    const { world, mortal, supervisor } = await this.open(fate);
    if (supervisor !== undefined) {
      await this.settleIn(supervisor, world);
      for (const deed of this.deeds.values()) if (deed.knowledge === 'unknown' && deed.command.do === 'add') void this.perform(supervisor, deed);
      for (const command of commands) {
        if (mortal.dead) break;
        if (command.do === 'pass') await world.advance(command.ms);
        else void this.perform(supervisor, this.note(command));
      }
      await world.settle();
      if (fate === 'stop' && !mortal.dead) {
        const stopped = supervisor.stop({ drainMs: 400 });
        await world.advance(400);
        await stopped;
      }
    }
    mortal.die();
    this.writes ??= mortal.writes;
    this.clock = world.steady();
  }

  /** The last life: nothing fails any more, everything that is owed gets its time. */
  async judgementDay(): Promise<Outcome> {
    const { world, supervisor } = await this.open('stop');
    if (supervisor === undefined) throw new Error('the last life did not begin');
    await this.settleIn(supervisor, world);
    for (const deed of this.deeds.values()) if (deed.knowledge === 'unknown' && deed.command.do === 'add') void this.perform(supervisor, deed);
    for (let step = 0; step < 120; step += 1) await world.advance(500);
    const views = new Map<string, Record<string, unknown>>();
    for (const kind of residents) {
      for (let who = 0; who < housesOfEach; who += 1) {
        const view = (await supervisor.get(kind, addressOf(who)))?.view;
        if (view !== undefined) views.set(`${kind}/${addressOf(who)}`, view as Record<string, unknown>);
      }
    }
    const stopped = supervisor.stop({ drainMs: 400 });
    await world.advance(400);
    await stopped;
    return { store: this.inner, deeds: [...this.deeds.values()], acts: this.outside.acts, faults: this.faults, writes: this.writes ?? 0, views };
  }

  private async open(fate: Fate): Promise<{ world: VirtualWorld; mortal: MortalStore; supervisor: Supervisor | undefined }> {
    const world = virtualWorld({ seed: this.seed++, log: this.log, ...(this.clock === undefined ? {} : { startAt: this.clock + 1 }) });
    const faulty = faultyStore(this.inner);
    const mortal = mortalStore(faulty);
    if (fate !== 'stop' && 'kill' in fate) mortal.dieAt(fate.kill, fate.when);
    if (fate !== 'stop' && 'refuse' in fate) faulty.fail({ failAt: fate.refuse, mode: 'before' });
    Object.assign(this.outside, { world, alive: () => !mortal.dead });
    const opening = createSupervisor({ kinds: townKinds(this.outside), store: mortal, world });
    const supervisor = await Promise.race([opening, mortal.death.then(() => undefined)]);
    return { world, mortal, supervisor };
  }

  private async settleIn(supervisor: Supervisor, world: VirtualWorld): Promise<void> {
    for (const kind of residents) for (let who = 0; who < housesOfEach; who += 1) void supervisor.spawn(kind, { id: addressOf(who) }).catch(() => undefined);
    await world.settle();
  }

  private note(command: Deed['command']): Deed {
    const deed: Deed = { id: `${command.do}${this.deeds.size}`, command, knowledge: 'unknown' };
    this.deeds.set(deed.id, deed);
    return deed;
  }

  private async perform(supervisor: Supervisor, deed: Deed): Promise<void> {
    try {
      const answer = await this.say(supervisor, deed);
      if (isRefusal(answer)) deed.knowledge = answer.code === 'NOT_FOUND' || answer.code === 'DRAINING' ? 'refused' : 'unknown';
      else {
        deed.knowledge = 'acknowledged';
        if (deed.command.do === 'number') deed.number = (answer as { result: number }).result;
      }
    } catch (error) {
      // A store that could not write has written nothing; the deed may be repeated.
      if ((error as { code?: string }).code !== 'STORE_UNAVAILABLE') throw error;
      deed.knowledge = deed.command.do === 'add' ? 'unknown' : 'refused';
    }
  }

  private say(supervisor: Supervisor, { id, command }: Deed): Promise<unknown> {
    const here = addressOf(command.who);
    const there = addressOf(command.whom);
    const ask = (kind: string, event: EventObject): Promise<unknown> => supervisor.ask(kind, here, { ...event, id });
    switch (command.do) {
      case 'add': return supervisor.ask('book', here, { type: 'add', id }, { idempotency: { key: id, scope: 'client', hash: id } });
      case 'forward': return ask('post', { type: 'forward', to: there });
      case 'later': return ask('bell', { type: 'later', ms: 200 + (command.whom * 733) % 3_000 });
      case 'order': return ask('shop', { type: 'order' });
      case 'forge': return ask('smithy', { type: 'order' });
      case 'hatch': return ask('nest', { type: 'hatch' });
      case 'number': return supervisor.transact({ name: 'number', actors: [], decide: (turns) => turns.count('numbers') });
      case 'move': return supervisor.transact({
        name: 'move', actors: [{ kind: 'book', id: here }, { kind: 'post', id: there }, { kind: 'bell', id: there }],
        decide: (turns) => {
          turns.send({ kind: 'bell', id: there }, { type: 'later', id, ms: 100 });
          turns.send({ kind: 'book', id: here }, { type: 'add', id });
          turns.send({ kind: 'post', id: there }, { type: 'forward', id, to: here });
          return null;
        },
      });
    }
  }
}
