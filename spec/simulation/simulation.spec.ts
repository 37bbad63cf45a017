import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * Whole lives of the real kernel on the real store, on a simulated machine: see README.md beside this file. They run
 * in a process of their own, because time stands still in it. `npm run simulate -- --seeds 10000` for nights.
 */
const main = fileURLToPath(new URL('./main.js', import.meta.url));
// One history after the other: threads of the compiler and the collector beside it cost more than they save
const flags = ['--single-threaded', '--max-semi-space-size=64'];
const simulate = async (...words: string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, [...flags, main, ...words], { maxBuffer: 1 << 26 })).stdout;

describe('the simulation', function () {
  this.timeout(600_000);

  it('finds nothing lost, doubled, stuck or unequal in 500 histories', async () => {
    const told = await simulate('--seeds', '500', '--jobs', '2');
    expect(told).to.match(/"failed": 0\b/);
  });

  it('finds no message, work item or run lost or doubled in 40 histories of a gateway with agents', async () => {
    const told = await simulate('--world', 'fleet', '--seeds', '40', '--jobs', '2');
    expect(told).to.match(/"failed": 0\b/);
  });

  it('runs a seed the same way twice, to the byte, in one process and in another', async () => {
    const digests = async (): Promise<string[]> =>
      [...(await simulate('--from', '0', '--seeds', '15', '--digests')).matchAll(/^digest .*$/gm)].map(
        String,
      );
    const [once, again] = [await digests(), await digests()];
    expect(once).to.have.length(15);
    expect(again).to.deep.equal(once);
  });
});
