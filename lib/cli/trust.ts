import type { Command } from 'commander';
import { createInterface } from 'node:readline/promises';
import { resolve } from 'node:path';
import type { Layout } from '../home/layout.js';
import type { Answer } from '../client/requests.js';
import { connect, type Client } from './client.js';
import { hint, homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { plainText } from './print.js';

interface TrustOptions extends HomeOptions {
  readonly withdraw?: boolean;
  readonly json?: boolean;
}

/**
 * `troupe trust [folder]`: let agents take over what the project of this folder sets for them, as its files are now.
 */
export function trustCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('trust')
      .description(
        "trust a project's settings for agents as they are: permissions, hooks, servers, environment",
      ),
  )
    .argument('[folder]', 'the project (default: the folder you are in)')
    .option('--withdraw', 'trust it no longer')
    .option('--json', 'answer as JSON')
    .action(async (given: string | undefined, options: TrustOptions) => {
      const client = await connect(homeOf(options, terminal));
      const folder = resolve(given ?? '.');
      const found = await trustOf(client, folder);
      const decision = options.withdraw === true ? 'withdraw' : 'trust';
      const seen = found.sha256 === null ? {} : { sha256: found.sha256 };
      const after = await client.post('/api/trust', { body: { folder, decision, ...seen } });
      if (options.json === true) return terminal.out(JSON.stringify(after));
      if (after.state === 'plain') return terminal.out(`${after.folder} sets nothing that wants trust.`);
      for (const line of filesOf(after)) terminal.out(line);
      terminal.out(
        after.state === 'trusted'
          ? `Trusted, as these files of ${after.folder} are now. A change of one of them asks again.`
          : `${after.folder} is not trusted.`,
      );
    });
}

type Trust = Answer<'/api/trust', 'get'>;

const trustOf = (client: Client, folder: string): Promise<Trust> =>
  client.get('/api/trust', { params: { query: { folder } } });

const filesOf = ({ files }: Trust): readonly string[] => files.map((file) => `  ${plainText(file)}`);

/**
 * Before a run in a folder: where its settings wait for trust, a person in a terminal is asked; else a line says
 * which command does it. Whatever is answered, the run goes on: what is not trusted is left out.
 */
export async function askTrust(
  client: Client,
  folder: string,
  { layout, terminal, isInteractive }: { layout: Layout; terminal: Terminal; isInteractive: boolean },
): Promise<void> {
  const found = await trustOf(client, folder);
  if (found.state !== 'untrusted' || found.sha256 === null) return;
  terminal.say(`${found.folder} sets for its agents, and no one has trusted it:`);
  for (const line of filesOf(found)) terminal.say(line);
  if (!isInteractive) return terminal.say(`Read these files, then: ${hint(layout, 'trust', found.folder)}`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on('SIGINT', () => process.emit('SIGINT')); // readline would keep Ctrl-C to itself
  const answer = await lines
    .question('Trust them as they are now? [y]es  [n]o ')
    .finally(() => lines.close());
  if (!/^y(?:es)?$/i.test(answer.trim())) return;
  const body = { folder, decision: 'trust', sha256: found.sha256 } as const;
  await client.post('/api/trust', { body });
}
