import type { EventObject, Supervisor } from '../../lib/supervisor/contract.js';
import { isRefusal } from '../../machines/refusals.js';
import type { Machine, SimulatedProcess } from './machine.js';
import type { Done } from './model.js';
import { residentsOfEach, type Operation, type Step } from './plan.js';

/**
 * The clients of a history. They outlive every process: what they were told, and what they were not told, is all that
 * is known about an operation. One that no one answered is asked again in the next life where it has a key.
 */
export const residents = ['account', 'relay', 'alarm', 'worker', 'guarded', 'parent', 'brittle'] as const;
const extras = ['retired'] as const;
export const idOf = (who: number): string => `a${who}`;

export class Clients {
  readonly all = new Map<string, Done>();
  /** Actors that are known to exist. */
  private readonly known = new Set<string>();
  readonly tickets: string[] = [];
  /** Answers that broke off unexpectedly. */
  readonly surprises: string[] = [];
  acknowledged = 0;
  /** Operations of this life that were not answered yet, and since when, microseconds of the machine. */
  readonly unanswered = new Map<string, number>();
  private version: 1 | 2 = 1;

  constructor(private readonly machine: Machine) {}

  /** What someone who is well, and whom nothing holds up, should have answered by now. */
  overdue(quietSince: number): string | undefined {
    for (const [id, since] of this.unanswered)
      if (
        this.all.get(id)?.operation === 'add' &&
        since > quietSince &&
        this.machine.now - since > answeredWithin
      )
        return id;
    return undefined;
  }

  async settleIn(supervisor: Supervisor, process: SimulatedProcess, version: 1 | 2): Promise<void> {
    this.version = version;
    this.unanswered.clear();
    await Promise.all(
      [...residents, ...(version === 1 ? extras : [])].flatMap((kind) =>
        Array.from({ length: residentsOfEach }, async (_, who) => {
          const answer = await supervisor.spawn(kind, { id: idOf(who) }).catch((error: unknown) => error);
          if (!process.alive) return;
          const there = isRefusal(answer) ? answer.code === 'EXISTS' : !(answer instanceof Error);
          if (there) this.known.add(`${kind}/${idOf(who)}`);
        }),
      ),
    );
  }

  /** Ask again for what no one answered, under the same key. */
  again(supervisor: Supervisor, process: SimulatedProcess, passedMs: number): void {
    // The one who has lost the answer asks again too, as long as keys are kept
    for (const done of [...this.all.values()].slice(-20))
      if (
        done.operation === 'add' &&
        done.knowledge === 'acknowledged' &&
        passedMs - done.askedAt < 20 * 3_600_000
      )
        void this.perform(supervisor, process, done, undefined);
    for (const done of this.all.values())
      if (
        done.operation === 'add' &&
        done.knowledge !== 'acknowledged' &&
        passedMs - done.askedAt < 20 * 3_600_000
      ) {
        done.knowledge = 'unknown';
        void this.perform(supervisor, process, done, undefined);
      }
  }

  ask(
    supervisor: Supervisor,
    process: SimulatedProcess,
    passedMs: number,
    step: Step & { readonly do: Operation },
  ): void {
    const operation = step.do;
    const id = `${operation}${this.all.size}`;
    const done: Done = {
      id,
      operation,
      who: idOf(step.who),
      whom: idOf(step.whom),
      knowledge: 'unknown',
      askedAt: passedMs,
    };
    if (!this.possible(done)) return;
    this.all.set(id, done);
    void this.perform(supervisor, process, done, step);
  }

  /** Only where all whom it concerns are known to be there. */
  private possible({ operation, who, whom }: Done): boolean {
    const knows = (kind: string, id: string): boolean => this.known.has(`${kind}/${id}`);
    switch (operation) {
      case 'add':
        return knows('account', who);
      case 'pass-on':
        return knows('relay', who) && knows('relay', whom) && knows('account', whom);
      case 'set':
      case 'name':
      case 'unset':
      case 'twice':
      case 'snooze':
        return knows('alarm', who);
      case 'order':
        return knows('worker', who);
      case 'guard':
        return knows('guarded', who);
      case 'bear':
        return knows('parent', who);
      case 'touch':
      case 'crack':
      case 'repair':
      case 'spin':
      case 'bigint':
      case 'buffer':
      case 'inplace':
      case 'inherited':
      case 'carry':
        return knows('brittle', who);
      case 'join':
        return knows('account', who) && knows('brittle', whom);
      case 'retire':
        return this.version === 1 && knows('retired', who);
      case 'cyclic':
        return knows('account', who) && knows('relay', whom);
      case 'move':
        return knows('account', who) && knows('alarm', whom) && knows('relay', whom);
      case 'close':
        return this.tickets.length > 0;
      default:
        return true;
    }
  }

