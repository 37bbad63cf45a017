import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Life, Scenario } from './campaign.js';
import { auditGateway } from './gateway-audit.js';
import { GatewayWriter } from './gateway-writer.js';
import type { Journal } from './journal.js';
import { seeded } from './random.js';
import { command } from '../helpers/command.js';

/**
 * The gateway as people run it, `troupe start`, over HTTP: work items, moves, edits, approvals that run out,
 * sessions with agents that are real processes, messages, delegations and children.
 */

export async function gatewayScenario(
  journal: Journal,
  seed: number,
  more: readonly GatewayWriter[] = [], // what others did to it, to be audited as well
): Promise<Scenario> {
  const writers = new Map<number, GatewayWriter>();
  let token = '';
  let home = '';
  const writerOf = (n: number): GatewayWriter => {
    const known = writers.get(n) ?? new GatewayWriter(n, seeded(seed * 1_000 + n), journal);
    writers.set(n, known);
    return known;
  };
  return {
    name: 'gateway',
    command(folder) {
      if (home === '') configure(folder);
      home = folder;
      return [command, 'start', '--home', folder, '--port', '0'];
    },
    announced: /Troupe runs at (\S+)\n/,
    async ready() {
      ({ token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string });
    },
    operation: (n, life) => writerOf(n).operation(life.url, token),
    finish: (n, life) => writerOf(n).finish(life.url, token),
    audit: (life: Life, lives) =>
      auditGateway({ life, lives, token, home, journal, writers: [...writers.values(), ...more] }),
    closed: (folder) => verified(folder, journal),
  };
}

/**
 * Two agents: one answers at once, one takes its time and has a child that no one ends when the gateway dies
 * (its `echo` then fails).
 */
function configure(home: string): void {
  mkdirSync(home, { recursive: true });
  writeFileSync(
    join(home, 'config.yaml'),
    [
      'engines:',
      '  default: quick',
      '  maxProcesses: 4',
      '  quick:',
      '    command: [/bin/cat]',
      '  slow:',
      '    command: [/bin/sh, -c, "sleep 300 & cat; sleep 0.7; echo && kill $!"]',
      '',
    ].join('\n'),
  );
}

async function verified(home: string, journal: Journal): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, [command, 'verify', '--home', home]);
    journal.count('stores verified');
  } catch (error) {
    journal.violated(
      'unsound',
      `the closed store: ${(error as { stdout?: string }).stdout ?? ''}${(error as { stderr?: string }).stderr ?? String(error)}`,
    );
  }
}
