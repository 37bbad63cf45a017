import { expect } from 'chai';
import { Intake } from '../../../../lib/supervisor/cells/intake.js';

/** The sources of the kernel's own work take turns. */
describe('the intake', () => {
  // What an earlier life left is soon done, and was asked for at every timer for as long as the process ran
  it('asks a source no more that was taken away, and the others in the same round', async () => {
    const intake = new Intake();
    const asked: string[] = [];
    let left = 3;
    const begun = new Promise<void>((resolve) => {
      const rest = intake.add(() => {
        asked.push('backlog');
        rest();
        return false;
      });
      intake.add(() => {
        if (left === 0) return false;
        left -= 1;
        asked.push('timers');
        if (left === 0) resolve();
        return true;
      });
    });
    intake.check();
    await begun;
    expect(asked.filter((name) => name === 'backlog')).to.have.length(1);
    expect(asked.filter((name) => name === 'timers')).to.have.length(3);
  });
});
