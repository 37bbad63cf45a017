import { Argument, type Command } from 'commander';
import { connect, wordOf } from './client.js';
import { hint, homeOf, withHome, wholeNumber, type HomeOptions, type Terminal } from './command-line.js';
import { ago, table } from './print.js';
import { waitsForYou } from './waiting.js';

interface ListOptions extends HomeOptions {
  readonly json?: boolean;
  readonly limit: number;
}
/** `troupe list [sessions|todos]`: the newest first. */
export function listCommand(program: Command, terminal: Terminal): void {
  withHome(program.command('list').description('list sessions or todos, newest first'))
    .addArgument(new Argument('[what]', 'what to list').choices(['sessions', 'todos']).default('sessions'))
    .option('--limit <number>', 'at most so many', wholeNumber(1, 50), 20)
    .option('--json', 'answer as JSON')
    .action(async (what: 'sessions' | 'todos', options: ListOptions) => {
      const layout = homeOf(options, terminal);
      const client = await connect(layout);
      const now = Date.now();
      const waits = options.json === true ? () => false : await waitsForYou(client);
      const state = ({ id, status }: { id: string; status: string }): string =>
        waits(id) ? `${status}, waits for you` : status;
      if (what === 'todos') {
        const { workItems } = await client.get('/api/work-items', {
          params: { query: { limit: String(options.limit) } },
        });
        terminal.out(
          options.json === true
            ? JSON.stringify(workItems)
            : table(
                ['ID', 'STATUS', 'ASSIGNEE', 'CHANGED', 'TITLE'],
                workItems.map((item) => [
                  item.id,
                  state(item),
                  item.assignee ?? '-',
                  ago(Date.parse(item.updatedAt), now),
                  item.title,
                ]),
                `No todos yet. Add one with: ${hint(layout, 'run', '"add water the plants"')}`,
              ),
        );
        return;
      }
      // The newest 50 of each group: the newest 50 of all are among them, however many there are.
      const grouped = await client.get('/api/sessions');
      const sessions = [...('sessions' in grouped ? grouped.sessions : grouped)]
        .sort((one, other) => other.lastActivity.localeCompare(one.lastActivity))
        .slice(0, options.limit);
      terminal.out(
        options.json === true
          ? JSON.stringify(sessions)
          : table(
              ['ID', 'STATUS', 'ENGINE', 'ACTIVE', 'TITLE'],
              sessions.map((session) => [
                session.id,
                state({ ...session, status: wordOf(session) }),
                session.engine,
                ago(Date.parse(session.lastActivity), now),
                session.title ?? '-',
              ]),
              `No sessions yet. Open one with: ${hint(layout, 'run', 'help')}`,
            ),
      );
    });
}
