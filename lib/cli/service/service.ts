import { Argument, type Command } from 'commander';
import { once } from 'node:events';
import { mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { outputOf, startProgram, type ProgramError } from '../../../actors/start-program.js';
import { hint, homeOf, withHome, type HomeOptions, type Terminal } from '../command-line.js';
import { CommandError, exitCodes } from '../failure.js';
import type { Service, ServiceManager } from './contract.js';
import { gatewayService, isInstalled, managerOf } from './manager.js';

type Action = 'install' | 'status' | 'logs' | 'uninstall';

interface ServiceOptions extends HomeOptions {
  readonly print?: boolean;
  readonly follow?: boolean;
}

/** `troupe service install|status|logs|uninstall`: the gateway of this home runs at login and after a crash. */
export function serviceCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('service')
      .description('run the gateway of this home at login and restart it after a crash (systemd, launchd)'),
  )
    .addArgument(new Argument('<action>', 'what to do').choices(['install', 'status', 'logs', 'uninstall']))
    .option('--print', 'install: print the definition and change nothing')
    .option('-f, --follow', 'logs: go on until Ctrl-C')
    .action(async (action: Action, options: ServiceOptions) => {
      const layout = homeOf(options, terminal);
      const manager = managerOf();
      if (manager === undefined)
        throw new CommandError(
          exitCodes.failed,
          'There is no systemd or launchd on this system. Have its own supervisor run: troupe start',
        );
      const service = gatewayService(layout, terminal.env);
      if (action === 'install') return install(manager, service, options.print === true, terminal);
      if (!(await isInstalled(manager, service)))
        throw new CommandError(
          exitCodes.failed,
          `No service is installed for this home. Install it: ${hint(layout, 'service install')}`,
        );
      if (action === 'uninstall') return uninstall(manager, service, terminal);
      const [program = '', ...words] =
        action === 'status' ? manager.status(service) : manager.logs(service, options.follow === true);
      process.exitCode = await shown(program, words);
    });
}

async function install(
  manager: ServiceManager,
  service: Service,
  printOnly: boolean,
  terminal: Terminal,
): Promise<void> {
  if (printOnly) return terminal.write(manager.definition(service));
  // npx keeps what it fetched in a cache that may be emptied any day; a service must not rest on it.
  if (service.command.some((word) => word.includes('/_npx/')))
    throw new CommandError(
      exitCodes.failed,
      'This copy was fetched by npx for one call. Install the package first: npm install --global',
    );
  const file = manager.file(service);
  await mkdir(dirname(file), { recursive: true });
  if (manager.called === 'launchd') await mkdir(service.layout.home, { recursive: true, mode: 0o700 });
  const isFirst = !(await isInstalled(manager, service));
  await writeFile(file, manager.definition(service), { mode: 0o644 });
  try {
    for (const command of manager.install(service)) await run(command, file);
  } catch (error) {
    if (!isOutOfReach(manager, error)) throw error;
    if (isFirst) await removeFiles(manager, service);
    throw new CommandError(exitCodes.failed, manager.outOfReach?.remedy ?? '', { cause: error });
  }
  terminal.say(`Wrote ${file}`);
  terminal.out(`The gateway of ${service.layout.home} runs as ${service.name} and starts at login.`);
  if (manager.afterwards !== undefined) terminal.say(manager.afterwards);
}

async function uninstall(manager: ServiceManager, service: Service, terminal: Terminal): Promise<void> {
  const file = manager.file(service);
  for (const command of manager.uninstall(service))
    await run(command, file).catch((error: unknown) => {
      // without its definition nothing starts again; it may be that there never was a manager to know it
      if (!isOutOfReach(manager, error)) throw error;
      terminal.say(
        `${manager.called} cannot be reached: a gateway that runs goes on. Stop it: ${hint(service.layout, 'stop')}`,
      );
    });
  await removeFiles(manager, service);
  terminal.out(`Removed ${file}. The home ${service.layout.home} and everything in it stays.`);
}

async function removeFiles(manager: ServiceManager, service: Service): Promise<void> {
  for (const path of [manager.link?.(service), manager.file(service)])
    if (path !== undefined) {
      await rm(path, { force: true });
      await removeIfEmpty(dirname(path), 2);
    }
}

/** What may have been made for a definition, and holds nothing else. */
async function removeIfEmpty(folder: string, levels: number): Promise<void> {
  const isGone = await rmdir(folder).then(
    () => true,
    () => false, // there is something in it, or it is not ours
  );
  if (isGone && levels > 1) await removeIfEmpty(dirname(folder), levels - 1);
}

const isOutOfReach = ({ outOfReach }: ServiceManager, error: unknown): boolean =>
  error instanceof CommandError && outOfReach?.words.test(error.message) === true;

/** A command of the manager; what it says is passed on when it fails. */
async function run([program = '', ...words]: readonly string[], file: string): Promise<void> {
  await outputOf(program, words, { timeoutMs: 120_000 }).catch((error: ProgramError) => {
    throw new CommandError(
      exitCodes.failed,
      `"${[program, ...words].join(' ')}" failed: ${error.stderr || error.message}\nThe definition is in ${file}.`,
    );
  });
}

/** A command whose output is the answer; resolves with its exit code. */
async function shown(program: string, words: readonly string[]): Promise<number> {
  const child = startProgram(program, words, { stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? exitCodes.failed;
}
