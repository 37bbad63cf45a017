import type { Command } from 'commander';
import { nearest } from '../../machines/text.js';
import { allGuides, readGuide, topics } from '../docs/guides.js';
import type { Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';

/** `troupe help [topic]`: a command's usage, a guide, or the list of both. */
export function helpCommand(program: Command, terminal: Terminal): void {
  program
    .command('help')
    .description('show a guide, or the usage of a command; without a topic the list of both')
    .argument('[topic...]', 'a guide such as effects, or a command such as run')
    .action(async (words: readonly string[]) => {
      if (words.length === 0) return program.outputHelp();
      const command = commandNamed(program, words);
      if (command !== undefined) return terminal.out(command.helpInformation().trimEnd());
      const guide = readGuide(words.join('-'));
      if (guide === undefined) throw unknownTopic(program, words.join(' '));
      // The library that reads Markdown is loaded for a guide alone.
      const { textOfGuide } = await import('../docs/terminal.js');
      terminal.out(await textOfGuide(guide));
    });
}

/** Every guide with what it is for, for the end of `troupe help` and `troupe --help`. */
export function listOfTopics(): string {
  const width = Math.max(...topics.map((name) => name.length));
  const lines = allGuides().map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`);
  return `Guides (troupe help <topic>):\n${lines.join('\n')}`;
}

/** `config check` and its like are commands of a command. */
function commandNamed(program: Command, words: readonly string[]): Command | undefined {
  let found: Command | undefined = program;
  for (const word of words) found = found?.commands.find((command) => command.name() === word);
  return found;
}

function unknownTopic(program: Command, typed: string): CommandError {
  const close = nearest(typed, [...topics, ...program.commands.map((command) => command.name())]);
  return new CommandError(
    exitCodes.usage,
    `No guide or command "${typed}".${close === undefined ? '' : ` Did you mean ${close}?`} "troupe help" lists them.`,
  );
}
