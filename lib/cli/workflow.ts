import type { Command } from 'commander';
import { connect, type Client } from './client.js';
import { hint, homeOf, withHome, wholeNumber, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { ago, table } from './print.js';

interface Definition {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly status: string;
  readonly version: number;
  readonly updatedAt: string;
}

type Options = HomeOptions & { readonly json?: boolean };

/** `troupe workflow list|run|runs|cancel`. */
export function workflowCommand(program: Command, terminal: Terminal): void {
  const workflow = program.command('workflow').description('list workflows, start and follow their runs');
  const command = (usage: string, about: string): Command =>
    withHome(workflow.command(usage).description(about)).option('--json', 'answer as JSON');

  command('list', 'list workflows, newest change first').action(async (options: Options) => {
    const client = await connect(homeOf(options, terminal));
    const definitions = await allDefinitions(client);
    if (options.json === true) return terminal.out(JSON.stringify(definitions));
    terminal.out(
      table(
        ['ID', 'VERSION', 'STATUS', 'CHANGED', 'TITLE'],
        definitions.map(({ id, version, status, updatedAt, title }) => [
          id,
          String(version),
          status,
          ago(Date.parse(updatedAt), Date.now()),
          title,
        ]),
        'No workflows yet. "troupe help workflows" shows how to write one.',
      ),
    );
  });
  command('run <workflow>', 'start a run, by the id or the title of the workflow')
    .option('--input <json>', 'the input that the definition declares, as JSON')
    .action(async (named: string, options: Options & { readonly input?: string }) => {
      const layout = homeOf(options, terminal);
      const client = await connect(layout);
      const { id } = await definitionNamed(client, named);
      const answer = await client.post('/api/workflow-definitions/{id}/run', {
        params: { path: { id } },
        body: options.input === undefined ? {} : { input: parsed(options.input) },
      });
      if (options.json === true) return terminal.out(JSON.stringify(answer));
      terminal.out(answer.runId);
      terminal.say(`The run is ${answer.status}. Follow it: ${hint(layout, 'workflow runs', id)}`);
    });
  command('runs <workflow>', 'list the runs of a workflow, newest first')
    .option('--limit <number>', 'at most so many', wholeNumber(1, 100), 20)
    .action(async (named: string, options: Options & { readonly limit: number }) => {
      const client = await connect(homeOf(options, terminal));
      const { id } = await definitionNamed(client, named);
      const { runs } = await client.get('/api/workflow-definitions/{id}/runs', {
        params: { path: { id }, query: { limit: String(options.limit) } },
      });
      if (options.json === true) return terminal.out(JSON.stringify(runs));
      terminal.out(
        table(
          ['RUN', 'STATUS', 'STARTED'],
          runs.map(({ runId, status, startedAt }) => [runId, status, ago(Date.parse(startedAt), Date.now())]),
          'No runs yet.',
        ),
      );
    });
  command('cancel <workflow> <run>', 'cancel a run and stop its sessions').action(
    async (named: string, run: string, options: Options) => {
      const client = await connect(homeOf(options, terminal));
      const { id } = await definitionNamed(client, named);
      const answer = await client.post('/api/workflow-definitions/{id}/runs/{runId}/cancel', {
        params: { path: { id, runId: run } },
      });
      terminal.out(options.json === true ? JSON.stringify(answer) : `Cancelled ${run}.`);
    },
  );
}

async function allDefinitions(client: Client): Promise<readonly Definition[]> {
  const { definitions } = await client.get('/api/workflow-definitions');
  return definitions;
}

/** By its id or name, else by its title where only one has it. */
async function definitionNamed(client: Client, named: string): Promise<Definition> {
  const definitions = await allDefinitions(client);
  const found = definitions.filter(({ id, name }) => id === named || name === named);
  const titled = found.length > 0 ? found : definitions.filter(({ title }) => title === named);
  const [one, ...more] = titled;
  if (one !== undefined && more.length === 0) return one;
  throw new CommandError(
    exitCodes.usage,
    one === undefined
      ? `There is no workflow "${named}". "troupe workflow list" shows them.`
      : `${titled.length} workflows are called "${named}": ${titled.map(({ id }) => id).join(', ')}. Use an id.`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError(exitCodes.usage, `--input is not JSON: ${(error as Error).message}`);
  }
}
