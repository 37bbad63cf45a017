import type { Command } from 'commander';
import { connect, requireLong, sessionNamed, type Client } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { plainText } from './print.js';

/** `troupe session delete|archive|unarchive|rename`: sessions in order, as a person keeps them. */
export function sessionCommand(program: Command, terminal: Terminal): void {
  const session = program.command('session').description('delete, archive and rename sessions');
  const command = (usage: string, about: string): Command =>
    withHome(session.command(usage).description(about));

  command(
    'delete <session...>',
    'delete idle sessions; files of their agents and attempts at work items are kept',
  ).action(async (typed: readonly string[], options: HomeOptions) => {
    const client = await connect(homeOf(options, terminal));
    typed.forEach(requireLong);
    const ids = await allNamed(client, typed);
    const titles = new Map(await Promise.all(ids.map((id) => titleOf(client, id))));
    const { count, preserved } = await client.post('/api/sessions/bulk-delete', { body: { ids } });
    const kept = new Set(preserved.map(({ id }) => id));
    for (const id of ids)
      if (!kept.has(id)) terminal.out(`${id}  ${plainText(titles.get(id) ?? '')}`.trimEnd());
    terminal.out(`Deleted ${count} ${count === 1 ? 'session' : 'sessions'}.`);
    for (const { id, reason } of preserved) terminal.say(`${id.slice(0, 8)}: ${plainText(reason)}`);
    if (preserved.length > 0)
      throw new CommandError(exitCodes.refused, `${preserved.length} of ${ids.length} could not be deleted.`);
  });
  command('archive <session>', 'archive an idle session; lists no longer show it').action(
    async (typed: string, options: HomeOptions) => {
      const client = await connect(homeOf(options, terminal));
      const id = await sessionNamed(client, typed);
      await client.post('/api/sessions/{id}/archive', { params: { path: { id } } });
      terminal.out(`Archived. Take it back with: troupe session unarchive ${id}`);
    },
  );
  command('unarchive <session>', 'restore an archived session; its whole id is needed').action(
    async (id: string, options: HomeOptions) => {
      const client = await connect(homeOf(options, terminal));
      await client.post('/api/sessions/{id}/unarchive', { params: { path: { id } } });
      terminal.out('Restored the session.');
    },
  );
  command('rename <session> <title>', 'give a session another title').action(
    async (typed: string, title: string, options: HomeOptions) => {
      const client = await connect(homeOf(options, terminal));
      const path = { id: await sessionNamed(client, typed) };
      const renamed = await client.put('/api/sessions/{id}', { params: { path }, body: { title } });
      terminal.out(`Renamed ${renamed.id.slice(0, 8)}: ${plainText(renamed.title ?? '')}`);
    },
  );
}

/** Each once, however often it was typed. */
const allNamed = async (client: Client, typed: readonly string[]): Promise<string[]> => [
  ...new Set(await Promise.all(typed.map((part) => sessionNamed(client, part)))),
];

/** What was deleted is told by its title too; what is not there is for the gateway to refuse. */
const titleOf = (client: Client, id: string): Promise<[string, string]> =>
  client.get('/api/sessions/{id}', { params: { path: { id }, query: { messages: '0' } } }).then(
    ({ title }) => [id, title ?? ''],
    () => [id, ''],
  );
