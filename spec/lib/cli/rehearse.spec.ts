import { expect } from 'chai';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rehearse } from '../../../lib/cli/rehearse.js';
import { startInstance, type InstanceOptions } from '../../../lib/instance.js';

describe('what a standby rehearses while it waits', () => {
  const { TMPDIR, SVC_HOME, SVC_WORKFLOW_EVIDENCE_ROOT } = process.env;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'troupe-standby-'));
    process.env['TMPDIR'] = folder;
    process.env['SVC_HOME'] = join(folder, 'home'); // which it waits for, and must not touch
    process.env['SVC_WORKFLOW_EVIDENCE_ROOT'] = join(folder, 'evidence');
  });
  after(async () => {
    for (const [name, value] of Object.entries({ TMPDIR, SVC_HOME, SVC_WORKFLOW_EVIDENCE_ROOT }))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    await rm(folder, { recursive: true, force: true });
  });

  it('opens, serves and closes homes of its own, and leaves nothing of them', async () => {
    const given: InstanceOptions[] = [];
    const items: number[] = [];
    await rehearse(async (options) => {
      given.push(options);
      const instance = await startInstance(options);
      const close = async (): Promise<void> => {
        items.push((await instance.app.supervisor.list('work-item', { index: 'all' })).items.length);
        await instance.close();
      };
      return { ...instance, close };
    });
    expect(given.length).to.be.at.least(2);
    for (const { host, port } of given) expect([host, port]).to.deep.equal(['127.0.0.1', 0]);
    expect(items).to.deep.equal(given.map(() => 1));
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('leaves nothing where it fails, and says so', async () => {
    const failure = await rehearse(async () => {
      throw new Error('no room');
    }).then(
      () => undefined,
      (error: Error) => error,
    );
    expect(failure?.message).to.equal('no room');
    expect(await readdir(folder)).to.deep.equal([]);
  });
});
