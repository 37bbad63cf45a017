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
      const served = await serve({
        layout,
        ...(options.port === undefined ? {} : { port: options.port }),
        ...(options.host === undefined ? {} : { host: options.host }),
        onProgress: progressTeller(terminal),
      });
      welcome(served, layout, terminal);
      const stopping = notifyManager(terminal.env);
      await untilStopped(served, terminal, stopping);
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

/** Resolves when the gateway is drained, at most ten seconds after the signal. */
async function untilStopped(served: Instance, terminal: Terminal, stopping: () => void): Promise<void> {
  // npm passes a Ctrl-C on that the terminal has already sent: a second signal is no second wish.
  await new Promise<void>((resolve) => {
    let signals = 0;
    const onSignal = (): void => {
      signals += 1;
      if (signals === 1) terminal.say('Stopping: finishing current work (at most 10 s) …');
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
  stopping();
  const ended = await Promise.race([served.close().then(() => true), wait(drainMsMax, false)]);
  terminal.say(
    ended
      ? 'Stopped. All state is saved; start again to continue.'
      : 'Stopped before all work was finished; acknowledged work is saved, and the next start recovers the rest.',
  );
}

const drainMsMax = 10_000;
