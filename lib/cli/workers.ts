import { Argument, type Command } from 'commander';
import { readConfig } from '../home/read-config.js';
import { connect, type Client } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { baseUrls } from './pair.js';
import { duration, table } from './print.js';

/** `troupe workers [list|drain|remove]`: the processes that run turns, and what runs where. */
export function workersCommand(program: Command, terminal: Terminal): void {
  withHome(program.command('workers').description('show, drain or remove the processes that run turns'))
    .addArgument(
      new Argument(
        '[action]',
        'list: what runs where; add: invite one of another machine; drain: begin no more turns there; resume: ' +
          'begin turns again; remove: end its turns and then it',
      )
        .choices(['list', 'add', 'drain', 'resume', 'remove'])
        .default('list'),
    )
    .argument('[name]', 'of the worker')
    .option('--json', 'answer as JSON')
    .action(async (action: Action, name: string | undefined, options: Options): Promise<void> => {
      const layout = homeOf(options, terminal);
      const client = await connect(layout);
      if (action !== 'list') {
        if (name === undefined)
          throw new CommandError(exitCodes.usage, `Name a worker to ${action}; "troupe workers" lists them.`);
        if (action === 'add') return invite(client, { name, config: layout.config }, options, terminal);
        const path = { path: { id: name } };
        await client.post(`/api/workers/{id}/${action}`, { params: path });
        return terminal.say(done[action]);
      }
      const answer = await client.get('/api/workers');
      if (options.json === true) return terminal.out(JSON.stringify(answer));
      const { workers, slots, hosted } = answer;
      const now = Date.now();
      const since = (at: string): string => duration(now - Date.parse(at));
      const none = ['-', '-', '-'];
      terminal.out(
        table(
          ['WORKER', 'STATE', 'WHERE', 'VERSION', 'UP', 'SLOTS', 'LABELS', 'SESSION', 'ENGINE', 'FOR'],
          workers.flatMap(({ name: worker, state, place, version, startedAt, slots: own, labels, turns }) =>
            (turns.length === 0
              ? [none]
              : turns.map((turn) => [turn.sessionId, turn.engine, since(turn.since)])
            ).map((turn) => [
              worker,
              state,
              place,
              version ?? '-',
              startedAt === null ? '-' : since(startedAt),
              own === null ? '-' : String(own),
              labels.join(',') || '-',
              ...turn,
            ]),
          ),
          'No worker runs; the first turn of an engine that outlives the gateway starts one.',
        ),
      );
      if (slots !== null)
        terminal.out(`${slots.running} of ${slots.max} slots taken, ${slots.waiting} turns wait for one`);
      terminal.out(
        hosted.length === 0
          ? 'All turns end with the gateway (agents.worker is false, or the path of the home is too long).'
          : `Turns of ${hosted.join(', ')} outlive the gateway; those of other engines end with it.`,
      );
    });
}

/** The code works once: it is for the worker alone. */
async function invite(
  { post, announcement }: Client,
  { name, config }: { readonly name: string; readonly config: string },
  { json }: Options,
  terminal: Terminal,
): Promise<void> {
  const { code, ttlSeconds } = await post('/api/workers', { body: { name } });
  if (json === true) return terminal.out(JSON.stringify({ name, code, ttlSeconds }));
  const [url = announcement.url] = baseUrls(announcement, (await readConfig(config)).gateway);
  terminal.out(code);
  terminal.say(
    `Within ${Math.ceil(ttlSeconds / 60)} minutes, on the other machine, with this code on its standard input:\n` +
      `  troupe worker --join ${url.replace(/\/$/, '')} --name ${name} --roots <folders>`,
  );
}

const done: Readonly<Record<Exclude<Action, 'list' | 'add'>, string>> = {
  drain: 'Nothing more begins there.',
  resume: 'Turns begin there again.',
  remove: 'Removed the worker.',
};

type Action = 'list' | 'add' | 'drain' | 'resume' | 'remove';
type Options = HomeOptions & { readonly json?: boolean };
