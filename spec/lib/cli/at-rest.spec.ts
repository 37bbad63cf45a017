import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { nodeFlags } from '../../../lib/cli/service/manager.js';

/** A gateway held 250 MB for good after a burst of 10,000 work items, of which it needed 145. */
describe('the memory of a gateway at rest', () => {
  const program = fileURLToPath(new URL('at-rest-program.js', import.meta.url));
  const ran = (what: string): Readonly<Record<string, number>> => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...nodeFlags, program, what], {
      timeout: 60_000,
      encoding: 'utf8',
    });
    expect(status, stderr).to.equal(0);
    return JSON.parse(stdout) as Record<string, number>;
  };

  it('goes back to the system', () => {
    const { before = 0, after = 0 } = ran('rests');
    expect(before).to.be.above(32 << 20);
    expect(after).to.be.below(before / 2);
  });

  it('is not collected while the process has work', () => {
    expect(ran('works')['times']).to.equal(0);
  });
});
