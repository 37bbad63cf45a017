import { expect } from 'chai';
import { aligned } from '../../../lib/inspector/chart/aligned.js';
import { chartOf } from '../../../lib/inspector/chart/chart-of.js';
import type { Box } from '../../../lib/inspector/chart/drawing.js';
import { layOut } from '../../../lib/inspector/chart/lay-out.js';
import { inRows, type Room } from '../../../lib/inspector/chart/regions.js';
import { catalogue } from '../../charts/catalogue.js';
import { exampleMachines } from '../../fixtures/example-machines.js';

/** Parallel regions, placed by how much is seen at once. */
describe('regions in rows', () => {
  const two: readonly Room[] = [
    { width: 900, height: 400 },
    { width: 700, height: 300 },
  ];

  it('stand side by side where that shows them larger, else below each other', () => {
    expect(inRows(two, { width: 1_600, height: 400 })).to.deep.equal({
      width: 1_614,
      height: 400,
      places: [
        { x: 0, y: 0 },
        { x: 914, y: 0 },
      ],
    });
    expect(inRows(two, { width: 1_000, height: 900 })).to.deep.equal({
      width: 900,
      height: 714,
      places: [
        { x: 0, y: 0 },
        { x: 0, y: 414 },
      ],
    });
  });

  it('fill rows where neither one row nor one column is best', () => {
    const four = Array.from({ length: 4 }, () => ({ width: 240, height: 200 }));
    const { places, width, height } = inRows(four, { width: 500, height: 420 });
    expect([width, height]).to.deep.equal([494, 414]);
    expect(places.map(({ x, y }) => `${x} ${y}`)).to.deep.equal(['0 0', '254 0', '0 214', '254 214']);
  });

  it('need no room to be placed, the same everywhere', () => {
    expect(inRows(two).height).to.equal(714);
    expect(inRows([two[1] as Room, { width: 500, height: 10 }]).height).to.equal(300);
    expect(inRows([]).places).to.deep.equal([]);
  });

  // A work item stands in two regions, and 1,500 pixels lay between them on a screen that is wider than high
  it('bring what is active at once together on a desk, and keep to the width of a phone', () => {
    const machine = catalogue.find(({ name }) => name === 'work-item')?.machine;
    const chart = chartOf(machine as (typeof catalogue)[number]['machine']);
    const boxes = (room: Room): [Box, Box] =>
      ['work', 'approval'].map((path) =>
        layOut(chart, room).boxes.find((box) => box.path === path && box.shape !== 'any'),
      ) as [Box, Box];
    const [work, approval] = boxes({ width: 1_134, height: 520 });
    expect(approval.y).to.equal(work.y);
    expect(approval.x).to.be.greaterThan(work.x + work.width);
    const [above, below] = boxes({ width: 324, height: 440 });
    expect(below.x).to.equal(above.x);
    expect(below.y).to.be.greaterThan(above.y + above.height);
  });

  // In the lowest states of the work the approval that it waits for lay a screen above what was seen
  it('stand so that what is active in them is beside each other, and keep to their row', () => {
    const machine = catalogue.find(({ name }) => name === 'work-item')?.machine;
    const chart = chartOf(machine as (typeof catalogue)[number]['machine']);
    const before = layOut(chart, { width: 1_134, height: 520 });
    const tops = (path: string): { readonly work: number; readonly approval: number } => {
      const { boxes, arrows } = aligned(before, chart.root, ['work', path, 'approval', 'approval.pending']);
      const at = (one: string): Box => boxes.find((box) => box.path === one && box.shape !== 'any') as Box;
      const [work, approval] = [at('work'), at('approval')];
      expect(approval.y).to.be.at.least(work.y);
      expect(approval.y + approval.height).to.be.at.most(work.y + work.height);
      for (const { to, points } of arrows)
        expect(points.at(-1)?.y).to.be.within(at(to).y - 1, at(to).y + at(to).height + 1);
      return { work: at(path).y, approval: at('approval.pending').y };
    };
    for (const state of ['executing', 'in_review', 'done', 'escalated']) {
      const { work, approval } = tops(`work.${state}`);
      expect(approval, state).to.equal(work);
    }
    expect(aligned(before, chart.root, ['work', 'work.backlog', 'approval', 'approval.none'])).to.equal(
      before,
    );
  });

  it('hold all four regions of a word processor in each of three rooms', () => {
    const { machine } = exampleMachines.find(({ name }) => name === 'word-processor') ?? {};
    const sizes = [1_134, 718, 324].map((width) => {
      const drawing = layOut(chartOf(machine as (typeof exampleMachines)[number]['machine']), {
        width,
        height: 440,
      });
      expect(drawing.boxes.filter(({ depth }) => depth === 1)).to.have.length(4);
      return Math.min(width / drawing.width, 440 / drawing.height);
    });
    expect(Math.min(...sizes)).to.be.greaterThan(0.45);
  });
});