  private async perform(
    supervisor: Supervisor,
    process: SimulatedProcess,
    done: Done,
    step: (Step & { readonly do: Operation }) | undefined,
  ): Promise<void> {
    this.unanswered.set(done.id, this.machine.now);
    // Asked again, a refusal says nothing of what came of the first time (seed 123450)
    const refused = step === undefined ? 'unknown' : 'refused';
    try {
      const answer = await this.say(supervisor, done, step);
      if (!process.alive) return;
      this.unanswered.delete(done.id);
      if (isRefusal(answer)) {
        if (done.knowledge === 'acknowledged' && answer.code === 'IDEMPOTENCY_CONFLICT') return;
        if (done.knowledge !== 'acknowledged') done.knowledge = refused;
        return;
      }
      done.knowledge = 'acknowledged';
      this.acknowledged += 1;
      if (done.operation === 'open' || done.operation === 'issue') this.tickets.push(done.id);
      if (done.operation === 'number' || done.operation === 'issue')
        done.number = (answer as { result: number }).result;
    } catch (error) {
      if (!process.alive) return;
      this.unanswered.delete(done.id);
      const { code, name } = error as { code?: string; name?: string };
      if (done.knowledge === 'acknowledged') return; // it was asked again
      if (code === 'STORE_UNAVAILABLE') done.knowledge = refused;
      else if (code === 'OUTCOME_UNKNOWN') done.knowledge = 'unknown';
      else if (name === 'Fault' && mayFail.has(done.operation)) done.knowledge = 'failed';
      else this.surprises.push(`${done.id}: ${String(error)}`);
    }
  }

  private say(
    supervisor: Supervisor,
    done: Done,
    step: (Step & { readonly do: Operation }) | undefined,
  ): Promise<unknown> {
    const { id, who, whom } = done;
    const ask = (kind: string, event: EventObject): Promise<unknown> =>
      supervisor.ask(kind, who, { ...event, id });
    // Some lie so far ahead that they are on the disk alone until their time comes near
    const ms = 200 + ((this.all.size * 733) % (this.all.size % 5 === 0 ? 45_000 : 3_000));
    switch (done.operation) {
      case 'add':
        return supervisor.ask(
          'account',
          who,
          { type: 'add', id },
          { idempotency: { key: id, scope: 'client', hash: id } },
        );
      case 'pass-on':
        return ask('relay', { type: 'pass', to: whom, hops: 1 });
      case 'set':
        return ask('alarm', { type: 'set', ms });
      case 'name':
        return ask('alarm', { type: 'name', ms });
      case 'unset':
        return ask('alarm', { type: 'unset' });
      case 'twice':
        return supervisor.transact({
          name: 'twice',
          actors: [{ kind: 'alarm', id: who }],
          run(turns) {
            turns.send({ kind: 'alarm', id: who }, { type: 'name', id, ms });
            turns.send({ kind: 'alarm', id: who }, { type: 'name', id: `2:${id}`, ms });
            return null;
          },
        });
      case 'snooze':
        return ask('alarm', { type: 'snooze' });
      case 'order':
        return ask('worker', { type: 'order', behaviour: step?.behaviour ?? 'good' });
      case 'guard':
        return ask('guarded', { type: 'order', behaviour: step?.behaviour ?? 'good' });
      case 'bear':
        return ask('parent', { type: 'bear' });
      case 'touch':
      case 'crack':
      case 'repair':
      case 'spin':
      case 'bigint':
      case 'buffer':
      case 'inplace':
        return ask('brittle', { type: done.operation });
      case 'inherited':
        return ask('brittle', { type: 'constructor' });
      case 'carry':
        return ask('brittle', {
          type: 'carry',
          value: JSON.parse('{"constructor":1,"prototype":{"__proto__":2}}') as object,
        } as EventObject);
      case 'join':
        return supervisor.transact({
          name: 'join',
          actors: [
            { kind: 'account', id: who },
            { kind: 'brittle', id: whom },
          ],
          run(turns) {
            turns.send({ kind: 'account', id: who }, { type: 'add', id });
            turns.send({ kind: 'brittle', id: whom }, { type: 'touch', id });
            return null;
          },
        });
      case 'retire':
        return ask('retired', { type: 'order', behaviour: 'slow' });
      case 'bad-id':
        return supervisor.transact({
          name: 'bad-id',
          actors: [],
          run(turns) {
            turns.create('ticket', `${id}","kind":"account`);
            return null;
          },
        });
      case 'cyclic':
        return supervisor.transact({
          name: 'cyclic',
          actors: [
            { kind: 'account', id: who },
            { kind: 'relay', id: whom },
          ],
          idempotency: { key: id, scope: 'client', hash: id },
          run() {
            const result: Record<string, unknown> = {};
            result['self'] = result;
            return result as never;
          },
        });
      case 'issue':
        return supervisor.transact({
          name: 'issue',
          actors: [],
          run(turns) {
            const number = turns.next('numbers');
            turns.create('ticket', id);
            return number;
          },
        });
      case 'open':
        return supervisor.spawn('ticket', { id });
      case 'close':
        return supervisor.ask('ticket', this.tickets.shift()!, { type: 'close' });
      case 'number':
        return supervisor.transact({ name: 'number', actors: [], run: (turns) => turns.next('numbers') });
      case 'move':
        return supervisor.transact({
          name: 'move',
          actors: [
            { kind: 'account', id: who },
            { kind: 'relay', id: whom },
            { kind: 'alarm', id: whom },
          ],
          run(turns) {
            turns.send({ kind: 'alarm', id: whom }, { type: 'set', id, ms: 100 });
            turns.send({ kind: 'account', id: who }, { type: 'add', id });
            turns.send({ kind: 'relay', id: whom }, { type: 'pass', id, to: who, hops: 0 });
            return null;
          },
        });
    }
  }
}

/** Events that their actor throws on, or must. */
const mayFail: ReadonlySet<Operation> = new Set([
  'touch',
  'spin',
  'bigint',
  'buffer',
  'inplace',
  'cyclic',
  'bad-id',
  'join',
]);

const answeredWithin = 1_000_000;
