import type { Command } from 'commander';
import { connect } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { plainText } from './print.js';

interface Item {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly assignee: string | null;
}

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
      await change(options, 'Added', (post) =>
        post('/api/work-items', given({ title, body, acceptance, assignee, parentId })),
      );
    });
  command('move <id> <status>', 'move an item along an allowed transition')
    .option('--note <text>', 'why; needed for blocked and escalated')
    .action(async (id: string, status: string, options: Options & { readonly note?: string }) => {
      await change(options, 'Moved', (post) =>
        post(`${path(id)}/status`, given({ status, note: options.note })),
      );
    });
  command('done <id>', 'move an item to done')
    .option('--note <text>', 'what was done')
    .action(async (id: string, options: Options & { readonly note?: string }) => {
      await change(options, 'Done', (post) =>
        post(`${path(id)}/status`, given({ status: 'done', note: options.note })),
      );
    });
  command('assign <id> <employee>', 'give an item to an employee').action(
    async (id: string, assignee: string, options: Options) => {
      await change(options, 'Assigned', (post) => post(`${path(id)}/assign`, { assignee }));
    },
  );
  command('comment <id> <text>', 'add a comment to an item').action(
    async (id: string, text: string, options: Options) => {
      const client = await connect(homeOf(options, terminal));
      const answer = await client.post(`${path(id)}/comments`, { text });
      terminal.out(options.json === true ? JSON.stringify(answer) : `Commented on ${id.toUpperCase()}.`);
    },
  );

  type Post = (path: string, body: object) => Promise<unknown>;
  async function change(
    options: Options,
    done: string,
    act: (post: Post) => Promise<unknown>,
  ): Promise<void> {
    const client = await connect(homeOf(options, terminal));
    const answer = (await act((to, body) => client.post(to, body))) as { readonly workItem: Item };
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

function path(id: string): string {
  // Anything else would make another path of the request.
  if (!/^[A-Za-z0-9][\w-]*$/.test(id))
    throw new CommandError(
      exitCodes.usage,
      `Invalid id ${JSON.stringify(id)}. "troupe list todos" shows valid ids.`,
    );
  return `/api/work-items/${id.toUpperCase()}`;
}

const given = (members: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
