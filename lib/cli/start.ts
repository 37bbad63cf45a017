import type { Command } from 'commander';
import type { Instance, startInstance } from '../instance.js';
import type { Layout } from '../home/layout.js';
import { setTimeout as wait } from 'node:timers/promises';
import { collectAtRest } from './at-rest.js';
import { endTurns, turnsGoOn } from './stop.js';
import { progressTeller } from './print.js';
import { outputOf } from '../../actors/start-program.js';
import { readAnnouncement } from '../home/announce.js';
import { readConfig } from '../home/read-config.js';
import { embeddedStore } from '../home/store-setting.js';
import { StoreError } from '../store/contract.js';
import { isRefusal } from '../../machines/refusals.js';
import { browserLink, openInBrowser } from './browser-link.js';
import {
  engineLine,
  hint,
  homeOf,
  wholeNumber,
  withHome,
  type HomeOptions,
  type Terminal,
} from './command-line.js';

interface StartOptions extends HomeOptions {
  readonly port?: number;
  readonly host?: string;
  readonly acceptLoss?: boolean;
}

/** `troupe start`: the gateway in the foreground, until SIGTERM or Ctrl-C. */
export function startCommand(program: Command, terminal: Terminal): void {
  withHome(program.command('start').description('run the gateway in the foreground'))
    .option(
      '--port <number>',
      'TCP port; 0 takes any free one (default: gateway.port of config.yaml, 7420)',
      wholeNumber(0, 65_535),
    )
    .option('--host <address>', 'address to bind to (default: gateway.host of config.yaml, 127.0.0.1)')
    .option('--accept-loss', 'go on where the database has lost commits that this node knows of')
    .action(async (options: StartOptions) => {
      // Loaded here alone, so that list, show and run answer at once
      const { startInstance } = await import('../instance.js');
      const layout = homeOf(options, terminal);
      // From now on: it is announced, and can be stopped, a moment before all of it has started
      const stopped = stopSignal(terminal);
      let { acceptLoss = false } = options;
      let isNew = true;
      const serve = () => {
        const isAccepted = acceptLoss;
        acceptLoss = false; // this loss, and none that comes later
        return startInstance({
          layout,
          ...(options.port === undefined ? {} : { port: options.port }),
          ...(options.host === undefined ? {} : { host: options.host }),
          keepTurns: true,
          onProgress: progressTeller(terminal),
          onStandby: (owner, url) => {
            terminal.say(`Standby: ${owner} owns the home; waiting to take it over.`);
            terminal.say(`  ${url} forwards to it`);
            if (isNew) void rehearsed(startInstance);
            isNew = false;
            return stopped.signal;
          },
          acceptLoss: isAccepted,
        });
      };
      const rest = collectAtRest();
      await ownAndWait(() => insist(serve, layout, terminal, stopped), layout, terminal, stopped);
      rest.close();
    });
}

/** What fails there says nothing of the home that is waited for. */
async function rehearsed(start: typeof startInstance): Promise<void> {
  const { rehearse } = await import('./rehearse.js');
  await rehearse(start).catch(() => undefined);
}

