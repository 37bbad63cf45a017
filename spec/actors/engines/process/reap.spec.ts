import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Json } from '../../../../machines/outputs.js';
import { processTable, reap } from '../../../../actors/engines/process.js';
import { psTable } from '../../../../actors/engines/process/table.js';
import { freshSpawnId, graces } from '../child-fixture.js';
import { isAlive } from '../../../helpers/is-alive.js';

const byPid = (a: number, b: number): number => a - b;

/** A process as a crashed gateway leaves it: started by someone else, no one holds a handle on it. */
async function orphan(script: string, spawnId: string): Promise<number> {
  const child = spawn('/bin/sh', ['-c', script], {
    detached: true,
    env: { PATH: process.env['PATH'], SVC_SPAWN_ID: spawnId },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return child.pid as number;
}

async function noteOf(
  pid: number,
  spawnId: string,
): Promise<{ spawnId: string; tokenHash: null; pid: number; startTime: string }> {
  return { spawnId, tokenHash: null, pid, startTime: (await processTable().startTime(pid)) ?? '' };
}

describe('reap', () => {
  it('ends what a dead gateway left running, and its group', async () => {
    const spawnId = freshSpawnId();
    const pid = await orphan('trap "" INT TERM; sleep 60 & echo ready; while :; do sleep 1; done', spawnId);
    expect(await reap(await noteOf(pid, spawnId), { graces })).to.deep.equal({ gone: true });
    expect(await processTable().members(pid)).to.deep.equal([]);
  });

  it('finds by its mark a process whose pid was never noted', async () => {
    const spawnId = freshSpawnId();
    const pid = await orphan('echo ready; sleep 60', spawnId);
    expect(await reap({ spawnId, tokenHash: 'h' }, { graces })).to.deep.equal({ gone: true });
    expect(await isAlive(pid)).to.equal(false);
  });

  // A home may be taken over by another machine, whose process table knows nothing of this child.
  it('never says that a child on another machine is gone, and signals no one', async () => {
    const spawnId = freshSpawnId();
    const pid = await orphan('echo ready; sleep 60', spawnId);
    const note = { ...(await noteOf(pid, spawnId)), machine: 'elsewhere', boot: 'b' };
    expect(await reap(note, { graces })).to.deep.equal({ gone: false, pid, machine: 'elsewhere' });
    expect(await reap({ spawnId, tokenHash: 'h', machine: 'elsewhere' }, { graces })).to.deep.equal({
      gone: false,
      pid: 0,
      machine: 'elsewhere',
    });
    expect(await isAlive(pid)).to.equal(true);
    process.kill(-pid, 'SIGKILL');
  });

  it('ends the rest of a group whose leader is gone', async () => {
    const spawnId = freshSpawnId();
    const pid = await orphan('sleep 60 & echo ready; wait', spawnId);
    const note = await noteOf(pid, spawnId);
    process.kill(pid, 'SIGKILL');
    expect(await reap(note, { graces })).to.deep.equal({ gone: true });
    expect(await processTable().members(pid)).to.deep.equal([]);
  });

  it('never touches a process that got the pid of ours', async () => {
    const pid = await orphan('echo ready; sleep 60', freshSpawnId());
    const note = { ...(await noteOf(pid, freshSpawnId())), startTime: 'another boot:1' };
    expect(await reap(note, { graces })).to.deep.equal({ gone: true });
    expect(await isAlive(pid)).to.equal(true);
    process.kill(-pid, 'SIGKILL');
  });

  it('leaves alone, and names, a process that has the start time but not the mark', async () => {
    const pid = await orphan('echo ready; sleep 60', freshSpawnId());
    expect(await reap(await noteOf(pid, freshSpawnId()), { graces })).to.deep.equal({ gone: false, pid });
    expect(await isAlive(pid)).to.equal(true);
    process.kill(-pid, 'SIGKILL');
  });

  it('has nothing to do without a note, or with one that is none', async () => {
    for (const note of [undefined, null, 'x', [], {}, { spawnId: '' }, { spawnId: 7 }]) {
      expect(await reap(note, { graces })).to.deep.equal({ gone: true });
    }
  });
});

describe('reap after a gateway was killed', () => {
  const doomed = fileURLToPath(new URL('../doomed-gateway.js', import.meta.url));

  /** Runs a gateway until its second line, kills it with SIGKILL and answers the notes that it left. */
  async function killed(lastNote: 'intent' | 'pid', spawnId: string): Promise<readonly Json[]> {
    const gateway = spawn(process.execPath, [doomed, lastNote, spawnId], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const notes: Json[] = [];
    for await (const line of createInterface({ input: gateway.stdout })) {
      notes.push(JSON.parse(line) as Json);
      if (notes.length === 2) break;
    }
    gateway.kill('SIGKILL');
    return notes;
  }

  for (const lastNote of ['pid', 'intent'] as const) {
    it(`ends its agent and a stray that changed its group, by the note of the ${lastNote}`, async () => {
      const spawnId = freshSpawnId();
      const [intent, second] = await killed(lastNote, spawnId);
      expect((await processTable().marked(spawnId)).length).to.be.at.least(1);
      expect(await reap(lastNote === 'pid' ? second : intent, { graces })).to.deep.equal({ gone: true });
      expect(await processTable().marked(spawnId)).to.deep.equal([]);
    });
  }
});

describe('the process table of ps, for platforms without /proc', () => {
  it('sees the same processes', async () => {
    const spawnId = freshSpawnId();
    const pid = await orphan('sleep 60 & echo ready; wait', spawnId);
    const members = await processTable().members(pid);
    expect(members).to.have.lengthOf(2);
    expect([...(await psTable.members(pid))].sort(byPid)).to.deep.equal([...members].sort(byPid));
    expect([...(await psTable.marked(spawnId))].sort(byPid)).to.deep.equal([...members].sort(byPid));
    expect(await psTable.startTime(pid)).to.match(/\d\d:\d\d:\d\d/);
    expect(
      await reap(
        { spawnId, tokenHash: null, pid, startTime: (await psTable.startTime(pid)) ?? '' },
        { graces, table: psTable },
      ),
    ).to.deep.equal({ gone: true });
    expect(await psTable.startTime(pid)).to.equal(undefined);
  });
});
