import { Command, CommanderError } from 'commander';
import { version } from '../version.js';
import type { Terminal } from './command-line.js';
import { exitCodes, explain } from './failure.js';
import { plainText, visible } from './print.js';

/**
 * The `troupe` command. Every command is a file of its own; this one lists them and turns what they throw into a
 * line and an exit code. Only what is typed is loaded: most commands just ask a gateway something, and are there at
 * once.
 */
type Add = (program: Command, terminal: Terminal) => void;
const commands: readonly (readonly [name: RegExp, load: () => Promise<Add>])[] = [
  [/^start$/, async () => (await import('./start.js')).startCommand],
  [/^run$/, async () => (await import('./run.js')).runCommand],
  [/^list$/, async () => (await import('./list.js')).listCommand],
  [/^show$/, async () => (await import('./show.js')).showCommand],
  [/^attach$/, async () => (await import('./attach.js')).attachCommand],
  [/^changes$/, async () => (await import('./changes.js')).changesCommand],
  [/^merge$/, async () => (await import('./changes.js')).mergeCommand],
  [/^items$/, async () => (await import('./items.js')).itemsCommand],
  [/^workflow$/, async () => (await import('./workflow.js')).workflowCommand],
  [/^cron$/, async () => (await import('./cron.js')).cronCommand],
  [/^cost$/, async () => (await import('./cost.js')).costCommand],
  [/^quotas$/, async () => (await import('./quotas.js')).quotasCommand],
  [/^waiting$/, async () => (await import('./waiting.js')).waitingCommand],
  [/^(?:allow|deny|approve|reject|resend)$/, async () => (await import('./waiting.js')).decideCommands],
  [/^permissions$/, async () => (await import('./permissions.js')).permissionsCommand],
  [/^resume$/, async () => (await import('./resume.js')).resumeCommand],
  [/^session$/, async () => (await import('./session.js')).sessionCommand],
  [/^status$/, async () => (await import('./status.js')).statusCommand],
  [/^stop$/, async () => (await import('./stop.js')).stopCommand],
  [/^token$/, async () => (await import('./token.js')).tokenCommand],
  [/^pair$/, async () => (await import('./pair.js')).pairCommand],
  [/^open$/, async () => (await import('./open.js')).openCommand],
  [/^top$/, async () => (await import('./top.js')).topCommand],
  [/^tail$/, async () => (await import('./tail.js')).tailCommand],
  [/^inspect$/, async () => (await import('./inspect.js')).inspectCommand],
  [/^replay$/, async () => (await import('./replay.js')).replayCommand],
  [/^migrate$/, async () => (await import('./migrate.js')).migrateCommand],
  [/^verify$/, async () => (await import('./verify.js')).verifyCommand],
  [/^audit$/, async () => (await import('./audit.js')).auditCommand],
  [/^config$/, async () => (await import('./config.js')).configCommand],
  [/^backup$/, async () => (await import('./backup.js')).backupCommand],
  [/^restore$/, async () => (await import('./restore.js')).restoreCommand],
  [/^template$/, async () => (await import('./template.js')).templateCommand],
  [/^(?:export|import)$/, async () => (await import('./bundle.js')).bundleCommands],
  [/^a2a$/, async () => (await import('./a2a.js')).a2aCommand],
  [/^node$/, async () => (await import('./node.js')).nodeCommand],
  [/^worker$/, async () => (await import('./worker.js')).workerCommand],
  [/^workers$/, async () => (await import('./workers.js')).workersCommand],
  [/^home$/, async () => (await import('./home.js')).homeCommand],
  [/^trust$/, async () => (await import('./trust.js')).trustCommand],
  [/^retention$/, async () => (await import('./retention.js')).retentionCommand],
  [/^erase$/, async () => (await import('./erase.js')).eraseCommand],
  [/^doctor$/, async () => (await import('./doctor.js')).doctorCommand],
  [/^service$/, async () => (await import('./service/service.js')).serviceCommand],
  [/^uninstall$/, async () => (await import('./uninstall.js')).uninstallCommand],
  [/^help$/, async () => (await import('./help.js')).helpCommand],
];

const terminal: Terminal = {
  out: (text) => void process.stdout.write(`${visible(text)}\n`),
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
  let topics = '';
  const program = new Command('troupe')
    .description('a supervisor runtime for agent work: sessions, todos and connectors as durable actors')
    .version(version, '--version', 'print the version')
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .addHelpText(
      'after',
      () =>
        `\n${topics}\n\nExit codes: ${Object.entries(exitCodes)
          .map(([name, code]) => `${code} ${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`)
          .join(', ')}.\nSecrets are in gateway.json of the home; no command prints them.`,
    )
    .exitOverride();
  const typed = commands.filter(([name]) => name.test(argv[2] ?? ''));
  // Else all of them are listed, or likened to what was typed
  const isAlone = (typed.length > 0 && argv[2] !== 'help') || argv[2] === '--version';
  for (const [, load] of isAlone ? typed : commands) (await load())(program, terminal);
  if (!isAlone) topics = (await import('./help.js')).listOfTopics();
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
