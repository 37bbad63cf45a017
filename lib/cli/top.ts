import type { Command } from 'commander';
import type {
  ActorsPage,
  ActorSummary,
  Fleet,
  MachineAnswer,
  SupervisionTree,
} from '../inspector/answers.js';
import type { ChartState } from '../inspector/chart/definition.js';
import type { InspectEntry } from '../client/index.js';
import { connect, inspected, reached, type Client } from './client.js';
import { allWaiting } from './waiting.js';
import { homeOf, withHome, wholeNumber, type HomeOptions, type Terminal } from './command-line.js';
import { timesOf, withTimes, type TimeOptions } from './times.js';
import { topFrame, type TopData } from './top-frame.js';

interface TopOptions extends HomeOptions, TimeOptions {
  readonly once?: boolean;
  readonly every: number;
}

/**
 * `troupe top`: what the house is doing, looked at once a second: kinds and states, rates, restarts, who is
 * at work, what happened lately.
 */
export function topCommand(program: Command, terminal: Terminal): void {
  withTimes(
    withHome(
      program.command('top').description('watch the supervision tree, states, rates and restarts; q quits'),
    ),
  )
    .option('--once', 'print one snapshot and exit')
    .option('--every <seconds>', 'seconds between updates', wholeNumber(1, 3_600), 1)
    .action(async (options: TopOptions) => {
      const layout = homeOf(options, terminal);
      const client = await connect(layout);
      const next = await looker(client, `Troupe ${layout.instance}  ${client.announcement.url}`);
      const times = await timesOf(layout, options);
      const read = async (): Promise<TopData> => ({ ...(await next()), times });
      const { stdin, stdout } = process;
      if (options.once === true || !stdout.isTTY) {
        const size = { columns: stdout.columns ?? 120, rows: 60, colour: false };
        return terminal.out(topFrame(await read(), size).join('\n'));
      }
      await redraw(read, options.every * 1_000, terminal, stdin, stdout);
    });
}

/** Draws over itself until q, Ctrl-C or a signal; the terminal is left as it was, whatever happens. */
export async function redraw(
  read: () => Promise<TopData>,
  everyMs: number,
  terminal: Terminal,
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
): Promise<void> {
  let quit = false;
  let wake = (): void => undefined;
  const leave = (): void => {
    quit = true;
    wake();
  };
  if (input.isTTY) input.setRawMode(true);
  input.resume().on('data', (keys: Buffer) => {
    if (/[q\u0003\u0004]/.test(keys.toString())) leave();
  });
  process.once('SIGINT', leave).once('SIGTERM', leave);
  output.on('resize', () => wake());
  terminal.write('\u001b[?1049h\u001b[?25l'); // a screen of its own, without cursor
  try {
    while (!quit) {
      const lines = topFrame(await read(), { columns: output.columns, rows: output.rows - 1, colour: true });
      terminal.write(`\u001b[H${lines.map((text) => `${text}\u001b[K`).join('\r\n')}\u001b[J`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, everyMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        if (quit) wake();
      });
    }
  } finally {
    terminal.write('\u001b[?25h\u001b[?1049l');
    if (input.isTTY) input.setRawMode(false);
    input.pause();
  }
}

/** Looks at a running gateway; what happened lately is heard over the feed. */
async function looker(client: Client, title: string): Promise<() => Promise<Omit<TopData, 'times'>>> {
  const recent: InspectEntry[] = [];
  const { seq } = await inspected<Fleet>(client.get('/api/inspect/fleet'));
  let caughtUp = (): void => undefined;
  const first = new Promise<void>((resolve) => (caughtUp = resolve));
  const since = Math.max(0, seq - recentMax);
  const feed = client.gateway.inspect({
    since,
    onPosition: (position) => void (position >= seq && caughtUp()),
  });
  const listening = (async () => {
    for await (const frame of feed)
      if (frame.event === 'entries')
        recent.splice(0, recent.length, ...[...recent, ...frame.payload.entries].slice(-recentMax));
  })();
  await reached(client.announcement.url, Promise.race([first, listening]));
  listening.catch(() => undefined); // what is asked for next says that the gateway is gone
  const working = await workingStates(client);
  let before: Fleet | undefined;
  return async () => {
    const [fleet, tree, waiting] = await Promise.all([
      inspected<Fleet>(client.get('/api/inspect/fleet')),
      inspected<SupervisionTree>(client.get('/api/inspect/supervision')),
      allWaiting(client),
    ]);
    const rate =
      before === undefined || fleet.at <= before.at
        ? null
        : ((fleet.events - before.events) / (fleet.at - before.at)) * 1_000;
    before = fleet;
    const pages = await Promise.all(
      working
        .filter(({ kind, state }) => (fleet.kinds.find((one) => one.kind === kind)?.states[state] ?? 0) > 0)
        .map(({ kind, state }) =>
          inspected<ActorsPage>(
            client.get('/api/inspect/actors', { params: { query: { kind, state, limit: '20' } } }),
          ),
        ),
    );
    const busy = new Map<string, ActorSummary>(
      pages.flatMap(({ actors }) => actors).map((actor) => [`${actor.kind}/${actor.id}`, actor]),
    );
    return {
      title,
      fleet,
      tree,
      busy: [...busy.values()].sort((a, b) => a.since - b.since),
      recent,
      rate,
      waiting: waiting.filter(({ on }) => on === 'operator').length,
    };
  };
}

/** States in which an effect runs, of every machine. */
async function workingStates(
  client: Client,
): Promise<readonly { readonly kind: string; readonly state: string }[]> {
  const { kinds } = await inspected<Fleet>(client.get('/api/inspect/fleet'));
  const charts = await Promise.all(
    kinds.map(({ kind }) =>
      inspected<MachineAnswer>(client.get('/api/inspect/machines/{kind}', { params: { path: { kind } } })),
    ),
  );
  return charts.flatMap(({ kind, chart }) => invoking(chart.root).map((state) => ({ kind, state })));
}

const invoking = (state: ChartState): readonly string[] => [
  ...(state.invokes.length > 0 && state.path !== '' ? leavesOf(state) : []),
  ...state.states.flatMap(invoking),
];
const leavesOf = (state: ChartState): readonly string[] =>
  state.states.length === 0 ? [state.path] : state.states.flatMap(leavesOf);

const recentMax = 200;
