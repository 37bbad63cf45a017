import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInstance } from '../../../lib/instance.js';

// What waits for /healthz reads gateway.json next: for a moment it was healthy and not announced.
describe('startInstance', () => {
  let home: string;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'announced-'));
  });
  after(() => rm(home, { recursive: true, force: true }));

  it('has written gateway.json before there is anything that could answer', async () => {
    const announced: boolean[] = [];
    const instance = await startInstance({
      home,
      port: 0,
      // Read when the gateway is made
      get routes() {
        announced.push(existsSync(join(home, 'gateway.json')));
        return [];
      },
    });
    await instance.close();
    expect(announced).to.deep.equal([true]);
  });
});
