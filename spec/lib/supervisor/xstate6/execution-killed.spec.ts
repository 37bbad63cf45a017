import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../../fixtures/execution-host.js', import.meta.url));

/**
 * The journal of an execution under a real kill: a process of its own, a real store, SIGKILL between
 * every two writes of one execution. `EXECUTION_KILLS=all` plays an execution for each write, before and after it.
 */
describe('an execution of XState 6 whose process is killed', function () {
  this.timeout(600_000);
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'troupe-execution-'));
  });
  afterEach(() => rm(home, { recursive: true }));

  /** A life of the program; undefined: it was killed, as it was to be. */
  function live(write: number, when: 'before' | 'after'): Ended | undefined {
    const { signal, stdout, stderr } = spawnSync(process.execPath, [program, home, String(write), when], {
      encoding: 'utf8',
    });
    if (signal === 'SIGKILL') return undefined;
    if (stdout === '') throw new Error(`the host ended without an answer: ${stderr}`);
    return JSON.parse(stdout) as Ended;
  }

  const deeds = async (): Promise<readonly string[]> =>
    (await readFile(join(home, 'deeds'), 'utf8')).trim().split('\n');

  async function judge({ output, names }: Ended, timesMax: number): Promise<void> {
    expect(output).to.deep.equal(['lamp', 'charged 3', 'packed', 'a box with a lamp']);
    expect(names, 'each is noted once').to.have.length(new Set(names).size);
    const done = (await deeds()).filter((deed) => !deed.startsWith('body '));
    expect([...new Set(done)]).to.have.members(['action thank you for 3', 'step check 3', 'step charge 3']);
    for (const deed of new Set(done))
      expect(done.filter((other) => other === deed).length, deed).to.be.at.most(timesMax);
  }

  it('before a write does once more only what that write was to note', async () => {
    let ended: Ended | undefined;
    let lives = 0;
    for (; ended === undefined && lives < 60; lives += 1) ended = live(2, 'before');
    expect(lives).to.be.greaterThan(5);
    await judge(ended as Ended, 2);
  });

  if (process.env['EXECUTION_KILLS'] !== 'all') return;

  it('after each of its writes comes to its end, with nothing done twice', async () => {
    let ended: Ended | undefined;
    let lives = 0;
    for (; ended === undefined && lives < 60; lives += 1) ended = live(1, 'after');
    expect(lives).to.be.greaterThan(5);
    await judge(ended as Ended, 1);
  });

  it('at any one write, before or after it', async () => {
    const whole = live(0, 'after');
    for (let write = 1; write <= (whole?.writes ?? 0); write += 1)
      for (const when of ['before', 'after'] as const) {
        await rm(home, { recursive: true });
        home = await mkdtemp(join(tmpdir(), 'troupe-execution-'));
        expect(live(write, when), `${when} write ${write}`).to.equal(undefined);
        await judge(live(0, when) as Ended, when === 'after' ? 1 : 2);
      }
  });
});

interface Ended {
  readonly output: unknown;
  readonly writes: number;
  readonly names: readonly string[];
}
