import { expect } from 'chai';
import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runBook } from '../../../lib/records/cron-runs.js';
import type { RunLine } from '../../../machines/cron-fire/machine.js';

/** A job that ran every minute wrote a file that nothing ever shortened. */
describe("the file of a cron job's runs", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runs-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const line = (n: number, prompt = ''): RunLine =>
    ({ sessionKey: `run-${n}`, prompt }) as unknown as RunLine;

  it('loses its older half when it has grown to sixteen mebibytes, from the beginning of a line', async () => {
    const book = runBook(folder);
    await book.append('job', line(0));
    const path = join(folder, 'job.jsonl');
    const text = 'x'.repeat(4_000);
    const lines = Array.from({ length: 4_300 }, (_, n) => `${JSON.stringify(line(n + 1, text))}\n`);
    await appendFile(path, lines.join(''));
    await book.append('job', line(9_999));
    const { size, mode } = await stat(path);
    expect(size).to.be.within(7 * 2 ** 20, 9 * 2 ** 20);
    expect(mode & 0o777).to.equal(0o600);
    const kept = (await readFile(path, 'utf8')).trimEnd().split('\n');
    expect(kept.map((one) => (JSON.parse(one) as RunLine).sessionKey).at(-1)).to.equal('run-9999');
    expect((await book.newest('job', 2)).map(({ sessionKey }) => sessionKey)).to.deep.equal([
      'run-9999',
      'run-4300',
    ]);
    await book.append('job', line(9_999));
    expect((await stat(path)).size, 'the same run once').to.equal(size);
  });

  it('is read page by page behind a run, while others are added', async () => {
    const book = runBook(folder);
    const text = 'x'.repeat(7_000); // longer than a first stretch allows for
    for (let n = 0; n < 25; n += 1) await book.append('job', line(n, text));
    const met: string[] = [];
    for (let before: string | undefined; met.length < 25;) {
      const page = await book.newest('job', 4, before);
      expect(page.length).to.be.greaterThan(0);
      met.push(...page.map(({ sessionKey }) => sessionKey));
      before = met.at(-1);
      await book.append('job', line(100 + met.length, text));
    }
    expect(met).to.deep.equal(Array.from({ length: 25 }, (_, n) => `run-${24 - n}`));
    expect(await book.newest('job', 4, met.at(-1))).to.deep.equal([]);
    expect(await book.newest('job', 4, 'run-of-another-file')).to.deep.equal([]);
    expect(await book.newest('none', 4, 'run-1')).to.deep.equal([]);
  });
});
