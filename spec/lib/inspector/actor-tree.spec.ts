import { expect } from 'chai';
import { setup } from 'xstate';
import { defineKind } from '../../../actors/define-kind.js';
import { treePage, type TreeQuery } from '../../../lib/inspector/actor-tree.js';
import type { TreePage } from '../../../lib/inspector/answers.js';
import { sortableText } from '../../../machines/sortable.js';
import { memoryStore } from '../../../lib/store/memory.js';
import type { Store } from '../../../lib/store/contract.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';

const leaf = defineKind({
  kind: 'leaf',
  version: 1,
  machine: setup({ types: {} as { input: { parentId?: string; id: string } } }).createMachine({
    id: 'leaf',
    context: ({ input }: { input: { parentId?: string } }) => ({ parentId: input.parentId ?? null }),
    initial: 'green',
    states: { green: {} },
  }),
  view: ({ value }) => value,
  index: ({ context }) =>
    context.parentId === null ? [] : [{ index: 'parent', key: `${sortableText(context.parentId)}/0` }],
});

/** The tree of actors, a page at a time: of ten thousand children no more is read than is shown. */
describe('a page of the actor tree', function () {
  this.timeout(180_000);
  let supervisor: Supervisor;
  /** Rows that the store has handed out. */
  let rows = 0;
  const children = 10_000;
  before(async () => {
    supervisor = (await createSupervisor({
      kinds: [leaf],
      store: counted(memoryStore(), (count) => (rows += count)),
    })) as unknown as Supervisor; // kinds of any name, as an inspector sees it
    for (const id of ['root', 'alone', 'with.dots']) await supervisor.spawn('leaf', { id });
    for (let n = 0; n < children; n += 500)
      await Promise.all(
        Array.from({ length: 500 }, (_, i) =>
          supervisor.spawn('leaf', { id: `c${n + i}`, parent: { kind: 'leaf', id: 'root' } }),
        ),
      );
    await supervisor.spawn('leaf', { id: 'listed', input: { parentId: 'c7' } });
    await supervisor.spawn('leaf', { id: 'dotted', input: { parentId: 'with.dots' } });
  });
  after(() => supervisor.stop());

  const page = (query: Partial<TreeQuery> = {}): Promise<TreePage> =>
    treePage(supervisor, { kind: 'leaf', limit: 100, ...query });

  it('reads a page of the children, says which of them have some, and goes on where it ended', async () => {
    rows = 0;
    const first = await page({ id: 'root' });
    expect(first.actors).to.have.length(100);
    expect(rows, 'rows read for 100 of 10,000').to.be.below(700);
    const seen = new Set<string>();
    let withChildren: readonly string[] = [];
    for (let after: string | null | undefined; after !== null;) {
      const { actors, next }: TreePage = await page({ id: 'root', limit: 200, after });
      for (const { id } of actors) seen.add(id);
      withChildren = [...withChildren, ...actors.flatMap(({ id, hasChildren }) => (hasChildren ? id : []))];
      after = next;
    }
    expect(seen.size, 'each once').to.equal(children);
    expect(withChildren).to.deep.equal(['c7']);
    expect((await page({ id: 'c7' })).actors.map(({ id, parent }) => [id, parent?.id])).to.deep.equal([
      ['listed', 'c7'],
    ]);
  });

  it('finds children in the lists of kinds whatever their parent is called', async () => {
    expect((await page({ id: 'with.dots' })).actors.map(({ id }) => id)).to.deep.equal(['dotted']);
  });

  it('shows under a kind who has no parent, a thousand from any place among them', async () => {
    const roots: string[] = [];
    for (let begin: Partial<TreeQuery> | undefined = { offset: 0 }; begin !== undefined;) {
      const { actors, next }: TreePage = await page({ ...begin, limit: 200 });
      roots.push(...actors.map(({ id }) => id));
      begin = next === null ? undefined : { after: next };
    }
    expect(roots).to.deep.equal(['alone', 'root', 'with.dots']);
    rows = 0;
    const last = await page({ offset: children });
    expect(last.actors.map(({ id }) => id)).to.deep.equal(['root', 'with.dots']);
    expect(rows, 'rows read at the end of 10,000').to.be.below(20);
  });

  it('answers a cursor that is no cursor with an end, and shows no outsider under an actor', async () => {
    for (const after of ['nonsense', 'leaf|zzz zzz', '~created|zzz/zzz', '~receipts|x'])
      expect((await page({ id: 'alone', after })).actors, after).to.deep.equal([]);
  });
});

/** A store that says how many rows it handed out. */
function counted(store: Store, add: (rows: number) => void): Store {
  const page: Store['page'] = async (range) => {
    const rows = await store.page(range);
    add(rows.length);
    return rows;
  };
  const getMany: Store['getMany'] = async (names) => {
    const found = await store.getMany(names);
    add(found.length);
    return found;
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'page') return page;
      if (name === 'getMany') return getMany;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}
