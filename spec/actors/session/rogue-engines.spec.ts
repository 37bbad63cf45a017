import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { leftBehind } from '../../helpers/left-behind.js';
import { openRogues, type PlayedRogue, type RogueHouse } from '../../helpers/rogue-house.js';
import { endsLate, rogues, type Rogue } from '../../helpers/rogues.js';

/** `npm run bench -- engines` plays the same at full size and measures what it costs the gateway. */
describe('a session whose engine goes wrong', () => {
  const houses: RogueHouse[] = [];
  let played: ReadonlyMap<Rogue, PlayedRogue>;
  // all at once: the stubborn ones are waited for once
  before(async function () {
    this.timeout(240_000);
    const hasty = await openRogues({ deadlineMs: 4_000 });
    const patient = await openRogues({ deadlineMs: 200_000 });
    houses.push(hasty, patient);
    played = new Map(
      await Promise.all(
        rogues.map(async (rogue) => [rogue, await (endsLate(rogue) ? hasty : patient).play(rogue)] as const),
      ),
    );
  });
  after(() => Promise.all(houses.map((house) => house.close())));

  for (const rogue of rogues) {
    it(`ends as an error with a reason, and nothing of it is left: ${rogue.engine}, ${rogue.way}`, async () => {
      const { id = '', status, lastError = '' } = played.get(rogue) ?? {};
      expect(status, lastError).to.equal('error');
      expect(lastError).to.match(rogue.reason);
      expect(await leftBehind(id)).to.deep.equal([]);
    });
  }

  it('would be caught leaving a process behind', async () => {
    const child = spawn('sleep', ['60'], {
      env: { PATH: process.env['PATH'], SVC_SESSION_ID: 'stray' },
      detached: true,
    });
    await once(child, 'spawn');
    expect(await leftBehind('stray')).to.deep.equal([child.pid]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await leftBehind('stray')).to.deep.equal([]);
  });
});
