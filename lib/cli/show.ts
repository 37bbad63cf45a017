import type { Command } from 'commander';
import { branchHint } from './changes.js';
import { connect, type Client, sessionNamed, wordOf } from './client.js';
import { homeOf, withHome, wholeNumber, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import type { Layout } from '../home/layout.js';
import { messageLines } from './show-activity.js';
import { quietBecause, runningTool } from '../client/decision.js';
import { ago, plainText } from './print.js';
import { timesOf, withTimes, type TimeOptions, type Times } from './times.js';
import { waitsForYou } from './waiting.js';

interface ShowOptions extends HomeOptions, TimeOptions {
  readonly json?: boolean;
  readonly last: number;
}
/** `troupe show <id>`: the conversation of a session, or what happened to a todo (ids like TRP-7). */
export function showCommand(program: Command, terminal: Terminal): void {
  withTimes(
    withHome(
      program.command('show').description("show a session's conversation, or a todo and what happened to it"),
    ),
  )
    .argument('<id>', 'id of a session or the beginning of it, or of a todo such as TRP-7')
    .option('--last <number>', 'newest messages to show', wholeNumber(1, 500), 50)
    .option('--json', 'answer as JSON')
    .action(async (id: string, options: ShowOptions) => {
      // An empty id, or one of dots, would make another path of the request: that of the list.
      if (/^\.{0,2}$/.test(id.trim()))
        throw new CommandError(
          exitCodes.usage,
          `Invalid id ${JSON.stringify(id)}. "troupe list" and "troupe list todos" show valid ids.`,
        );
      const layout = homeOf(options, terminal);
      const client = await connect(layout);
      const showing = { ...options, layout, terminal, times: await timesOf(layout, options) };
      const shown = /^[A-Za-z][A-Za-z0-9]*-\d+$/.test(id)
        ? showTodo(client, id.toUpperCase(), showing)
        : showSession(client, await sessionNamed(client, id), showing);
      await shown.catch((error: Error) => {
        // The gateway does not say what it did not find.
        throw error.message === 'Not found (NOT_FOUND)'
          ? new CommandError(
              exitCodes.refused,
              `There is no session or todo ${id}. "troupe list" and "troupe list todos" show valid ids.`,
              { cause: error },
            )
          : error;
      });
    });
}

type Showing = ShowOptions & { readonly layout: Layout; readonly terminal: Terminal; readonly times: Times };

async function showSession(
  client: Client,
  id: string,
  { layout, terminal, times, ...options }: Showing,
): Promise<void> {
  const session = await client.get('/api/sessions/{id}', {
    params: { path: { id }, query: { last: String(options.last) } },
  });
  if (options.json === true) return terminal.out(JSON.stringify(session));
  const waits = (await waitsForYou(client))(session.id) ? ', waits for you' : '';
  terminal.out(`${plainText(session.title ?? session.id)}  [${wordOf(session)}${waits}, ${session.engine}]`);
  const { worker, workerLabels } = session;
  if (worker != null) terminal.out(`on worker ${worker}, in ${plainText(String(session.cwd))} there`);
  else if (workerLabels.length > 0) terminal.out(`for a worker with the labels ${workerLabels.join(', ')}`);
  if (session.branch != null)
    terminal.out(
      `branch ${session.branch}; ${branchHint(layout, { id: session.id, branch: session.branch })}`,
    );
  if (session.messagesPage?.hasOlder === true)
    terminal.out(`… older messages: --last ${Math.min(500, options.last * 4)}`);
  for (const message of session.messages ?? [])
    for (const line of messageLines(message, times)) terminal.out(line);
  const { silentSince } = session as { readonly silentSince?: string | null };
  if (silentSince != null)
    terminal.out(
      `\nno output for ${ago(Date.parse(silentSince), Date.now())}: ` +
        quietBecause(runningTool(session.messages ?? [])),
    );
  if ((session.messages ?? []).length === 0) terminal.out('\nNo messages yet.');
  if (session.lastError !== null) terminal.out(`\nlast error: ${plainText(session.lastError)}`);
}

async function showTodo(client: Client, id: string, { terminal, times, ...options }: Showing): Promise<void> {
  const answer = await client.get('/api/work-items/{id}', { params: { path: { id } } });
  if (options.json === true) return terminal.out(JSON.stringify(answer));
  const { workItem: todo, events } = answer;
  const waits = (await waitsForYou(client))(todo.id) ? ', waits for you' : '';
  const assignee = todo.assignee === null ? '' : `, ${todo.assignee}`;
  terminal.out(`${todo.id}  ${plainText(todo.title)}  [${todo.status}${waits}${assignee}]`);
  if (todo.body !== null) terminal.out(plainText(todo.body, { keepLines: true }).replace(/^/gm, '  '));
  for (const event of events) {
    const change =
      event.toStatus === null || event.fromStatus === event.toStatus
        ? ''
        : ` ${event.fromStatus ?? ''} → ${event.toStatus}`;
    const by = event.actor === null ? '' : ` by ${plainText(event.actor)}`;
    terminal.out(`  ${times.dateAndTime(event.createdAt)}  ${event.kind}${change}${by}`);
  }
}
