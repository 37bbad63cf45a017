import { expect } from 'chai';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAudit, type Decision } from '../../../../lib/records/audit/audit.js';
import { openAuditFiles } from '../../../../lib/records/audit/audit-files.js';
import { chained } from '../../../../lib/records/audit/chain.js';
import { verifyAudit } from '../../../../lib/records/audit/verify-audit.js';
import { testEnvironment } from '../../../../lib/testing/test-environment.js';

describe('the audit log', () => {
  let folder: string;
  const environment = testEnvironment();
  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'audit-')), 'audit');
  });
  afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

  const change = (target: string): Decision => ({
    by: 'operator',
    address: '127.0.0.1',
    authority: 'work-item.archive',
    method: 'POST',
    target,
    verdict: 'allowed',
  });
  const refusal: Decision = {
    by: 'session:s1',
    address: '127.0.0.1',
    authority: 'auth.devices',
    method: 'GET',
    verdict: 'refused',
    code: 'FORBIDDEN',
  };
  const path = (): string => join(folder, '000001.jsonl');
  const lines = async (): Promise<Record<string, unknown>[]> =>
    (await readFile(path(), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const written = async (changes: number): Promise<void> => {
    const audit = await openAudit({ folder, environment });
    for (let n = 0; n < changes; n++) audit.decided(change(`TRP-${n}`));
    await audit.close();
  };

  it('has a line for every change, private, numbered without a gap', async () => {
    await written(3);
    expect((await lines()).map(({ n, what, target }) => [n, what ?? target])).to.deep.equal([
      [1, 'opened'],
      [2, 'TRP-0'],
      [3, 'TRP-1'],
      [4, 'TRP-2'],
      [5, 'closed'],
    ]);
    expect((await stat(path())).mode & 0o777).to.equal(0o600);
    expect((await stat(folder)).mode & 0o777).to.equal(0o700);
    expect(await verifyAudit(folder)).to.deep.equal({ lines: 5, files: 1, from: 1, to: 5, findings: [] });
  });

  // A single failed write once cut the chain for good: `audit verify` then missed the lines for ever.
  it('writes again what a disk that failed for a while did not take', async () => {
    const audit = await openAudit({ folder, environment });
    await mkdir(path()); // nothing can be appended to a folder
    audit.decided(change('TRP-1'));
    await audit.flush();
    await rmdir(path());
    audit.decided(change('TRP-2'));
    await audit.close();
    expect((await lines()).map(({ n, what, target }) => [n, what ?? target])).to.deep.equal([
      [1, 'opened'],
      [2, 'TRP-1'],
      [3, 'TRP-2'],
      [4, 'closed'],
    ]);
    expect((await verifyAudit(folder)).findings).to.deep.equal([]);
  });

  it('has one line for a thousand refusals that are alike, with their number', async () => {
    const audit = await openAudit({ folder, environment });
    for (let n = 0; n < 1_000; n++) audit.decided({ ...refusal, target: `x${n}` });
    audit.decided({ ...refusal, by: 'none', code: 'UNAUTHENTICATED' });
    await audit.close();
    const told = (await lines()).filter(({ verdict }) => verdict === 'refused');
    expect(told.map(({ by, code, count }) => [by, code, count])).to.deep.equal([
      ['session:s1', 'FORBIDDEN', 1_000],
      ['none', 'UNAUTHENTICATED', 1],
    ]);
    expect(told[0]?.['target']).to.have.length(5);
  });

  it('stays bounded under refusals that all differ', async () => {
    const audit = await openAudit({ folder, environment });
    for (let n = 0; n < 5_000; n++) audit.decided({ ...refusal, by: `session:${n}` });
    await audit.close();
    const told = (await lines()).filter(({ verdict }) => verdict === 'refused');
    expect(told.length).to.be.at.most(1_001);
    expect(told.reduce((sum, { count }) => sum + Number(count), 0)).to.equal(5_000);
  });

  it('goes on where it ended, also after a crash that left half a line', async () => {
    await written(1);
    await appendFile(path(), '{"n":4,"at":"2026-');
    await written(1);
    expect((await lines()).map(({ n }) => n)).to.deep.equal([1, 2, 3, 4, 5, 6]);
    expect((await verifyAudit(folder)).findings).to.deep.equal([]);
  });

  it('may be ahead of its head: the crash came between the two', async () => {
    await written(1);
    const head = await readFile(join(folder, 'head.json'));
    await written(1);
    await writeFile(join(folder, 'head.json'), head);
    expect((await verifyAudit(folder)).findings).to.deep.equal([]);
  });

  // In its first ten seconds `audit verify` called a new log damaged, and ended with exit code 5
  it('is whole from its beginning, also where a crash came before its first line', async () => {
    const files = await openAuditFiles(folder);
    const found = async (): Promise<readonly string[]> => (await verifyAudit(folder)).findings;
    expect(await found()).to.deep.equal([]);
    expect((await openAuditFiles(folder)).broken).to.equal(undefined);
    const { text, link } = chained({ what: 'opened' }, files.last);
    await files.append(`${text}\n`, link);
    expect(await found(), 'before it is sealed').to.deep.equal([]);
    expect((await openAuditFiles(folder)).last).to.deep.equal(link);
    await writeFile(path(), `${chained({ what: 'opened' }, link).text}\n`);
    expect((await found()).join()).to.include('must begin at line 1');
  });

  const tampering: Record<string, (all: string[]) => string[]> = {
    'a changed line': (all) => all.map((line, at) => (at === 2 ? line.replace('TRP-1', 'TRP-9') : line)),
    'a changed line with a hash of its own': (all) =>
      all.map((line, at) => (at === 2 ? (all[3] ?? '') : line)),
    'a removed line': (all) => all.filter((_, at) => at !== 2),
    "two lines in each other's place": (all) => [all[0], all[2], all[1], ...all.slice(3)] as string[],
    'a repeated line': (all) => [...all.slice(0, 3), ...all.slice(2)],
    'an inserted line': (all) => [
      ...all.slice(0, 2),
      '{"n":3,"at":"x","prev":"0","hash":"0"}',
      ...all.slice(2),
    ],
    'a missing end': (all) => all.slice(0, -2),
    'a missing beginning': (all) => all.slice(1),
    'nothing left': () => [],
  };
  for (const [name, tamper] of Object.entries(tampering)) {
    it(`shows ${name}, and the next start says so and goes on`, async () => {
      await written(3);
      const all = (await readFile(path(), 'utf8')).trimEnd().split('\n');
      await writeFile(
        path(),
        tamper(all)
          .map((line) => `${line}\n`)
          .join(''),
      );
      expect((await verifyAudit(folder)).findings).not.to.deep.equal([]);
      await written(1);
      expect((await verifyAudit(folder)).findings, 'still to be seen').not.to.deep.equal([]);
    });
  }

  it('shows that all of its files are gone', async () => {
    await written(1);
    await rm(path());
    expect((await verifyAudit(folder)).findings.join()).to.match(/missing/);
    await written(1);
    expect((await verifyAudit(folder)).findings.join()).to.match(/begins at line 4/);
  });

  it('is kept in bounds: the oldest files go, and that is no damage', async () => {
    const audit = await openAudit({ folder, environment });
    const by = 'x'.repeat(190);
    for (let round = 0; round < 19; round++) {
      for (let n = 0; n < 14_000; n++)
        audit.decided({ ...change('t'.repeat(200)), by, authority: 'y'.repeat(200) });
      await audit.flush();
    }
    await audit.close();
    const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'));
    expect(names.length).to.equal(16);
    const { findings, from } = await verifyAudit(folder);
    expect(findings).to.deep.equal([]);
    expect(from).to.be.greaterThan(1);
  });
});
