import type { Command } from 'commander';
import { readConfig } from '../home/read-config.js';
import { databasePassword, embeddedStore } from '../home/store-setting.js';
import type { VerifyReport } from '../store/verify.js';
import { running } from './client.js';
import { hint, homeOf, withHome, type HomeOptions, type Terminal, needStore } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { bytes, progressTeller } from './print.js';

/**
 * `troupe verify`: checks every record and the whole log of a closed store, both copies; repairs nothing. Exit
 * code 5 when something is wrong.
 */
export function verifyCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('verify')
      .description("check every record and the whole log of a stopped gateway's store; changes nothing"),
  )
    .option('--json', 'answer as JSON')
    .action(async (options: HomeOptions & { readonly json?: boolean }) => {
      const layout = homeOf(options, terminal);
      const { store } = await readConfig(layout.config);
      if (store !== embeddedStore) return ofDatabase(store, options.json === true);
      const live = await running(layout);
      if (live !== undefined) {
        throw new CommandError(
          exitCodes.held,
          `A gateway runs at ${layout.home} (${live.url}); it checks its store in the background. For a ` +
            `full check stop it first: ${hint(layout, 'stop')}`,
        );
      }
      await needStore(layout);
      const { verifyApart } = await import('../store/verify-apart.js');
      const report = await verifyApart(layout.home, { onProgress: progressTeller(terminal) });
      terminal.out(options.json === true ? JSON.stringify(report) : summaryOf(report));
      if (!report.ok) process.exitCode = exitCodes.badHome;
    });

  /** As of one moment, beside the gateway that owns it. */
  async function ofDatabase(store: string, asJson: boolean): Promise<void> {
    const { verifyPostgres } = await import('../store/postgres/copies.js');
    const report = await verifyPostgres(store, databasePassword());
    const { rows, entries, firstSeq, head, faults } = report;
    terminal.out(
      asJson
        ? JSON.stringify({ ok: faults.length === 0, ...report })
        : [
            `database     ${rows} records; log ${firstSeq ?? '-'} to ${head?.seq ?? '-'} (${entries} entries)`,
            ...faults.map((fault) => `fault        ${fault}`),
            ...(faults.length === 0 ? ['No damage found.'] : []),
          ].join('\n'),
    );
    if (faults.length > 0) process.exitCode = exitCodes.badHome;
  }
}

function summaryOf(report: VerifyReport): string {
  const lines = [
    `database     ${report.rows} records; log ${report.firstSeq ?? '-'} to ${report.head?.seq ?? '-'} (` +
      `${report.entries} entries)`,
    `second copy  up to ${report.copy.seq} (${report.copy.baseRows} records in the base image, ` +
      `${report.copy.frames} commits after it, ${bytes(report.copy.bytes)})`,
  ];
  if (report.ok) return [...lines, 'No damage found.'].join('\n');
  return [
    ...lines,
    ...report.faults.map((fault) => `fault        ${fault}`),
    'The next start repairs one copy from the other where possible and refuses otherwise. Copy the home first.',
  ].join('\n');
}
