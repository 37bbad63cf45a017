import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import type { Client } from '../../../lib/cli/client.js';
import { exitCodes, type CommandError } from '../../../lib/cli/failure.js';
import { importJobs } from '../../../lib/cli/other-home/plans.js';
import { ImportLedger } from '../../../lib/cli/other-home/report.js';
import { send } from '../../../lib/cli/other-home/send.js';
import { createClient } from '../../../lib/client/index.js';

describe('troupe import --from, cut short', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'import-cut-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  describe('by the gateway', () => {
    let server: Server;
    let answer: readonly [number, string];
    let client: Client;
    before(async () => {
      server = createServer((request, response) => {
        const isRead = request.method === 'GET';
        response.writeHead(isRead ? 200 : answer[0], { 'content-type': 'application/json' });
        response.end(JSON.stringify(isRead ? [] : { error: `No: ${answer[1]}.`, code: answer[1] }));
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const gateway = createClient({ url, token: 'x', retries: 0 });
      client = { announcement: { url }, gateway, get: gateway.get } as unknown as Client;
      await mkdir(join(folder, 'cron'));
      await writeFile(join(folder, 'cron', 'jobs.json'), '[{"id": "nightly", "schedule": "0 3 * * *"}]');
    });
    after(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });

    const units = [1, 2].map((n) => ({ area: 'text', name: `t${n}`, part: {} }) as const);
    async function run(status: number, code: string): Promise<readonly [CommandError[], ImportLedger]> {
      answer = [status, code];
      const ledger = new ImportLedger();
      const options = { client, ledger, apply: true, replace: false };
      const ends = await Promise.allSettled([
        send(units, options),
        importJobs(folder, { engines: {}, known: () => undefined }, options),
      ]);
      return [ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as CommandError] : [])), ledger];
    }

    for (const [status, code] of [
      [503, 'DRAINING'],
      [503, 'STORE_UNAVAILABLE'],
      [503, 'OWNER_ELSEWHERE'],
      [503, 'BUSY'],
      [507, 'QUOTA_EXCEEDED'],
      [500, 'OUTCOME_UNKNOWN'],
      [429, 'TOO_MANY'],
    ] as const)
      it(`ends with the sentence of ${code}, and counts nothing as left out`, async () => {
        const [failures, ledger] = await run(status, code);
        expect(failures.map(({ exitCode, message }) => [exitCode, message])).to.deep.equal(
          [0, 1].map(() => [exitCodes.refused, `No: ${code}. (${code})`]),
        );
        expect(ledger.leftOut).to.deep.equal([]);
      });

    it('leaves out what the gateway judges', async () => {
      const [failures, ledger] = await run(400, 'BAD_REQUEST');
      expect(failures).to.deep.equal([]);
      expect(ledger.leftOut.map(({ area, count }) => [area, count])).to.have.deep.members([
        ['text', 2],
        ['cron job', 1],
      ]);
    });
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    it(`by ${signal}, leaves no copy of the database behind`, async () => {
      const file = join(folder, `${signal}.db`);
      const database = new sqlite.Database(file);
      database.exec('CREATE TABLE sessions (id TEXT)');
      database.close();
      const temporary = join(folder, signal);
      await mkdir(temporary);
      const reader = new URL('../../../lib/cli/other-home/database.js', import.meta.url).href;
      const program = `const { openDatabase } = await import(${JSON.stringify(reader)});
        await openDatabase(${JSON.stringify(file)}); console.log('open'); setInterval(() => {}, 1000);`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
        env: { PATH: process.env['PATH'], TMPDIR: temporary },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
      expect(await readdir(temporary)).to.have.length(1);
      const ended = once(child, 'exit');
      child.kill(signal);
      expect(await ended).to.deep.equal([null, signal]);
      expect(await readdir(temporary)).to.deep.equal([]);
    });
});
