import type { Command } from 'commander';
import { verifyAudit } from '../records/audit/verify-audit.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { exitCodes } from './failure.js';

/**
 * `troupe audit verify`: is the log of who was allowed what still as it was written? Exit code 5 when it is
 * not.
 */
export function auditCommand(program: Command, terminal: Terminal): void {
  const audit = program
    .command('audit')
    .description('the audit log: allowed and refused requests (logs/audit in the home)')
    .exitOverride();
  withHome(
    audit
      .command('verify')
      .description('verify every line; changes nothing; works while the gateway runs')
      .exitOverride(),
  )
    .option('--json', 'answer as JSON')
    .action(async (options: HomeOptions & { readonly json?: boolean }) => {
      const layout = homeOf(options, terminal);
      const report = await verifyAudit(layout.audit);
      if (options.json === true) terminal.out(JSON.stringify(report));
      else if (report.lines === 0 && report.findings.length === 0) terminal.out('No audit log yet.');
      else if (report.findings.length === 0)
        terminal.out(
          `${report.lines} lines (${report.from} to ${report.to}) in ${report.files} files: whole.`,
        );
      else for (const finding of report.findings) terminal.out(finding);
      if (report.findings.length > 0) process.exitCode = exitCodes.badHome;
    });
}
