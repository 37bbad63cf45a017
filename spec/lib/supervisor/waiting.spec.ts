import { expect } from 'chai';
import type { Kind } from '../../../actors/contracts.js';
import type { Waiting } from '../../../machines/waiting.js';
import { openHouse, type House } from '../../fixtures/house.js';
import { counterKind } from '../../fixtures/kinds.js';

/** What waits for someone, of all kinds: in one order over all pages, each once. */
describe('supervisor.waiting', () => {
  let house: House;
  afterEach(() => house.stop());

  const waits = (kind: string, waiting: (n: number) => readonly Waiting[]): Kind => ({
    ...(counterKind() as unknown as Kind),
    kind,
    waitingFor: ({ context }) => waiting((context as { n: number }).n),
  });
  const one = (id: string, since: number, until: number | null = null): Waiting => ({
    id,
    what: 'gate',
    title: id,
    on: 'operator',
    since,
    until,
  });
  async function all(limit: number): Promise<readonly string[]> {
    const found: string[] = [];
    let after: string | null | undefined;
    for (let pages = 0; after !== null && pages < 100; pages += 1) {
      const page = await house.supervisor.waiting({ limit, ...(after === undefined ? {} : { after }) });
      found.push(...page.items.map(({ actor, waiting }) => `${actor.kind}/${actor.id}:${waiting.id}`));
      after = page.next;
    }
    return found;
  }

  // The pages were read in the order of encoded keys and cut in that of decoded ones: `/` is stored as `%2F`.
  it('shows each once, whatever the page, also ids with slashes that began in one millisecond', async () => {
    const ids = ['build/qa@1', 'build-2/qa@1', 'build.x', 'p', 'p/', 'p-1/', 'ü'];
    house = await openHouse([
      waits('gated', () => ids.map((id) => one(id, 5))),
      waits('other', () => [one('p', 5), one('late', 9), one('early', 1)]),
    ]);
    await house.supervisor.spawn('gated', { id: 'a:b' });
    await house.supervisor.spawn('gated', { id: 'a-b' });
    await house.supervisor.spawn('other', { id: 'o' });
    const whole = await all(500);
    expect(whole).to.have.length(2 * ids.length + 3);
    expect(whole[0]).to.equal('other/o:early');
    expect(whole.at(-1)).to.equal('other/o:late');
    for (const limit of [1, 2, 3, 7]) expect(await all(limit), `pages of ${limit}`).to.deep.equal(whole);
  });

  it('leaves out what has ended by itself', async () => {
    house = await openHouse([waits('gated', () => [one('over', 1, 2), one('open', 1)])]);
    await house.supervisor.spawn('gated', { id: 'a' });
    expect(await all(10)).to.deep.equal(['gated/a:open']);
    const { items } = await house.supervisor.waiting({ actor: { kind: 'gated', id: 'a' } });
    expect(items.map(({ waiting }) => waiting.id)).to.deep.equal(['open']);
  });

  // To decide one thing, everything that waits was read
  it('shows what one actor waits for, and nothing of one that is not there', async () => {
    house = await openHouse([waits('gated', () => [one('now', 1), one('later', 2)])]);
    for (const id of ['a', 'b']) await house.supervisor.spawn('gated', { id });
    const of = (kind: string, id: string) => house.supervisor.waiting({ actor: { kind, id } });
    const page = await of('gated', 'b');
    expect(page.items.map(({ actor, waiting }) => [actor.id, waiting.id])).to.deep.equal([
      ['b', 'now'],
      ['b', 'later'],
    ]);
    expect(page.next).to.equal(null);
    expect([await of('gated', 'c'), await of('of no module', 'a')]).to.deep.equal([
      { items: [], next: null },
      { items: [], next: null },
    ]);
  });
});
