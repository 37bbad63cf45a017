import type { Command } from 'commander';
import type { components } from '../client/index.js';
import { connect, given, type Client } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { plainText } from './print.js';

type Item = components['schemas']['WorkItem'];

/** `troupe items add|move|done|assign|comment`: work items, as a person changes them. */
export function itemsCommand(program: Command, terminal: Terminal): void {
  const items = program.command('items').description('create and change work items');
  const command = (usage: string, about: string): Command =>
    withHome(items.command(usage).description(about)).option('--json', 'answer as JSON');

  command('add <title>', 'create a work item')
    .option('--body <text>', 'what is to be done')
    .option('--acceptance <text>', 'how it is known to be done')
    .option('--assignee <employee>', 'who does it')
    .option('--parent <item>', 'makes it a sub-task of that item')
    .action(async (title: string, options: Options & AddOptions) => {
      const { body, acceptance, assignee, parent: parentId } = options;
      await change(options, 'Added', (client) =>
        client.post('/api/work-items', { body: given({ title, body, acceptance, assignee, parentId }) }),
      );
    });
  command('move <id> <status>', 'move an item along an allowed transition')
    .option('--note <text>', 'why; needed for blocked and escalated')
    .action(async (id: string, status: string, options: Options & { readonly note?: string }) => {
      await change(options, 'Moved', (client) =>
        client.post('/api/work-items/{id}/status', {
          params: itemOf(id),
          body: given({ status: status as Item['status'], note: options.note }),
        }),
      );
    });
  command('done <id>', 'move an item to done')
    .option('--note <text>', 'what was done')
    .action(async (id: string, options: Options & { readonly note?: string }) => {
      await change(options, 'Done', (client) =>
        client.post('/api/work-items/{id}/status', {
          params: itemOf(id),
          body: given({ status: 'done' as const, note: options.note }),
        }),
      );
    });
  command('assign <id> <employee>', 'give an item to an employee').action(
    async (id: string, assignee: string, options: Options) => {
      await change(options, 'Assigned', (client) =>
        client.post('/api/work-items/{id}/assign', { params: itemOf(id), body: { assignee } }),
      );
    },
  );
  command('comment <id> <text>', 'add a comment to an item').action(
    async (id: string, text: string, options: Options) => {
      const client = await connect(homeOf(options, terminal));
      const answer = await client.post('/api/work-items/{id}/comments', {
        params: itemOf(id),
        body: { text },
      });
      terminal.out(options.json === true ? JSON.stringify(answer) : `Commented on ${id.toUpperCase()}.`);
    },
  );

  async function change(
    options: Options,
    done: string,
    act: (client: Client) => Promise<{ readonly workItem: Item }>,
  ): Promise<void> {
    const client = await connect(homeOf(options, terminal));
    const answer = await act(client);
    const { id, title, status, assignee } = answer.workItem;
    terminal.out(
      options.json === true
        ? JSON.stringify(answer.workItem)
        : `${done} ${id}: ${plainText(title)}  [${status}${assignee === null ? '' : `, ${assignee}`}]`,
    );
  }
}

type Options = HomeOptions & { readonly json?: boolean };
interface AddOptions {
  readonly body?: string;
  readonly acceptance?: string;
  readonly assignee?: string;
  readonly parent?: string;
}

function itemOf(id: string): { readonly path: { id: string } } {
  // Anything else would make another path of the request.
  if (!/^[A-Za-z0-9][\w-]*$/.test(id))
    throw new CommandError(
      exitCodes.usage,
      `Invalid id ${JSON.stringify(id)}. "troupe list todos" shows valid ids.`,
    );
  return { path: { id: id.toUpperCase() } };
}
