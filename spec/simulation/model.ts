import type { Operation } from './plan.js';

/**
 * What a client knows of its operations, and what must therefore be found in the actors: acknowledged = there, exactly
 * once; refused = not there; unknown = there once or not at all; and whatever an operation sets off follows once for
 * each time it was done, no sooner.
 */
export interface Done {
  readonly id: string;
  readonly operation: Operation;
  readonly who: string;
  readonly whom: string;
  /** `failed`: its actor threw on it; it lies among the dead letters and may be retried. */
  knowledge: 'unknown' | 'acknowledged' | 'refused' | 'failed';
  number?: number;
  /** When it was first asked for, ms of real time since the machine was switched on. */
  readonly askedAt: number;
}

/** What no one may accept. */
const mustFail: ReadonlySet<Operation> = new Set(['spin', 'bigint', 'buffer', 'inplace', 'cyclic', 'bad-id']);

/** What actors show of themselves, by `kind/id`. */
export type Views = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

type Place = readonly [kind: string, id: string, list: string, item: string];

/** Where an operation leaves its mark, and where what it sets off does. */
function placesOf({ id, operation, who, whom }: Done): {
  readonly own?: Place;
  readonly then: readonly Place[];
} {
  switch (operation) {
    case 'add':
      return { own: ['account', who, 'done', id], then: [] };
    case 'pass-on':
      return {
        own: ['relay', who, 'done', id],
        then: [
          ['account', whom, 'done', `m:${id}`],
          ['relay', whom, 'done', `h:${id}`],
          ['account', whom, 'done', `m:h:${id}`],
          ['account', whom, 'done', `c:h:${id}`],
        ],
      };
    case 'set':
      return { own: ['alarm', who, 'done', id], then: [['alarm', who, 'rang', id]] };
    case 'name':
    case 'unset':
    case 'snooze':
      return { own: ['alarm', who, 'done', id], then: [] };
    case 'twice':
      return { own: ['alarm', who, 'done', `2:${id}`], then: [['alarm', who, 'done', id]] };
    case 'order':
      return { own: ['worker', who, 'done', id], then: [] };
    case 'guard':
      return { own: ['guarded', who, 'done', id], then: [] };
    case 'bear':
      return { own: ['parent', who, 'done', id], then: [['parent', who, 'ended', id]] };
    case 'touch':
      return { own: ['brittle', who, 'done', id], then: [] };
    case 'join':
      return { own: ['account', who, 'done', id], then: [['brittle', whom, 'done', id]] };
    case 'move':
      return {
        own: ['account', who, 'done', id],
        then: [
          ['alarm', whom, 'done', id],
          ['alarm', whom, 'rang', id],
          ['relay', whom, 'done', id],
          ['account', who, 'done', `m:${id}`],
          ['account', who, 'done', `c:${id}`],
        ],
      };
    default:
      return { then: [] };
  }
}

/**
 * Throws with the first operation that does not fit. `settled`: nothing is owed any more. `before` was read earlier
 * than `views`, so that nothing in it can be missing its cause in them.
 */
export function compare(all: Iterable<Done>, views: Views, before: Views, settled: boolean): void {
  const numbers = new Set<number>();
  const tally = tallyOf(views);
  const earlier = tallyOf(before);
  for (const done of all) {
    const { own, then } = placesOf(done);
    if (done.number !== undefined) {
      must(!numbers.has(done.number), `the number ${done.number} was given twice`);
      numbers.add(done.number);
    }
    must(
      done.knowledge !== 'acknowledged' || !mustFail.has(done.operation),
      `${done.id} cannot be kept, and was acknowledged`,
    );
    if (own === undefined) continue;
    const times = tally.get(own.join(' ')) ?? 0;
    must(times <= 1, `${done.id} was done ${times} times`);
    must(done.knowledge !== 'acknowledged' || times === 1, `${done.id} was acknowledged and is lost`);
    must(done.knowledge !== 'refused' || times === 0, `${done.id} was refused and is there`);
    for (const place of then) {
      const followed = (settled ? tally : earlier).get(place.join(' ')) ?? 0;
      must(
        followed <= times,
        `${place.join(' ')} came ${followed} times, ${done.id} was done ${times} times`,
      );
      must(!settled || followed === times, `${place.join(' ')} is missing, though ${done.id} was done`);
    }
  }
}

/** Effects: each order has one outcome in the end; a fenced one never acts twice; nothing is done that did not act. */
export function compareEffects(views: Views, acts: ReadonlyMap<string, number>, settled: boolean): void {
  for (const [key, times] of acts)
    if (key.startsWith('guarded/')) must(times === 1, `the fenced effect ${key} acted ${times} times`);
  for (const [actor, view] of views) {
    if (!actor.startsWith('worker/') && !actor.startsWith('guarded/')) continue;
    const { done, outcomes } = view as { done: string[]; outcomes: string[] };
    const names = outcomes.map((text) => text.split('=')[0]!);
    must(new Set(names).size === names.length, `${actor} has two outcomes of one order`);
    for (const name of names)
      must(done.includes(name), `${actor} has an outcome of ${name} without the order`);
    must(
      !settled || names.length === done.length,
      `${actor} has ${names.length} outcomes of ${done.length} orders`,
    );
    const acted = [...acts.keys()].filter((key) => key.startsWith(`${actor}/`)).length;
    const claimed = outcomes.filter((text) => text.endsWith('=done')).length;
    must(acted >= claimed, `${actor} claims ${claimed} effects, ${acted} acted`);
  }
}

/** A named timer is replaced by the next of its name: none rings twice, and the last one that was set does ring. */
export function compareTimers(views: Views, settled: boolean): void {
  for (const [actor, view] of views) {
    const shown = (view['done'] as unknown[]).find((item) => typeof item !== 'string' || item === 'in place');
    must(shown === undefined, `${actor} shows ${String(shown)}, which nobody committed`);
    if (!actor.startsWith('alarm/')) continue;
    const { named, rang, last } = view as { named: string[]; rang: string[]; last: string | null };
    must(new Set(named).size === named.length, `${actor} rang twice for one named timer`);
    must(new Set(rang).size === rang.length, `${actor} rang twice for one timer`);
    must(!settled || last === null, `${actor} waits for ${last}, which never rang`);
    must(!settled || view['value'] === 'awake', `${actor} was never woken`);
  }
}

export class Broken extends Error {
  override readonly name = 'Broken';
}

export function must(holds: boolean, sentence: string): void {
  if (!holds) throw new Broken(sentence);
}

function tallyOf(views: Views): Map<string, number> {
  const tally = new Map<string, number>();
  for (const [actor, view] of views) {
    const [kind, id] = actor.split('/');
    for (const [list, items] of Object.entries(view)) {
      if (!Array.isArray(items)) continue;
      for (const item of items) {
        const name = `${kind} ${id} ${list} ${String(item)}`;
        tally.set(name, (tally.get(name) ?? 0) + 1);
      }
    }
  }
  return tally;
}
