import { type Command, InvalidArgumentError } from 'commander';
import { setTimeout } from 'node:timers/promises';
import type { Layout } from '../home/layout.js';
import type { InspectEntry, InspectFrame, InspectOptions, InspectRefusal } from '../client/index.js';
import { createClient, GatewayError } from '../client/index.js';
import type { ActorKey } from '../../machines/outputs.js';
import { stateNames } from '../../machines/state-names.js';
import { given, notRunning, reached, running } from './client.js';
import { homeOf, withHome, wholeNumber, type HomeOptions, type Terminal } from './command-line.js';
import { exitCodes } from './failure.js';
import { plainText } from './print.js';
import { timesOf, withTimes, type TimeOptions, type Times } from './times.js';

interface TailOptions extends HomeOptions, TimeOptions {
  readonly kind?: readonly string[];
  readonly id?: readonly string[];
  readonly tree?: ActorKey;
  readonly since?: number;
  readonly refusals?: boolean;
  readonly follow: boolean;
  readonly json?: boolean;
}

/**
 * `troupe tail --kind session`: every step of every actor as it is committed. Goes on where it stopped when
 * the gateway comes back.
 */
export function tailCommand(program: Command, terminal: Terminal): void {
  const several = (text: string, before: readonly string[] = []): readonly string[] => [
    ...before,
    ...text.split(',').filter((name) => name !== ''),
  ];
  withTimes(withHome(program.command('tail').description('stream every step of every actor')))
    .option('--kind <kind>', 'only actors of this kind (may be repeated)', several)
    .option('--id <id>', 'only this actor (may be repeated)', several)
    .option('--tree <kind/id>', 'only this actor and its descendants', actorNamed)
    .option(
      '--since <seq>',
      'from this log position on (exclusive; 0: from the beginning)',
      wholeNumber(0, 999_999_999_999),
    )
    .option('--refusals', 'show events that were refused, too')
    .option('--no-follow', 'stop at the end of the log')
    .option('--json', 'one JSON object per line')
    .action(async (options: TailOptions) => {
      const layout = homeOf(options, terminal);
      if ((await running(layout)) === undefined) throw notRunning(layout);
      await follow(layout, options, terminal);
    });
}

async function follow(layout: Layout, options: TailOptions, terminal: Terminal): Promise<void> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const times = await timesOf(layout, options);
  let since = options.since ?? (options.follow ? undefined : 0);
  let hasBegun = false;
  const filter: InspectOptions = {
    ...given({ kinds: options.kind, ids: options.id, tree: options.tree, refusals: options.refusals }),
    signal: stop.signal,
    giveUpAfterMs,
    onConnection(isOpen) {
      if (!isOpen && hasBegun) terminal.say('(lost the gateway; reconnecting)');
    },
  };
  while (!stop.signal.aborted) {
    const announcement = await running(layout);
    if (announcement === undefined) {
      await setTimeout(pollMs, undefined, { signal: stop.signal }).catch(() => undefined);
      continue;
    }
    try {
      let head = Infinity;
      const feed = createClient(announcement).inspect({
        ...filter,
        ...given({ since }),
        onPosition(position) {
          since = position;
          if (position >= head) stop.abort();
        },
      });
      for await (const frame of feed) {
        if (frame.event === 'hello' && !options.follow) head = frame.payload.head;
        if (frame.event === 'hello' && options.follow && options.json !== true && !hasBegun)
          terminal.say('(watching; Ctrl-C ends it)'); // it may be long until something happens
        hasBegun = true;
        show(frame, { terminal, times, isJson: options.json === true, cursor: since });
      }
    } catch (error) {
      // It may come back elsewhere, and with another token: its announcement says so
      const isBackElsewhere = (await running(layout))?.token !== announcement.token;
      if (!(hasBegun && error instanceof GatewayError && (error.code === 'UNREACHABLE' || isBackElsewhere)))
        await reached(announcement.url, Promise.reject(error as Error));
    }
  }
  if (options.follow) process.exitCode = exitCodes.interrupted;
}

const pollMs = 250;
/** As long as the next attempt at the same address may bring it back. */
const giveUpAfterMs = 1_000;

interface Showing {
  readonly terminal: Terminal;
  readonly times: Times;
  readonly isJson: boolean;
  readonly cursor: number | undefined;
}

function show(frame: InspectFrame, { terminal, times, isJson, cursor }: Showing): void {
  switch (frame.event) {
    case 'entries':
      if (frame.payload.skipped !== undefined)
        terminal.say(`(${frame.payload.skipped.total} more steps are not shown)`);
      for (const entry of frame.payload.entries)
        terminal.out(isJson ? JSON.stringify(entry) : entryLine(entry, times));
      return;
    case 'refusals':
      for (const refusal of frame.payload.refusals)
        terminal.out(isJson ? JSON.stringify(refusal) : refusalLine(refusal, times));
      return;
    case 'reset':
      if (cursor !== undefined && cursor > frame.payload.head)
        return terminal.say(
          `(the log ends at ${frame.payload.head}, before ${cursor}; continuing from its end)`,
        );
      return terminal.say(
        `(the log begins at ${frame.payload.floor + 1}; older entries were removed. Continuing at ` +
          `${frame.payload.head})`,
      );
    case 'error':
      return terminal.say(plainText(frame.payload.error));
    default:
  }
}

/** `14:03:22.120     123 session/s1 turn done running → idle -engine-turn (effect:engine-turn)` */
export function entryLine(
  { at, seq, kind, id, event, from, to, effects, by }: InspectEntry,
  times: Pick<Times, 'timeOfDay'>,
): string {
  const moved =
    JSON.stringify(from) === JSON.stringify(to)
      ? `in ${stateText(to)}`
      : `${from === null ? '·' : stateText(from)} → ${stateText(to)}`;
  const words = [
    times.timeOfDay(at),
    String(seq).padStart(7),
    `${kind}/${id}`,
    event.type,
    moved,
    ...effects.map((src) => (src.startsWith('-') ? src : `+${src}`)),
    `(${by})`,
  ];
  return words.map((word, n) => (n === 1 ? word : plainText(word))).join(' ');
}

const refusalLine = ({ at, kind, id, event, refusal }: InspectRefusal, times: Times): string =>
  plainText(
    `${times.timeOfDay(at)} refused ${kind}/${id} ${event.type}: ${refusal.message} (${refusal.code})`,
  );

export const stateText = (value: InspectEntry['to']): string => stateNames(value).join(', ');

function actorNamed(text: string): ActorKey {
  const [, kind, id] = /^([a-z][a-z0-9-]*)\/(.+)$/.exec(text) ?? [];
  if (kind !== undefined && id !== undefined) return { kind, id };
  throw new InvalidArgumentError('It must be an actor, such as session/<id>.');
}
