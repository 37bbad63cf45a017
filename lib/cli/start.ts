import type { Command } from 'commander';
import type { Instance } from '../instance.js';
import type { Layout } from '../home/layout.js';
import { setTimeout as wait } from 'node:timers/promises';
import { progressTeller } from './progress.js';
import { notifyManager } from './service/notify.js';
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
    .action(async (options: StartOptions) => {
      // Loaded here alone, so that list, show and run answer at once
      const { startInstance: serve } = await import('../instance.js');
      const layout = homeOf(options, terminal);
      // From now on: it is announced, and can be stopped, a moment before all of it has started
      const stop = stopSignal(terminal);
      const served = await Promise.race([
        serve({
          layout,
          ...(options.port === undefined ? {} : { port: options.port }),
          ...(options.host === undefined ? {} : { host: options.host }),
          onProgress: progressTeller(terminal),
        }),
        stop.then(() => wait(drainMsMax, undefined)),
      ]);
      if (served === undefined)
        return terminal.say('Stopped before it had started; start again to continue.');
      welcome(served, layout, terminal);
      const stopping = notifyManager(terminal.env);
      await stop;
      stopping();
      await drain(served, terminal);
    });
}

function welcome(served: Instance, layout: Layout, terminal: Terminal): void {
  const env = { npm_command: terminal.env['npm_command'] }; // another terminal may know nothing of SVC_HOME
  terminal.say(`Troupe runs at ${served.url}`);
  terminal.say(`  home    ${served.home}`);
  terminal.say(`  engines ${engineLine(served.engines, served.defaultEngine)}`);
  terminal.say('  try     in another terminal:');
  terminal.say(`          ${hint(layout, 'run', '"add water the plants"', env)}`);
  terminal.say(`          ${hint(layout, 'list', '', env)}`);
  terminal.say(
    `  browse  ${hint(layout, 'open', '', env)}, or ${hint(layout, 'pair', '', env)} for another machine`,
  );
  terminal.say('  stop    Ctrl-C; work in progress is kept');
}

/** Resolves at the first SIGINT or SIGTERM. */
function stopSignal(terminal: Terminal): Promise<void> {
  // npm passes a Ctrl-C on that the terminal has already sent: a second signal is no second wish.
  return new Promise<void>((resolve) => {
    let signals = 0;
    const onSignal = (): void => {
      signals += 1;
      if (signals === 1) terminal.say('Stopping: finishing current work (at most 10 s) …');
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}

/** Resolves when the gateway is drained, at most ten seconds after the signal. */
async function drain(served: Instance, terminal: Terminal): Promise<void> {
  const ended = await Promise.race([served.close().then(() => true), wait(drainMsMax, false)]);
  terminal.say(
    ended
      ? 'Stopped. All state is saved; start again to continue.'
      : 'Stopped before all work was finished; acknowledged work is saved, and the next start recovers the rest.',
  );
}

const drainMsMax = 10_000;
