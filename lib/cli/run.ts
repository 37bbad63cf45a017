import { Option, type Command } from 'commander';
import { resolve } from 'node:path';
import type { PermissionMode } from '../../machines/session/tool-policy.js';
import { permissionModes } from './permissions.js';
import { PermissionQuestions } from './ask-permission.js';
import { isRefusal, type RunSettings } from '../client/index.js';
import { branchHint } from './changes.js';
import { connect, given, reached, refused, type Client, sessionNamed, wordOf } from './client.js';
import { hint, homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import type { Layout } from '../home/layout.js';
import { mayInterrupt } from './interrupt.js';
import { plainText } from './print.js';
import { showTurn, type Shown } from './show-turn.js';
import { askTrust } from './trust.js';

interface RunOptions extends HomeOptions {
  readonly in?: string;
  readonly engine?: string;
  readonly employee?: string;
  readonly model?: string;
  readonly effort?: string;
  readonly cwd?: string;
  readonly ownFolder?: boolean;
  readonly worktree?: boolean;
  readonly worker?: string;
  readonly labels?: string[];
  readonly permissions?: PermissionMode;
  readonly detach?: boolean;
  readonly json?: boolean;
}

/** `troupe run "digest"`: give an agent a task and watch it work. Ctrl-C leaves the session running. */
export function runCommand(program: Command, terminal: Terminal): void {
  withHome(program.command('run').description('open a session with an agent and stream its answer'))
    .argument('<prompt>', 'prompt for the agent; - reads it from standard input')
    .option('--in <session>', 'continue a session (its id, or the beginning of it) instead of opening one')
    .option('--engine <name>', 'engine to use (default: engines.default of config.yaml)')
    .option('--employee <name>', 'employee who owns the session')
    .option('--model <id>', 'model of that engine')
    .option('--effort <level>', 'effort level of that model')
    .option('--cwd <folder>', 'working folder (default: the folder you are in)')
    .option('--own-folder', "work in an empty folder of the session's own")
    .option('--worktree', 'work in a git worktree of its own, of the repository in that folder')
    .option('--worker <name>', 'run on this worker of another machine; --cwd names a folder there')
    .option('--labels <labels>', 'run on a worker that has all of these labels, by commas', (text) =>
      text.split(','),
    )
    .addOption(
      new Option(
        '--permissions <mode>',
        'what its agent may do without a permission request: nothing, change files in its folder, everything',
      ).choices(permissionModes),
    )
    .option('--detach', 'print the id of the session and do not wait')
    .option('--json', 'print the session as JSON when it is done')
    .action(async (prompt: string, options: RunOptions) => {
      const layout = homeOf(options, terminal);
      const client = await connect(layout);
      const text = prompt === '-' ? await standardInput() : prompt;
      const quiet = options.json === true;
      const { gateway, announcement } = client;
      // A prompt from standard input has used up the terminal's place there.
      const isInteractive = process.stdin.isTTY && process.stderr.isTTY && prompt !== '-' && !quiet;
      if (options.in !== undefined && options.permissions !== undefined)
        throw new CommandError(
          exitCodes.usage,
          `--permissions is for a new session. Of this one: ${hint(layout, 'permissions', options.in)}`,
        );
      const session = options.in === undefined ? undefined : await sessionNamed(client, options.in);
      if (session !== undefined && !(await mayInterrupt(client, session, { terminal, isInteractive })))
        return terminal.say('Nothing was sent.');
      const settings = settingsOf(options, session, layout);
      if (settings.cwd !== undefined && !isElsewhere(options))
        await askTrust(client, settings.cwd, { layout, terminal, isInteractive });
      const started = await reached(announcement.url, gateway.sessions.run(text, settings));
      if (isRefusal(started)) throw refused(started);
      const { sessionId } = started;
      if (options.detach === true) {
        started.close();
        terminal.out(quiet ? JSON.stringify({ sessionId }) : sessionId);
        return;
      }
      const questions = new PermissionQuestions(client, layout, terminal, isInteractive);
      const interrupted = once('SIGINT');
      const placed = quiet
        ? undefined
        : setTimeout(() => void sayIfQueued(client, sessionId, terminal), patienceMs);
      try {
        const shown = await Promise.race([
          showTurn(started, { terminal, layout, questions, quiet }).catch((cause: unknown) => {
            throw new CommandError(
              exitCodes.notRunning,
              'Lost the gateway. The session is kept: start the gateway again, then: ' +
                `${hint(layout, 'show', sessionId)}`,
              { cause },
            );
          }),
          interrupted.happened,
        ]);
        if (shown === undefined) {
          throw new CommandError(
            exitCodes.interrupted,
            `The session continues. Read it with: ${hint(layout, 'show', sessionId)}`,
          );
        }
        await conclude(client, sessionId, shown, options, terminal, layout);
        if (questions.expired > 0)
          throw new CommandError(
            exitCodes.turnFailed,
            `No one answered ${questions.expired === 1 ? 'a tool request' : `${questions.expired} tool requests`} ` +
              `in time; the agent went on without. Show what waits with: ${hint(layout, 'waiting')}`,
          );
      } finally {
        clearTimeout(placed);
        interrupted.forget();
        started.close();
      }
    });
}

/** Where all places are taken nothing comes, and no one could tell that from an agent that thinks. */
async function sayIfQueued(client: Client, id: string, terminal: Terminal): Promise<void> {
  const params = { path: { id }, query: { messages: '0' } } as const;
  const session = await client.get('/api/sessions/{id}', { params }).catch(() => undefined);
  if (session !== undefined && wordOf(session) === 'queued')
    terminal.say(
      '(queued: as many agents work as engines.maxProcesses allows; it begins when one is through)',
    );
}

const patienceMs = 1_000;

function settingsOf(options: RunOptions, session: string | undefined, layout: Layout): RunSettings {
  const { engine, employee, model, effort, worktree, permissions, worker, labels } = options;
  const cwd = session === undefined ? workingFolderOf(options, layout) : undefined;
  return given({
    giveUpAfterMs: 5_000,
    session,
    engine,
    employee,
    model,
    effort,
    cwd,
    worktree,
    permissions,
    worker,
    labels,
  });
}

const isElsewhere = ({ worker, labels }: RunOptions): boolean => worker !== undefined || labels !== undefined;

/**
 * Where the agent works: where the person stands. An employee brings a folder of its own, and the home is no
 * place for agents.
 */
function workingFolderOf(options: RunOptions, layout: Layout): string | undefined {
  const { cwd, ownFolder, employee } = options;
  if (isElsewhere(options)) return cwd; // as it is called there
  if (cwd !== undefined) return resolve(cwd);
  const here = process.cwd();
  const isHome = here === layout.home || here.startsWith(`${layout.home}/`);
  return ownFolder === true || employee !== undefined || isHome ? undefined : here;
}

/** What was not streamed is printed from the stored conversation, which is the truth. */
async function conclude(
  client: Client,
  sessionId: string,
  shown: Shown,
  options: RunOptions,
  terminal: Terminal,
  layout: Layout,
): Promise<void> {
  const session = await client.get('/api/sessions/{id}', {
    params: { path: { id: sessionId }, query: { last: '1' } },
  });
  if (options.json === true) terminal.out(JSON.stringify(session));
  else if (shown === 'an open line') terminal.out('');
  else if (shown === 'nothing' && session.status !== 'error')
    terminal.out(plainText(session.messages?.at(-1)?.content ?? '', { keepLines: true }));
  if (session.status === 'idle' || session.status === 'running') {
    if (options.json !== true && session.branch != null)
      terminal.say(
        `(its work is on ${session.branch}; ${branchHint(layout, { id: sessionId, branch: session.branch })})`,
      );
    if (options.json !== true)
      terminal.say(`(session ${sessionId}; continue with: ${hint(layout, 'run', `--in ${sessionId} "…"`)})`);
    return;
  }
  throw new CommandError(
    exitCodes.turnFailed,
    `${endings[session.status] ?? `The session is ${session.status}`}` +
      `${session.lastError === null ? '.' : `: ${session.lastError}`}\nRead it with: ` +
      `${hint(layout, 'show', sessionId)}`,
  );
}

const endings: Readonly<Record<string, string>> = {
  error: 'The turn failed',
  interrupted: 'The turn was interrupted',
  stopped: 'The session was stopped',
  waiting: 'The turn is held',
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
