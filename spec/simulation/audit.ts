import { expect } from 'chai';
import { checkEntry } from '../../lib/store/chain.js';
import { keys } from '../../lib/store/keys.js';
import type { Store } from '../../lib/store/contract.js';
import type { LogEntry } from '../../lib/supervisor/contract.js';
import type { Json } from '../../machines/ground.js';
import { stateNames } from '../../machines/state-names.js';
import { housesOfEach, type Deed, type Outcome } from './run.js';

/** Holds what is in the store against a plain model of what the client was told. Throws with the deed that does not fit. */
export async function audit(outcome: Outcome): Promise<void> {
  const town = new Registry(outcome);
  for (const deed of outcome.deeds) town.check(deed);
  town.checkEffects();
  const numbers = outcome.deeds.flatMap(({ number }) => number ?? []);
  expect(new Set(numbers).size, 'no number is given twice').to.equal(numbers.length);
  await checkStore(outcome.store, outcome.faults);
}

class Registry {
  constructor(private readonly outcome: Outcome) {}

  check(deed: Deed): unknown {
    const { id, command: { do: what, who, whom } } = deed;
    const here = who % housesOfEach;
    const there = whom % housesOfEach;
    switch (what) {
      case 'add': return this.expectKnown(deed, this.times('book', here, 'deeds', id));
      case 'forward': return this.expectAll(deed, this.expectKnown(deed, this.times('post', here, 'deeds', id)), [['book', there, 'deeds', `mail:${id}`], ['book', there, 'deeds', `copy:${id}`]]);
      case 'later': return this.expectAll(deed, this.expectKnown(deed, this.times('bell', here, 'deeds', id)), [['bell', here, 'rang', id]]);
      case 'order': case 'forge': {
        const shop = what === 'order' ? 'shop' : 'smithy';
        const done = this.expectKnown(deed, this.times(shop, here, 'deeds', id));
        const outcomes = this.list(shop, here, 'outcomes').filter((text) => text.startsWith(`${id}=`));
        expect(outcomes.length, `${id} has one outcome`).to.equal(done);
        // A fenced effect that died after its note does not know; one whose note could not be written has failed.
        if (done === 1) expect(outcomes[0]).to.be.oneOf(what === 'order' ? [`${id}=done`] : [`${id}=done`, `${id}=unknown`, `${id}=failed`]);
        return undefined;
      }
      case 'hatch': return this.expectAll(deed, this.expectKnown(deed, this.times('nest', here, 'deeds', id)), [['nest', here, 'hatched', id]]);
      case 'move': return this.expectAll(deed, this.expectKnown(deed, this.times('book', here, 'deeds', id)), [
        ['bell', there, 'deeds', id], ['bell', there, 'rang', id], ['post', there, 'deeds', id], ['book', here, 'deeds', `mail:${id}`], ['book', here, 'deeds', `copy:${id}`],
      ]);
      case 'number': return undefined;
    }
  }

  /** Keyed effects may act again under their key; fenced ones never; none acts for nothing. */
  checkEffects(): void {
    for (const [key, times] of this.outcome.acts) if (key.startsWith('smithy/')) expect(times, `the fenced effect ${key} acts once`).to.equal(1);
    for (const shop of ['shop', 'smithy']) {
      for (let house = 0; house < housesOfEach; house += 1) {
        const done = this.list(shop, house, 'outcomes').filter((text) => text.endsWith('=done')).length;
        const acts = [...this.outcome.acts.keys()].filter((key) => key.startsWith(`${shop}/h${house}/`)).length;
        expect(acts, `${shop} ${house} has acted for every outcome`).to.be.at.least(done);
      }
    }
  }

  /** Never twice; acknowledged once; refused not at all. Answers how often. */
  private expectKnown({ id, knowledge }: Deed, times: number): 0 | 1 {
    if (times > 1) expect.fail(`${id} was done ${times} times`);
    if (knowledge === 'acknowledged' && times === 0) expect.fail(`${id} was acknowledged and is lost`);
    if (knowledge === 'refused' && times === 1) expect.fail(`${id} was refused and is there`);
    return times as 0 | 1;
  }

  private expectAll(deed: Deed, times: 0 | 1, places: readonly (readonly [kind: string, house: number, list: string, id: string])[]): void {
    for (const [kind, house, list, id] of places) expect(this.times(kind, house, list, id), `${deed.id} (${deed.knowledge}) as ${id} in the ${list} of ${kind} ${house}`).to.equal(times);
  }

