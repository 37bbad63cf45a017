import type { Command } from 'commander';
import { resolve } from 'node:path';
import { PermissionQuestions } from './ask-permission.js';
import { connect, type Client } from './client.js';
import { hint, homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import type { Layout } from '../home/layout.js';
import { follow, type TurnEnd } from './follow.js';
import { plainText } from './print.js';

interface RunOptions extends HomeOptions {
  readonly in?: string;
  readonly engine?: string;
  readonly employee?: string;
  readonly model?: string;
  readonly effort?: string;
  readonly cwd?: string;
  readonly ownFolder?: boolean;
  readonly worktree?: boolean;
  readonly detach?: boolean;
  readonly json?: boolean;
}

/** `troupe run "digest"`: give an agent a task and watch it work. Ctrl-C leaves the session running. */
export function runCommand(program: Command, terminal: Terminal): void {
  withHome(program.command('run').description('open a session with an agent and stream its answer'))
    .argument('<prompt>', 'prompt for the agent; - reads it from standard input')
    .option('--in <session>', 'continue an existing session instead of opening one')
    .option('--engine <name>', 'engine to use (default: engines.default of config.yaml)')
    .option('--employee <name>', 'employee who owns the session')
    .option('--model <id>', 'model of that engine')
    .option('--effort <level>', 'effort level of that model')
    .option('--cwd <folder>', 'working folder (default: the folder you are in)')
    .option('--own-folder', "work in an empty folder of the session's own")
    .option('--worktree', 'work in a git worktree of its own, of the repository in that folder')
    .option('--detach', 'print the id of the session and do not wait')
    .option('--json', 'print the session as JSON when it is done')
    .action(async (prompt: string, options: RunOptions) => {
      const layout = homeOf(options, terminal);
      const client = await connect(layout);
      const text = prompt === '-' ? await standardInput() : prompt;
      const quiet = options.json === true;
      if (options.detach === true) {
        const { id } = await post(client, text, options, layout);
        terminal.out(quiet ? JSON.stringify({ sessionId: id }) : id);
        return;
      }
      // A prompt from standard input has used up the terminal's place there.
      const isInteractive = process.stdin.isTTY && process.stderr.isTTY && prompt !== '-' && !quiet;
      const questions = new PermissionQuestions(client, layout, terminal, isInteractive);
      const following = await follow(
        client,
        (piece) => {
          if (!quiet) terminal.write(piece);
        },
        (remark) => {
          if (!quiet) terminal.say(remark);
        },
        (payload) => questions.take(payload),
      );
      const interrupted = once('SIGINT');
      try {
        const { id: sessionId, status } = await post(client, text, options, layout);
        // An engine that is not there fails the session before anything could start.
        const end =
          status === 'error'
            ? stillborn
            : await Promise.race([following.until(sessionId), interrupted.happened]);
        if (end === undefined) {
          throw new CommandError(
            exitCodes.interrupted,
            `The session continues. Read it with: ${hint(layout, 'show', sessionId)}`,
          );
        }
        await conclude(client, sessionId, end, options, terminal, layout);
        if (questions.expired > 0)
          throw new CommandError(
            exitCodes.turnFailed,
            `Nobody answered ${questions.expired === 1 ? 'a tool request' : `${questions.expired} tool requests`} in time; the agent went on without. Show what waits with: ${hint(layout, 'waiting')}`,
          );
      } finally {
        interrupted.forget();
        following.close();
      }
    });
}

const stillborn: TurnEnd = { why: 'over', reason: 'error', shown: 'nothing' };

async function post(
  client: Client,
  prompt: string,
  options: RunOptions,
  layout: Layout,
): Promise<{ readonly id: string; readonly status: string }> {
  if (options.in !== undefined) {
    await client.post(`/api/sessions/${encodeURIComponent(options.in)}/message`, { message: prompt });
    return { id: options.in, status: 'queued' };
  }
  const { engine, employee, model, effort, worktree } = options;
  const cwd = workplaceOf(options, layout);
  const input = Object.fromEntries(
    Object.entries({ prompt, engine, employee, model, effort, cwd, worktree }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  return (await client.post('/api/sessions', input)) as { id: string; status: string };
}

/**
 * Where the agent works: where the person stands. An employee brings a folder of its own, and the home is no
 * place for agents.
 */
function workplaceOf({ cwd, ownFolder, employee }: RunOptions, layout: Layout): string | undefined {
  if (cwd !== undefined) return resolve(cwd);
  const here = process.cwd();
  const isHome = here === layout.home || here.startsWith(`${layout.home}/`);
  return ownFolder === true || employee !== undefined || isHome ? undefined : here;
}

interface Session {
  readonly status: string;
  readonly lastError: string | null;
  readonly messages?: readonly { readonly role: string; readonly content: string }[];
}

/** What was not streamed is printed from the stored conversation, which is the truth. */
async function conclude(
  client: Client,
  sessionId: string,
  end: TurnEnd,
  options: RunOptions,
  terminal: Terminal,
  layout: Layout,
): Promise<void> {
  if (end.why === 'lost') {
    throw new CommandError(
      exitCodes.notRunning,
      `Lost the gateway (${end.reason}). The session is kept: start the gateway again, then: ${hint(layout, 'show', sessionId)}`,
    );
  }
  const session = (await client.get(`/api/sessions/${encodeURIComponent(sessionId)}?last=1`)) as Session;
  if (options.json === true) terminal.out(JSON.stringify(session));
  else if (end.shown === 'an open line') terminal.out('');
  else if (end.shown === 'nothing' && end !== stillborn)
    terminal.out(plainText(session.messages?.at(-1)?.content ?? '', { keepLines: true }));
  if (session.status === 'idle' || session.status === 'running') {
    if (options.json !== true)
      terminal.say(`(session ${sessionId}; continue with: ${hint(layout, 'run', `--in ${sessionId} "…"`)})`);
    return;
  }
  throw new CommandError(
    exitCodes.turnFailed,
    `${endings[session.status] ?? `The session is ${session.status}`}${session.lastError === null ? '.' : `: ${session.lastError}`}\nRead it with: ${hint(layout, 'show', sessionId)}`,
  );
}

const endings: Readonly<Record<string, string>> = {
  error: 'The turn failed',
  interrupted: 'The turn was interrupted',
  stopped: 'The session was stopped',
  waiting: "The turn is waiting for the provider's rate limit",
};

async function standardInput(): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of process.stdin) {
    size += (piece as Buffer).length;
    if (size > promptBytesMax)
      throw new CommandError(
        exitCodes.usage,
        `The prompt on standard input is longer than ${promptBytesMax} bytes.`,
      );
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces).toString('utf8');
}

const promptBytesMax = 2 ** 20;

function once(signal: NodeJS.Signals): { readonly happened: Promise<undefined>; forget(): void } {
  let onSignal = (): void => undefined;
  const happened = new Promise<undefined>((resolve) => {
    onSignal = () => resolve(undefined);
  });
  process.once(signal, onSignal);
  return { happened, forget: () => void process.removeListener(signal, onSignal) };
}
