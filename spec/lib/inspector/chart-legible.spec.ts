import { expect } from 'chai';
import { chartOf } from '../../../lib/inspector/chart/chart-of.js';
import { areaOf, type as sizes, widthOf } from '../../../lib/inspector/chart/drawing.js';
import type { Area, Arrow, Box, Drawing, Point } from '../../../lib/inspector/chart/drawing.js';
import { layOut } from '../../../lib/inspector/chart/lay-out.js';
import { curve } from '../../../lib/inspector/chart/svg-of.js';
import { catalogue } from '../../charts/catalogue.js';
import { exampleMachines } from '../../fixtures/example-machines.js';

/**
 * What would not be printed: an arrow through a state that it has nothing to do with, through a name, or words upon other
 * words. Arrows over two borders were led to the outermost frame: they ran through the states inside, and in loops.
 */
describe('a drawing that can be read', () => {
  for (const { name, machine } of [...catalogue, ...exampleMachines])
    for (const room of [undefined, { width: 1_134, height: 468 }, { width: 324, height: 440 }]) {
      const drawing = layOut(chartOf(machine), room);
      it(`of ${name} leads no arrow through a state or its name${room ? `, ${room.width} wide` : ''}`, () => {
        const through = drawing.arrows.flatMap((arrow) => {
          const points = pointsOf(arrow);
          return drawing.boxes
            .flatMap((box) => bodyOf(box, arrow))
            .filter((area) => points.some((point) => isIn(point, area)))
            .map(({ path }) => `${arrow.from} → ${arrow.to} through ${path}`);
        });
        expect(through).to.deep.equal([]);
      });

      it(`of ${name} keeps words apart, and off the states${room ? `, ${room.width} wide` : ''}`, () => {
        const words = drawing.arrows.flatMap(({ label }) => (label === null ? [] : [areaOf(label)]));
        const upon = words.flatMap((area, n) => [
          ...words.slice(n + 1).filter((other) => overlap(area, other)),
          ...leaves(drawing).filter((box) => overlap(area, box)),
        ]);
        expect(upon).to.deep.equal([]);
      });

      // Two arrows of a session met in one point: no one saw that one comes where the other goes
      it(`of ${name} lets no two arrows end at one point${room ? `, ${room.width} wide` : ''}`, () => {
        const ends = drawing.arrows.flatMap(({ from, to, points }) =>
          [points[0], points.at(-1)].map((point) => ({ name: `${from} → ${to}`, ...(point as Point) })),
        );
        const met = ends.flatMap((one, n) =>
          ends
            .slice(n + 1)
            .filter((other) => Math.hypot(one.x - other.x, one.y - other.y) < 5)
            .map((other) => `${one.name} and ${other.name}`),
        );
        expect(met).to.deep.equal([]);
      });
    }

  it('would notice an arrow through a state, and words upon it', () => {
    const box = leaf('b', 100);
    const arrow: Arrow = {
      edges: ['e0'],
      from: 'a',
      to: 'c',
      points: [
        { x: 60, y: 20 },
        { x: 240, y: 20 },
      ],
      label: { x: 130, y: 20, lines: ['go'], whole: 'go' },
    };
    expect(bodyOf(box, arrow).some((area) => pointsOf(arrow).some((point) => isIn(point, area)))).to.equal(
      true,
    );
    expect(overlap(areaOf(arrow.label as NonNullable<Arrow['label']>), box)).to.equal(true);
  });
});

const leaf = (path: string, x: number): Box => ({
  path,
  shape: 'atomic',
  x,
  y: 0,
  width: 80,
  height: 40,
  title: path,
  lines: [],
  depth: 1,
});

const isFrame = ({ shape }: Box): boolean =>
  shape === 'root' || shape === 'compound' || shape === 'parallel' || shape === 'region';
const leaves = ({ boxes }: Drawing): readonly Box[] => boxes.filter((box) => !isFrame(box));

/** Where the arrow must not be: inside of a state without states, and of others where their name is. */
function bodyOf(box: Box, { from, to }: Arrow): readonly (Area & { readonly path: string })[] {
  const isOf = (path: string): boolean => path === box.path || path.startsWith(`${box.path}.`);
  if (!isFrame(box)) return [{ ...inset(box), path: box.path }];
  if (box.shape === 'root') return [];
  if (!isOf(from) && !isOf(to)) return [{ ...inset(box), path: box.path }];
  const name = { x: box.x + sizes.pad, y: box.y + 8, width: widthOf(box.title, 'title') * 0.9, height: 12 };
  return [{ ...name, path: `the name of ${box.path}` }];
}

const inset = ({ x, y, width, height }: Area): Area => ({
  x: x + 3,
  y: y + 3,
  width: width - 6,
  height: height - 6,
});
const isIn = ({ x, y }: Point, area: Area): boolean =>
  x > area.x && x < area.x + area.width && y > area.y && y < area.y + area.height;
const overlap = (a: Area, b: Area): boolean =>
  Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > 2 &&
  Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 2;

/** The curve as it is drawn, in steps of a few pixels. */
function pointsOf({ points }: Arrow): readonly Point[] {
  const numbers = (curve(points).match(/-?[\d.]+/g) ?? []).map(Number);
  const way: Point[] = [];
  for (let n = 0; n + 7 < numbers.length; n += 6) {
    const [x0, y0, x1, y1, x2, y2, x3, y3] = numbers.slice(n, n + 8) as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    for (let step = 0; step <= 200; step += 1) {
      const [t, u] = [step / 200, 1 - step / 200];
      const at = (a: number, b: number, c: number, d: number): number =>
        u * u * u * a + 3 * u * u * t * b + 3 * u * t * t * c + t * t * t * d;
      way.push({ x: at(x0, x1, x2, x3), y: at(y0, y1, y2, y3) });
    }
  }
  return way;
}