  private times(kind: string, house: number, list: string, id: string): number {
    return this.list(kind, house, list).filter((known) => known === id).length;
  }

  private list(kind: string, house: number, list: string): readonly string[] {
    return (this.outcome.views.get(`${kind}/h${house}`)?.[list] ?? []) as readonly string[];
  }
}

/** At rest nothing is owed, the log is whole and tells the same as the records, lists name every actor once. */
async function checkStore(store: Store, faults: readonly string[]): Promise<void> {
  expect(faults.filter((line) => !line.includes('injected fault')), 'nothing was logged as a fault').to.deep.equal([]);
  for (const [prefix, what] of [['i/', 'messages'], ['o/', 'effects'], ['t/', 'timers'], ['d/', 'dead letters']] as const) {
    expect(await rows(store, prefix), `${what} that are left over`).to.deep.equal([]);
  }
  const entries = await checkLog(store);
  const records = new Map((await rows(store, 'a/')).map(([key, value]) => [key, JSON.parse(value) as { rev: number; seq: number; kind: string; id: string; places: Record<string, number>; state: { value: Json; context: { deeds?: string[] } } }]));
  for (const [key, { rev, seq }] of records) {
    const own = entries.filter(({ kind, id }) => `a/${kind}/${id}` === key);
    expect(own.map((entry) => entry.rev), key).to.deep.equal(Array.from({ length: rev }, (_, index) => index + 1));
    expect(own.at(-1)?.seq).to.equal(seq);
  }
  await checkPlaces(store, records);
  expect(entries.filter(({ kind, id }) => !records.has(`a/${kind}/${id}`))).to.deep.equal([]);
  const listed = (await rows(store, 'x/')).map(([key, value]) => [key.split('/')[1], key.split('/')[4], Number(value)]);
  const expected = [...records].flatMap(([key, { kind, state }]) => state.context.deeds === undefined ? [] : [[kind, key.split('/')[2], state.context.deeds.length]]);
  expect(listed.map(String).sort()).to.deep.equal(expected.map(String).sort());
}

/** Every actor stands where its record says, once per innermost state, and the tallies are what a recount says. */
async function checkPlaces(store: Store, records: ReadonlyMap<string, { readonly kind: string; readonly id: string; readonly places: Readonly<Record<string, number>>; readonly state: { readonly value: Json } }>): Promise<void> {
  const expected: string[] = [];
  const tallies = new Map<string, number>();
  for (const { kind, id, places, state } of records.values()) {
    expect(Object.keys(places).sort(), `places of ${kind}/${id}`).to.deep.equal([...stateNames(state.value)]);
    for (const [name, since] of Object.entries(places)) expected.push(keys.place(kind, name, since, id));
    for (const name of [...Object.keys(places), '~all']) tallies.set(keys.count(`${kind}~places`, name), (tallies.get(keys.count(`${kind}~places`, name)) ?? 0) + 1);
  }
  expect((await rows(store, 's/')).map(([key]) => key)).to.deep.equal(expected.sort());
  const counted = (await rows(store, 'n/')).filter(([key]) => key.includes('~places/'));
  expect(counted.map(([key, value]) => [key, Number(value)])).to.deep.equal([...tallies].sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function checkLog(store: Store): Promise<LogEntry[]> {
  let chain = '';
  const entries: LogEntry[] = [];
  for (const [, value] of await rows(store, 'l/')) {
    const next = checkEntry(chain, value);
    if (next === undefined) expect.fail(`the chain breaks at ${value.slice(0, 80)}`);
    chain = next;
    const entry = JSON.parse(value) as LogEntry;
    expect(entry.seq, 'the log has no gap').to.equal(entries.length + 1);
    const before = entries.at(-1);
    expect(entry.tx, 'a commit is whole').to.equal(before === undefined || before.last ? entry.seq : before.tx);
    entries.push(entry);
  }
  expect(store.head).to.deep.equal({ seq: entries.length, chain });
  expect(entries.at(-1)?.last ?? true).to.equal(true);
  return entries;
}

async function rows(store: Store, prefix: string): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for (let after = prefix; ;) {
    const page = await store.page({ gt: after, lt: `${prefix}\x7f` });
    if (page.length === 0) return found;
    found.push(...page);
    after = page.at(-1)?.[0] ?? '';
  }
}
