import { expect } from 'chai';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { StoreError } from '../../../lib/store/contract.js';
import { explain } from '../../../lib/cli/failure.js';
import { Troupe } from './troupe.js';

describe('a home whose disk fails', () => {
  // LevelDB says it in words of its own, without what to do
  it('is explained: what, where, and what to do', () => {
    const full = 'IO error: /home/me/.svc/lock/MANIFEST-000004: No space left on device';
    expect(explain(new StoreError('STORE_UNAVAILABLE', full))).to.deep.equal({
      line: `The disk is full: ${full}. Free some space and try again; no acknowledged work is lost.`,
      exitCode: 1,
    });
    const readOnly = Object.assign(new Error("EROFS: read-only file system, chmod '/home/me/.svc/lock'"), {
      code: 'EROFS',
    });
    expect(explain(readOnly).line).to.match(/^The disk can only be read: EROFS.*\. Mount it for writing/);
  });

  // `status` said that all was well while new work was refused, and `doctor` that the store was intact
  it('is shown as degraded by status and doctor while its gateway runs', async () => {
    const troupe = await Troupe.create();
    const gateway = await troupe.start();
    // In between, for no spec can fill the disk of this machine
    const { url: real } = await troupe.announcement();
    const between = createServer((request, response) => {
      void fetch(`${real}${request.url}`, {
        headers: { authorization: String(request.headers.authorization) },
      })
        .then(async (answer) => {
          const body = (await answer.text()).replace(
            '"disk","failing":null',
            '"disk","failing":"less than 200 MB are free"',
          );
          response
            .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
            .end(body);
        })
        .catch((error: unknown) => response.writeHead(502).end(String(error)));
    }).listen(0, '127.0.0.1');
    await once(between, 'listening');
    try {
      const { port } = between.address() as { port: number };
      const file = join(troupe.home(), 'gateway.json');
      await writeFile(file, (await readFile(file, 'utf8')).replace(real, `http://127.0.0.1:${port}`), {
        mode: 0o600,
      });
      const status = await troupe.run('status', '--home', troupe.home());
      expect(status.out, status.err).to.match(/^ {2}degraded {2}disk: less than 200 MB are free$/m);
      const doctor = await troupe.run('doctor', '--home', troupe.home());
      expect(doctor.out).to.match(
        /FIX +gateway +runs at \S+ and is degraded: disk: less than 200 MB are free/,
      );
      expect(doctor.code).to.equal(5);
    } finally {
      between.close();
      gateway.child.kill('SIGKILL');
      await gateway.ended;
      await troupe.clear();
    }
  });
});
