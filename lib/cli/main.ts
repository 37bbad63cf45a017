import { Command, CommanderError } from 'commander';
import { version } from '../version.js';
import { auditCommand } from './audit.js';
import { backupCommand } from './backup.js';
import type { Terminal } from './command-line.js';
import { configCommand } from './config.js';
import { doctorCommand } from './doctor.js';
import { exitCodes, explain } from './failure.js';
import { helpCommand, listOfTopics } from './help.js';
import { inspectCommand } from './inspect.js';
import { listCommand } from './list.js';
import { openCommand } from './open.js';
import { pairCommand } from './pair.js';
import { plainText } from './print.js';
import { replayCommand } from './replay.js';
import { restoreCommand } from './restore.js';
import { retentionCommand } from './retention.js';
import { runCommand } from './run.js';
import { serviceCommand } from './service/service.js';
import { showCommand } from './show.js';
import { startCommand } from './start.js';
import { statusCommand } from './status.js';
import { stopCommand } from './stop.js';
import { tailCommand } from './tail.js';
import { attachCommand } from './attach.js';
import { costCommand } from './cost.js';
import { cronCommand } from './cron.js';
import { itemsCommand } from './items.js';
import { workflowCommand } from './workflow.js';
import { topCommand } from './top.js';
import { uninstallCommand } from './uninstall.js';
import { decideCommands, waitingCommand } from './waiting.js';
import { verifyCommand } from './verify.js';

/**
 * The `troupe` command. Every command is a file of its own; this one lists them and turns what they throw
 * into a line and an exit code.
 */
const commands = [
  startCommand,
  runCommand,
  listCommand,
  showCommand,
  attachCommand,
  itemsCommand,
  workflowCommand,
  cronCommand,
  costCommand,
  waitingCommand,
  decideCommands,
  statusCommand,
  stopCommand,
  pairCommand,
  openCommand,
  topCommand,
  tailCommand,
  inspectCommand,
  replayCommand,
  verifyCommand,
  auditCommand,
  configCommand,
  backupCommand,
  restoreCommand,
  retentionCommand,
  doctorCommand,
  serviceCommand,
  uninstallCommand,
  helpCommand,
];

const terminal: Terminal = {
  out: (text) => void process.stdout.write(`${text}\n`),
  write: (text) => void process.stdout.write(text),
  say: (text) => void process.stderr.write(`${text}\n`),
  env: process.env,
};

// `troupe list | head` closes our output early; that is no fault of anybody.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? exitCodes.done : exitCodes.failed),
);

// Waits within a command may rest on timers that keep no process alive; without this Node would leave in the
// middle of one (exit code 13).
setInterval(() => undefined, 2 ** 30);

// Commands that are done may leave keep-alive connections behind: leave by the exit code, not by waiting for
// them.
process.exitCode = await execute(process.argv);
await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
process.exit();

async function execute(argv: readonly string[]): Promise<number> {
  const program = new Command('troupe')
    .description('a supervisor runtime for agent work: sessions, todos and connectors as durable actors')
    .version(version, '--version', 'print the version')
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .addHelpText(
      'after',
      () =>
        `\n${listOfTopics()}\n\nExit codes: ${Object.entries(exitCodes)
          .map(([name, code]) => `${code} ${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`)
          .join(', ')}.\nSecrets are in gateway.json of the home; no command prints them.`,
    )
    .exitOverride();
  for (const add of commands) add(program, terminal);
  for (const command of program.commands) command.exitOverride();
  try {
    await program.parseAsync(argv);
    return Number(process.exitCode ?? exitCodes.done);
  } catch (error) {
    // commander has said what is wrong with the command line; its code is 0 for --help and --version
    if (
      error instanceof CommanderError &&
      error.code === 'commander.unknownOption' &&
      /^--(?:home|instance)\b/.test(argv[2] ?? '')
    )
      terminal.say('Put options after the command: troupe list --home <folder>');
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    const { line, exitCode } = explain(error);
    terminal.say(plainText(line, { keepLines: true })); // it may quote what an agent wrote
    return exitCode;
  }
}
