import { expect } from 'chai';
import { fresh, inStatus, ledger, view } from './beings.js';

const edit = (dueAt: number | null, expectedVersion: number) => ({
  type: 'item.edit',
  patch: { dueAt },
  expectedVersion,
});
const told = (item: ReturnType<typeof fresh>) =>
  ledger(item).filter(({ detail }) => detail?.['action'] === 'due');

describe('a due date', () => {
  it('that passes on open work is told once, in the ledger and to watchers', () => {
    const item = fresh({ dueAt: 1_700_000_000_000 + 5_000 });
    item.advance(4_999);
    expect(told(item)).to.deep.equal([]);
    item.advance(1);
    item.advance(1_000_000);
    expect(told(item)).to.have.length(1);
    expect(told(item)[0]).to.deep.include({ kind: 'note', actor: 'system' });
    expect(item.frames('company:changed').at(-1)?.payload).to.deep.include({
      entity: 'todo',
      action: 'due',
      id: 'TRP-1',
    });
  });

  it('moves with every edit, and goes when it is taken away', () => {
    const item = fresh();
    item.send(edit(item.at + 1_000, view(item).version));
    item.send(edit(item.at + 9_000, view(item).version));
    item.advance(8_999);
    expect(told(item)).to.deep.equal([]);
    item.advance(1);
    expect(told(item)).to.have.length(1);
    item.send(edit(item.at + 1_000, view(item).version));
    item.send(edit(null, view(item).version));
    expect([...item.timers.keys()]).to.deep.equal([]);
  });

  it('stays when something else is edited', () => {
    const item = fresh({ dueAt: 1_700_000_000_000 + 5_000 });
    item.send({ type: 'item.edit', patch: { title: 'Dig two wells' }, expectedVersion: 1 });
    item.advance(5_000);
    expect(told(item)).to.have.length(1);
  });

  it('says nothing on work that is done or cancelled', () => {
    for (const status of ['done', 'cancelled'] as const) {
      const item = inStatus(status, { dueAt: 1_700_000_000_000 + 5_000 });
      item.advance(10_000);
      expect(told(item), status).to.deep.equal([]);
    }
  });

  it('cannot be told from outside', () => {
    expect(fresh({ dueAt: 1 }).send({ type: 'item.due' })?.code).to.equal('UNKNOWN_EVENT');
  });
});
