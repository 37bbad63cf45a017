import type { Command } from 'commander';
import type { Finding } from './finding.js';
import { examine } from './findings.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { exitCodes } from './failure.js';

interface DoctorOptions extends HomeOptions {
  readonly json?: boolean;
  readonly fix?: boolean;
}

/**
 * `troupe doctor`: what is missing and how to repair it. Changes nothing without `--fix`, which does what takes rights
 * from other users or removes what no one can need any more. Exit code 5 when something must still be repaired.
 */
export function doctorCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('doctor')
      .description('show what is missing or wrong and how to fix it; changes nothing without --fix'),
  )
    .option('--fix', 'do what is marked as safe, and say what was done')
    .option('--json', 'answer as JSON')
    .action(async ({ json: isJson, fix: isFixing, ...options }: DoctorOptions) => {
      const layout = homeOf(options, terminal);
      let findings = await examine(layout, terminal.env);
      const fixed = isFixing === true ? await fixAll(findings) : [];
      if (fixed.some(({ fault }) => fault === null)) findings = await examine(layout, terminal.env);
      if (isJson === true)
        terminal.out(JSON.stringify({ home: layout.home, findings: findings.map(shown), fixed }));
      else
        terminal.out(
          [
            `home ${layout.home}`,
            ...fixed.map(({ does, fault }) =>
              fault === null ? `done  ${does}` : `not done: ${does}: ${fault}`,
            ),
            ...findings.map(line),
            summary(findings),
          ].join('\n'),
        );
      if (findings.some(({ grade }) => grade === 'bad')) process.exitCode = exitCodes.badHome;
    });
}

/** One after the other; what fails leaves the next to be tried. */
async function fixAll(
  findings: readonly Finding[],
): Promise<readonly { readonly does: string; readonly fault: string | null }[]> {
  const fixed = [];
  for (const { fix } of findings) {
    if (fix === undefined) continue;
    const fault = await fix.apply().then(
      () => null,
      (error: Error) => error.message,
    );
    fixed.push({ does: fix.does, fault });
  }
  return fixed;
}

const shown = ({ fix, ...finding }: Finding): object => ({ ...finding, ...(fix && { fix: fix.does }) });

const marks: Readonly<Record<Finding['grade'], string>> = { good: 'ok   ', poor: 'note ', bad: 'FIX  ' };

function line({ grade, about, what, remedy, fix }: Finding): string {
  const below = (text: string): string => `\n      ${''.padEnd(9)} → ${text}`;
  return (
    `${marks[grade]} ${about.padEnd(9)} ${what}${remedy === undefined ? '' : below(remedy)}` +
    (fix === undefined ? '' : below(`doctor --fix: ${fix.does}`))
  );
}

function summary(findings: readonly Finding[]): string {
  const bad = findings.filter((finding) => finding.grade === 'bad').length;
  if (bad === 0) return 'No problems found.';
  return bad === 1 ? '1 problem must be fixed.' : `${bad} problems must be fixed.`;
}
