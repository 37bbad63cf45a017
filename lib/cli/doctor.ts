import type { Command } from 'commander';
import type { Finding } from './finding.js';
import { examine } from './findings.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { exitCodes } from './failure.js';

/**
 * `troupe doctor`: what is missing and how to repair it. Changes nothing. Exit code 5 when something must be
 * repaired.
 */
export function doctorCommand(program: Command, terminal: Terminal): void {
  withHome(
    program.command('doctor').description('show what is missing or wrong and how to fix it; changes nothing'),
  )
    .option('--json', 'answer as JSON')
    .action(async (options: HomeOptions & { readonly json?: boolean }) => {
      const layout = homeOf(options, terminal);
      const findings = await examine(layout);
      if (options.json === true) terminal.out(JSON.stringify({ home: layout.home, findings }));
      else terminal.out([`home ${layout.home}`, ...findings.map(line), summary(findings)].join('\n'));
      if (findings.some((finding) => finding.grade === 'bad')) process.exitCode = exitCodes.badHome;
    });
}

const marks: Readonly<Record<Finding['grade'], string>> = { good: 'ok   ', poor: 'note ', bad: 'FIX  ' };

const line = ({ grade, about, what, remedy }: Finding): string =>
  `${marks[grade]} ${about.padEnd(9)} ${what}${remedy === undefined ? '' : `\n      ${''.padEnd(9)} → ${remedy}`}`;

function summary(findings: readonly Finding[]): string {
  const bad = findings.filter((finding) => finding.grade === 'bad').length;
  if (bad === 0) return 'No problems found.';
  return bad === 1 ? '1 problem must be fixed.' : `${bad} problems must be fixed.`;
}
