import { expect } from 'chai';
import { cronFireKind } from '../../../actors/cron-fire/kind.js';
import { scheduleKind } from '../../../actors/schedule/kind.js';
import type { Kind } from '../../../actors/contracts.js';
import { keys } from '../../../lib/store/keys.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { system } from '../../../machines/caller.js';
import type { LaunchInput, RunLine } from '../../../machines/cron-fire/machine.js';
import { isRefusal } from '../../../machines/refusals.js';
import { openHouse, seen, unclosable } from '../../fixtures/house.js';

const input = {
  name: 'Minutely',
  enabled: true,
  schedule: '* * * * *',
  timezone: 'UTC',
  zone: 'UTC',
  engine: null,
  model: null,
  effortLevel: null,
  employee: null,
  prompt: 'digest',
  delivery: null,
  missed: 'skip',
  managedBy: null,
  workflowId: null,
};
const instants = ['00:01', '00:02', '00:03'].map((time) => `cron:m:2026-01-01T${time}:00.000Z`);

interface Death {
  readonly at: number;
  readonly when: 'before' | 'after';
}

/** Three minutes of a job that runs every minute, on a store that dies once. */
async function live(death?: Death) {
  const inner = memoryStore();
  const launched: string[] = [];
  const lines = new Map<string, RunLine>();
  const recordedFirst: boolean[] = [];
  const fires = cronFireKind({
    launch: {
      guarantee: 'at-least-once',
      run: async ({ fireId }: LaunchInput) => {
        recordedFirst.push((await inner.get(keys.actor('cron-fire', fireId))) !== undefined);
        launched.push(fireId);
        return { sessionId: `session of ${fireId}` };
      },
    },
    record: {
      guarantee: 'at-least-once',
      run: async ({ line }: { readonly line: RunLine }) => {
        lines.set(line.sessionKey, line);
      },
    },
  });
  const house = await openHouse([scheduleKind(), fires] as unknown as readonly Kind[], {
    inner: unclosable(inner),
  }); // a list of kinds forgets the type of each one's machine
  if (death !== undefined) house.mortal.dieAt(death.at, death.when);
  let writes = 0;
  let died = false;
  const goOn = async (ms: number): Promise<void> => {
    await house.environment.advance(ms);
    if (!house.mortal.dead) return;
    died = true;
    writes += house.mortal.writes;
    await house.crash();
    await house.environment.settle();
  };
  for (let tries = 0; tries < 3; tries += 1) {
    const spawned = house.supervisor.spawn('schedule', { id: 'm', input }).catch(() => undefined);
    await goOn(0);
    const answer = await Promise.race([spawned, Promise.resolve('silence')]);
    if (isRefusal(answer) || (answer !== 'silence' && answer !== undefined)) break;
  }
  for (const id of instants) {
    await goOn(60_000);
    for (let tries = 0; tries < 3; tries += 1) {
      if ((await house.supervisor.get('cron-fire', id))?.value === 'working')
        void house.supervisor
          .ask(
            'cron-fire',
            id,
            { type: 'work.ended', sessionId: 's', outcome: 'succeeded', text: 'done', error: null },
            { by: system('session:s') },
          )
          .catch(() => undefined);
      await goOn(0);
    }
  }
  await goOn(30_000);
  const job = seen(await house.supervisor.get('schedule', 'm'));
  writes += house.mortal.writes;
  const told = {
    launched,
    lines: [...lines.values()],
    job,
    writes,
    died,
    faults: house.faults.filter((line) => !line.includes('died')),
    recordedFirst,
  };
  await house.stop();
  return told;
}

describe('a cron job on a store that dies', () => {
  it('has one run per instant, on record before it is launched, whichever write it dies at', async function () {
    this.timeout(180_000);
    const whole = await live();
    expect(whole.lines.map(({ sessionKey, status }) => [sessionKey, status])).to.deep.equal(
      instants.map((id) => [id, 'success']),
    );
    expect(whole.launched).to.deep.equal(instants);
    expect(whole.writes).to.be.greaterThan(10);
    for (let at = 1; at <= whole.writes; at += 1) {
      for (const when of ['before', 'after'] as const) {
        const life = await live({ at, when });
        const where = `write ${at}, ${when}`;
        expect(life.died || at > whole.writes - 3, where).to.equal(true);
        // Launched again under the same key, it finds what is there
        expect([...new Set(life.launched)], where).to.deep.equal(instants);
        expect(life.recordedFirst, where).to.not.include(false);
        expect(
          life.lines.map(({ sessionKey, status }) => [sessionKey, status]),
          where,
        ).to.deep.equal(instants.map((id) => [id, 'success']));
        expect(life.job, where).to.include({
          fires: 3,
          missedFires: 0,
          running: 0,
          nextRunAt: '2026-01-01T00:04:00.000Z',
        });
        expect(life.faults, where).to.deep.equal([]);
      }
    }
  });
});
