import type { Command } from 'commander';
import type { Served } from '../serve.js';
import { setTimeout as wait } from 'node:timers/promises';
import { progressTeller } from './progress.js';
import { homeOf, wholeNumber, withHome, type HomeOptions, type Terminal } from './command-line.js';

interface StartOptions extends HomeOptions { readonly port?: number; readonly host?: string }

/** `troupe start`: the gateway in the foreground, until SIGTERM or Ctrl-C. */
export function startCommand(program: Command, terminal: Terminal): void {
  withHome(program.command('start').description('run the gateway in the foreground'))
    .option('--port <number>', 'TCP port; 0 takes any free one (default: gateway.port of config.yaml, 7420)', wholeNumber(0, 65_535))
    .option('--host <address>', 'address to bind to (default: gateway.host of config.yaml, 127.0.0.1)')
    .action(async (options: StartOptions) => {
      const { serve } = await import('../serve.js'); // loaded here alone, so that list, show and run answer at once
      const layout = homeOf(options, terminal);
      const served = await serve({
        layout,
        ...(options.port === undefined ? {} : { port: options.port }),
        ...(options.host === undefined ? {} : { host: options.host }),
        onProgress: progressTeller(terminal),
      });
      welcome(served, options, terminal);
      await untilStopped(served, terminal);
    });
}

function welcome(served: Served, options: StartOptions, terminal: Terminal): void {
  const where = options.home !== undefined ? ` --home ${shown(options.home)}` : options.instance !== undefined ? ` --instance ${options.instance}` : '';
  terminal.say(`Troupe runs at ${served.url}`);
  terminal.say(`  home    ${served.home}`);
  terminal.say(`  engines ${served.engines.map((engine) => (engine.available ? engine.name : `${engine.name} (not found)`)).join(', ')}; default ${served.defaultEngine}`);
  terminal.say('  try     in another terminal:');
  terminal.say(`          npx troupe run${where} "add water the plants"`);
  terminal.say(`          npx troupe list${where}`);
  terminal.say(`  browse  npx troupe open${where}, or npx troupe pair${where} for another machine`);
  terminal.say('  stop    Ctrl-C; work in progress is kept');
}

/** Resolves when the gateway is drained, at most ten seconds after the signal. */
async function untilStopped(served: Served, terminal: Terminal): Promise<void> {
  // npm passes a Ctrl-C on that the terminal has already sent: a second signal is no second wish.
  await new Promise<void>((resolve) => {
    let signals = 0;
    const onSignal = (): void => {
      signals += 1;
      if (signals === 1) terminal.say('Stopping: finishing what is under way (at most 10 s) …');
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
  const ended = await Promise.race([served.close().then(() => true), wait(drainMsMax, false)]);
  terminal.say(ended ? 'Stopped. Everything is kept; start again to go on.' : 'Stopped without waiting for what took longer; everything acknowledged is kept, and the next start tidies up.');
}

const drainMsMax = 10_000;

const shown = (path: string): string => (/^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
