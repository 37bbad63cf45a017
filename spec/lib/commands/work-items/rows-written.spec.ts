import { expect } from 'chai';
import { workItemKind } from '../../../../actors/work-item/kind.js';
import type { Group, Op } from '../../../../lib/store/contract.js';
import { memoryStore } from '../../../../lib/store/memory.js';
import { createSupervisor } from '../../../../lib/supervisor/supervisor.js';
import type { Supervisor } from '../../../../lib/supervisor/contract.js';

/**
 * What a work item costs on the disk. Each list that is ordered by the last change is two rows more at every change,
 * each of them written to both copies: a list has to be worth that. Totals are rows now and then; between, the log
 * carries them.
 */
describe('rows of a work item', () => {
  const buyMilk = {
    title: 'Buy milk',
    body: 'Two litres, and no sugar',
    acceptance: null,
    assignee: null,
    department: null,
    verifyPolicy: null,
    source: 'human',
    sourceRef: null,
    createdBy: 'operator',
  };
  const groups: Group[] = [];
  let supervisor: Supervisor;

  before(async () => {
    const store = memoryStore();
    const { write } = store;
    store.write = (group) => {
      groups.push(group);
      return write(group);
    };
    supervisor = (await createSupervisor({ kinds: [workItemKind()], store })) as unknown as Supervisor;
  });
  after(() => supervisor.stop());

  const written = async (work: () => Promise<unknown>): Promise<{ rows: number; chars: number }> => {
    groups.length = 0;
    const answer = await work();
    expect(answer).to.have.property('revision');
    const ops: readonly Op[] = groups.flatMap((group) => group.ops);
    return {
      rows: ops.length,
      chars: ops.reduce((sum, [key, value]) => sum + key.length + (value?.length ?? 0), 0),
    };
  };
  const create = (id: string, fields: object) =>
    supervisor.spawn('work-item', {
      id,
      input: { ...buyMilk, ...fields } as never,
    });
  const move = (id: string, status: string) =>
    supervisor.ask('work-item', id, { type: 'item.move', status } as never);

  for (const [what, fields, most] of [
    ['without owner', {}, { created: [7, 3_100], moved: [9, 2_600] }],
    [
      'with department and owner',
      { department: 'dev', assignee: 'ann' },
      { created: [8, 3_300], moved: [11, 2_900] },
    ],
  ] as const)
    it(`are few ${what}`, async () => {
      const id = `item-${Object.keys(fields).length}`;
      const created = await written(() => create(id, fields));
      expect(created.rows).to.be.at.most(most.created[0]);
      expect(created.chars).to.be.at.most(most.created[1]);
      const moved = await written(() => move(id, 'executing'));
      expect(moved.rows).to.be.at.most(most.moved[0]);
      expect(moved.chars).to.be.at.most(most.moved[1]);
    });
});
