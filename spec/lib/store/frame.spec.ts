import { expect } from 'chai';
import fc from 'fast-check';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Op } from '../../../lib/store/contract.js';
import { nodeFiles } from '../../../lib/store/files.js';
import { frameWriter, opsIn } from '../../../lib/store/frame.js';
import { readFrames } from '../../../lib/store/frame-reader.js';
import { newHome } from './homes.js';

const key = fc.string({ unit: fc.constantFrom('a', '/', '~', '#', '+', '-'), minLength: 1 });
const value: fc.Arbitrary<string | null> = fc.option(fc.json({ maxDepth: 2 }), { nil: null });
const op = fc.tuple(key, value) as fc.Arbitrary<Op>;

/** `count` frames of the given ops, and where each begins. */
function frames(groups: readonly (readonly Op[])[]): { bytes: Buffer; starts: number[] } {
  const writer = frameWriter();
  const starts: number[] = [];
  let digest = '';
  writer.begin();
  groups.forEach((ops, n) => {
    starts.push(writer.size);
    digest = writer.follow(n + 1, { first: n + 1, last: n + 1, chain: 'c'.repeat(43), ops }, digest);
  });
  return { bytes: Buffer.from(writer.finish()), starts };
}

async function read(path: string): Promise<{ numbers: number[]; ops: Op[][]; damage: [number, number][] }> {
  const numbers: number[] = [];
  const ops: Op[][] = [];
  const damage: [number, number][] = [];
  for await (const found of readFrames(nodeFiles, path)) {
    if ('damage' in found) {
      damage.push([found.damage.start, found.damage.end]);
    } else {
      numbers.push(found.frame.frame);
      ops.push([...opsIn(found.body)]);
    }
  }
  return { numbers, ops, damage };
}

describe('frames', () => {
  let path: string;
  before(async () => {
    path = join(await newHome(), 'segment');
  });

  it('give back any ops, with reserved room behind them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(op, { maxLength: 5 }), { maxLength: 5 }),
        fc.nat(3_000),
        async (groups, room) => {
          await writeFile(path, Buffer.concat([frames(groups).bytes, Buffer.alloc(room)]));
          expect(await read(path)).to.deep.equal({
            numbers: groups.map((_, n) => n + 1),
            ops: groups,
            damage: [],
          });
        },
      ),
      { numRuns: 60 },
    );
  });

  it('lose exactly the one in which a byte changed, wherever it is', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(op, { minLength: 1, maxLength: 4 }), { minLength: 3, maxLength: 5 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async (groups, where, change) => {
          const { bytes, starts } = frames(groups);
          const at = where % bytes.length;
          bytes[at] = bytes[at]! ^ change;
          await writeFile(path, bytes);
          const hit = starts.filter((start) => start <= at).length;
          const { numbers, damage } = await read(path);
          expect(numbers).to.deep.equal(groups.map((_, n) => n + 1).filter((number) => number !== hit));
          expect(damage).to.deep.equal([[starts[hit - 1]!, starts[hit] ?? bytes.length]]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('are found again behind garbage and behind a hole of zeros', async () => {
    const { bytes } = frames([[['a', '1']], [['b', '2']]]);
    for (const rubbish of [
      'garbage',
      '#',
      '##########\n#',
      '\0'.repeat(100_000),
      `${'\0'.repeat(70_000)}x`,
      '\0#\0',
    ]) {
      await writeFile(path, Buffer.concat([bytes, Buffer.from(rubbish), bytes]));
      const { numbers, damage } = await read(path);
      expect(numbers).to.deep.equal([1, 2, 1, 2]);
      expect(damage).to.have.length(1);
    }
  });

  it('are read across the pieces in which a large file is fetched', async () => {
    const long = JSON.stringify('ü'.repeat(700_000));
    const groups = Array.from({ length: 9 }, (_, n): Op[] => [[`a/${n}`, long]]);
    await writeFile(path, frames(groups).bytes);
    expect((await read(path)).ops).to.deep.equal(groups);
  });
});
