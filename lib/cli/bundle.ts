import type { Command } from 'commander';
import { open, readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Answer } from '../client/requests.js';
import { connect } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { plainText } from './print.js';

interface ImportOptions extends HomeOptions {
  readonly from?: string;
  readonly apply?: boolean;
  readonly replace?: boolean;
  readonly json?: boolean;
}
const kinds = ['company', 'employee', 'workflow', 'item', 'session'] as const;
const bytesMax = 4 * 2 ** 20;

/** `troupe export <company|employee|workflow|item|session> [name]` and `troupe import <file>`. */
export function bundleCommands(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('export')
      .description(
        'write the company, an employee, a workflow, a work item or a session to a file, without keys',
      )
      .argument('<what>', kinds.join(', '))
      .argument('[name]', 'of the employee, or the id of the workflow, work item or session'),
  )
    .option('--to <file>', 'file to create (default: standard output)')
    .action(
      async (given: string, name: string | undefined, options: HomeOptions & { readonly to?: string }) => {
        const what = kinds.find((kind) => kind === given);
        if (what === undefined || (what !== 'company' && name === undefined))
          throw new CommandError(
            exitCodes.usage,
            'Use: troupe export company, or employee <name>, workflow <id>, item <id> or session <id>.',
          );
        const client = await connect(homeOf(options, terminal));
        const { bundle, secretsRemoved } = await client.get('/api/export', {
          params: { query: { what, name: name ?? '' } },
        });
        if (options.to === undefined) terminal.write(bundle);
        else {
          await writeNew(resolve(options.to), bundle);
          terminal.say(`Wrote ${options.to}.`);
        }
        if (secretsRemoved > 0)
          terminal.say(`${secretsRemoved} values of the form of a key were replaced by [secret].`);
      },
    );
  withHome(
    program
      .command('import')
      .description('show what a file of "troupe export", or a whole home, would bring; with --apply, do it')
      .argument('[file]', 'file written by troupe export'),
  )
    .option('--from <folder>', 'home of another server of this API: its SQLite database and YAML')
    .option('--apply', 'do it')
    .option('--replace', 'overwrite what is here and differs')
    .option('--json', 'answer as JSON')
    .action(async (file: string | undefined, options: ImportOptions) => {
      const { apply = false, replace = false, json = false } = options;
      if (options.from !== undefined && file === undefined) {
        const client = await connect(homeOf(options, terminal));
        const { importHome } = await import('./other-home/import-home.js');
        return importHome(client, resolve(options.from), { apply, replace, json }, terminal);
      }
      if (file === undefined || options.from !== undefined)
        throw new CommandError(exitCodes.usage, 'Use: troupe import <file>, or --from <folder>.');
      const { size } = await stat(file);
      if (size > bytesMax) throw new CommandError(exitCodes.usage, `${file} has more than 4 MiB.`);
      const bundle = await readFile(file, 'utf8');
      const client = await connect(homeOf(options, terminal));
      const body = { bundle, apply, replace };
      const report = await client.post('/api/import', { body });
      if (json) return terminal.out(JSON.stringify(report));
      printImport(report, terminal);
    });
}

async function writeNew(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'EEXIST'
      ? new CommandError(exitCodes.usage, `${file} exists. Nothing is overwritten.`, { cause })
      : cause;
  });
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

/** What an import did or would do: one line for each thing, and the lines that change. */
export function printImport(
  { title, entries, applied }: Answer<'/api/import', 'post'>,
  terminal: Terminal,
): void {
  const words = { create: 'new     ', change: 'changed ', same: 'the same' } as const;
  for (const { name, change, diff } of entries) {
    terminal.out(`${words[change]}  ${plainText(name)}`);
    if (!applied) for (const line of diff) terminal.out(`    ${plainText(line)}`);
  }
  terminal.out(
    applied
      ? `Added ${plainText(title)}.`
      : `Nothing was changed. This is what ${plainText(title)} would bring.`,
  );
}
