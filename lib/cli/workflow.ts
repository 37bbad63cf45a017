import type { Command } from 'commander';
import { connect, type Client } from './client.js';
import { hint, homeOf, withHome, wholeNumber, type HomeOptions, type Terminal } from './command-line.js';
import { definitionChanges } from './definition-changes.js';
import { CommandError, exitCodes } from './failure.js';
import { ago, plainText, table } from './print.js';

interface Definition {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly status: string;
  readonly version: number;
  readonly updatedAt: string;
}

type Options = HomeOptions & { readonly json?: boolean };

/** `troupe workflow list|show|run|runs|cancel`. */
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
  command('show <workflow>', 'show a version whole, and why it waits for approval')
    .option('--at <version>', 'this one; default: the newest', wholeNumber(1, 999_999_999))
    .action(async (named: string, options: Options & { readonly at?: number }) => {
      const client = await connect(homeOf(options, terminal));
      const { id } = await definitionNamed(client, named);
      const definition = await client.get('/api/workflow-definitions/{id}', {
        params: {
          path: { id },
          query: options.at === undefined ? {} : { version: String(options.at) },
        },
      });
      if (options.json === true) return terminal.out(JSON.stringify(definition));
      const { pending } = await client.get('/api/workflow-approvals');
      const waits = pending.find((one) => one['workflowId'] === id && one.version === definition.version);
      terminal.out(`${plainText(definition.title)}  [version ${definition.version}, ${definition.status}]`);
      if (waits !== undefined) {
        terminal.out(
          `waits for approval; written by ${plainText(waits.writtenBy)}: ${plainText(waits.reasons.join('; '))}`,
        );
        const { approvedVersion } = waits;
        if (approvedVersion !== null) {
          terminal.out(`Changes since version ${approvedVersion}, the last that was approved:`);
          const approved = await client.get('/api/workflow-definitions/{id}', {
            params: { path: { id }, query: { version: String(approvedVersion) } },
          });
          for (const line of definitionChanges(approved, definition)) terminal.out(plainText(line));
        }
      }
      terminal.out(plainText(JSON.stringify(definition, null, 2), { keepLines: true }));
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
          runs.map(({ runId, status, queued, startedAt }) => [
            runId,
            queued ? 'queued' : status, // behind an earlier run
            ago(Date.parse(startedAt), Date.now()),
          ]),
          'No runs yet.',
        ),
      );
    });
  command('cancel <workflow> <run>', 'cancel a run and stop its sessions').action(
    async (named: string, run: string, options: Options) => {
      const client = await connect(homeOf(options, terminal));
      const { id } = await definitionNamed(client, named);
      const runId = await runNamed(client, id, run);
      const answer = await client.post('/api/workflow-definitions/{id}/runs/{runId}/cancel', {
        params: { path: { id, runId } },
      });
      terminal.out(options.json === true ? JSON.stringify(answer) : `Cancelled ${runId}.`);
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

/** The id of a run that was typed whole or in part, from its beginning. What names none is left as it is. */
async function runNamed(client: Client, id: string, typed: string): Promise<string> {
  const { runs } = await client.get('/api/workflow-definitions/{id}/runs', {
    params: { path: { id }, query: { limit: '100' } },
  });
  const found = runs.map(({ runId }) => runId).filter((runId) => runId.startsWith(typed));
  if (found.length > 1 && !found.includes(typed))
    throw new CommandError(
      exitCodes.usage,
      `"${typed}" means ${found.length} runs: ${found.slice(0, 10).join(', ')}.`,
    );
  return found.length === 1 ? (found[0] ?? typed) : typed;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError(exitCodes.usage, `--input is not JSON: ${(error as Error).message}`);
  }
}