/** A database that is away, or fails over just now, comes back: no node ends for that. */
async function insist(
  serve: () => Promise<Instance>,
  { config }: Layout,
  terminal: Terminal,
  { signal }: Stop,
): Promise<Instance> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await serve();
    } catch (error) {
      if (signal.aborted || !(await isDatabaseAway(error, config))) throw error;
      if (tries === 0) terminal.say(`${(error as Error).message}\nTrying again until the database is back.`);
      await wait(insistMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

async function isDatabaseAway(error: unknown, config: string): Promise<boolean> {
  if (!(error instanceof StoreError) || error.code !== 'STORE_UNAVAILABLE') return false;
  return (await readConfig(config)).store !== embeddedStore;
}

const insistMs = 2_000;

/** Serve; where the home goes to another node, wait for it as that node's standby, and serve again. */
async function ownAndWait(
  serve: () => Promise<Instance>,
  layout: Layout,
  terminal: Terminal,
  stopped: Stop,
): Promise<void> {
  for (;;) {
    const starting = serve().catch((error: unknown) => {
      if (stopped.signal.aborted) return undefined; // a standby that was told to stop
      throw error;
    });
    const served = await Promise.race([starting, stopped.promise.then(() => wait(drainMsMax, undefined))]);
    if (served === undefined) return terminal.say('Stopped before it had started; start again to continue.');
    welcome(served, layout, terminal);
    await invite(served, layout, terminal);
    const stopping = notifyManager(terminal.env);
    const departure = await Promise.race([served.departed, stopped.promise]);
    if (departure === undefined) stopping();
    const ended = await closed(served, terminal);
    await turnsLeft(served, layout, terminal, stopped);
    if (departure === undefined || stopped.signal.aborted || !ended) return;
    terminal.say(departure === 'lost' ? 'This node owns the home no more.' : 'The home is handed over.');
    if (departure === 'drained') await wait(afterDrainMs); // the next one first
  }
}

const afterDrainMs = 3_000;

function welcome(served: Instance, layout: Layout, terminal: Terminal): void {
  const env = { npm_command: terminal.env['npm_command'] }; // another terminal may know nothing of SVC_HOME
  terminal.say(`Troupe runs at ${served.url}`);
  terminal.say(`  home    ${served.home}`);
  terminal.say(`  engines ${engineLine(served.engines, served.defaultEngine)}`);
  terminal.say('  try     in another terminal:');
  const prompt = served.defaultEngine === 'clerk' ? '"add water the plants"' : '"What is in this folder?"';
  terminal.say(`          ${hint(layout, 'run', prompt, env)}`);
  terminal.say(`          ${hint(layout, 'list', '', env)}`);
  terminal.say(
    `  browse  ${hint(layout, 'open', '', env)}, or ${hint(layout, 'pair', '', env)} for another machine`,
  );
  terminal.say('  stop    Ctrl-C; work in progress is kept');
}

/**
 * To a person at a terminal, and to nothing that keeps what it reads: an address that lets this machine's browser in.
 * Where there is a desktop and no browser is paired yet, it is opened as well.
 */
async function invite({ app }: Instance, layout: Layout, terminal: Terminal): Promise<void> {
  const { env } = terminal;
  if (process.stderr.isTTY !== true || env['JOURNAL_STREAM'] !== undefined) return;
  try {
    const announcement = await readAnnouncement(layout.announcement);
    if (announcement === undefined) return;
    const { link, ttlSeconds } = await browserLink(layout, announcement);
    terminal.say(`  open    ${link}`);
    terminal.say(`          in a browser of this machine within ${ttlSeconds} s; it works once`);
    const paired = await app.records?.devices.list();
    const isNew = paired !== undefined && !isRefusal(paired) && paired.length === 0;
    if (isNew && hasDesktop(env)) void openInBrowser((await browserLink(layout, announcement)).link);
  } catch (error) {
    terminal.say(
      `  open    no address could be made: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

const hasDesktop = (env: Terminal['env']): boolean =>
  process.platform === 'darwin' ||
  process.platform === 'win32' ||
  (env['DISPLAY'] ?? env['WAYLAND_DISPLAY'] ?? '') !== '';

interface Stop {
  readonly signal: AbortSignal;
  readonly promise: Promise<undefined>;
  /** By Ctrl-C: another one may follow. */
  readonly isFromTerminal: () => boolean;
}

/** SIGTERM or Ctrl-C. npm passes a Ctrl-C on that the terminal has already sent: a second one is no second request. */
function stopSignal(terminal: Terminal): Stop {
  const controller = new AbortController();
  const { signal } = controller;
  let isFromTerminal = false;
  const onSignal = (name: NodeJS.Signals): void => {
    if (signal.aborted) return;
    terminal.say('Stopping: finishing current work (at most 10 s) …');
    isFromTerminal = name === 'SIGINT';
    controller.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    signal,
    promise: new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined))),
    isFromTerminal: () => isFromTerminal,
  };
}

/** Resolves when the gateway is drained, at most ten seconds from now. */
async function closed(served: Instance, terminal: Terminal): Promise<boolean> {
  const ended = await Promise.race([served.close().then(() => true), wait(drainMsMax, false)]);
  terminal.say(
    ended
      ? 'Stopped. All state is saved; start again to continue.'
      : 'Stopped before all work was finished; acknowledged work is saved, and the next start recovers the rest.',
  );
  return ended;
}

const drainMsMax = 10_000;

/** Says what goes on; a person at the terminal can end it. */
async function turnsLeft(
  served: Instance,
  layout: Layout,
  terminal: Terminal,
  { isFromTerminal }: Stop,
): Promise<void> {
  const turns = served.turnsLeft();
  if (turns === 0) return;
  terminal.say(turnsGoOn(turns, 15, layout, terminal.env));
  if (!isFromTerminal()) return;
  const again = new Promise<'again'>((resolve) => process.once('SIGINT', () => resolve('again')));
  terminal.say(`Ctrl-C again within ${againMs / 1000} s ends them now.`);
  if ((await Promise.race([again, wait(againMs, 'left')])) === 'again') await endTurns(layout, terminal);
}

const againMs = 10_000;

/**
 * Tells systemd that the gateway answers, and from then on that its event loop turns: it is restarted when
 * that stops. Does nothing where it was not started by a unit of `Type=notify`. Node cannot write to the
 * manager's datagram socket, systemd's own `systemd-notify` can.
 *
 * @returns what ends it: the manager is told that the gateway stops.
 */
export function notifyManager(env: Terminal['env']): () => void {
  if (env['NOTIFY_SOCKET'] === undefined) return () => undefined;
  const notify = (...words: readonly string[]): void =>
    void outputOf('systemd-notify', words, { timeoutMs: 10_000 }).catch(() => undefined); // no one waits for it
  notify('--ready');
  const patienceMs = Number(env['WATCHDOG_USEC'] ?? 0) / 1000;
  const timer =
    patienceMs > 0 ? setInterval(() => notify('WATCHDOG=1'), Math.max(1000, patienceMs / 3)) : undefined;
  return () => {
    clearInterval(timer);
    notify('STOPPING=1');
  };
}
