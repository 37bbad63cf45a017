import { mkdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { sandboxLevels, type SandboxLevel } from '../../actors/sandbox/levels.js';
import { isWorkerLabel, isWorkerName, workerLimits } from '../../machines/worker/machine.js';
import { layoutOf } from '../home/layout.js';
import { keepOthersOut } from '../home/keep-others-out.js';
import { lockHome } from '../store/lock.js';
import { storePorts } from '../store/ports.js';
import { runWorker } from './run-worker.js';
import { wholeNumber, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';

interface WorkerOptions {
  readonly join: URL;
  readonly name: string;
  readonly engines?: readonly string[];
  readonly roots: readonly string[];
  readonly slots: number;
  readonly labels: readonly string[];
  readonly sandbox: SandboxLevel;
  readonly sandboxRequired?: boolean;
  readonly tokenFile?: string;
  readonly home?: string;
  readonly insecure?: boolean;
}

/** `troupe worker --join https://gateway.example --name gpu1`: agents of a gateway elsewhere work on this machine. */
export function workerCommand(program: Command, terminal: Terminal): void {
  program
    .command('worker')
    .description('run turns of a gateway on another machine; "troupe workers add <name>" there invites it')
    .requiredOption('--join <url>', 'where the gateway is reached, https://…', addressOf)
    .requiredOption('--name <name>', 'the name that it was invited by', nameOf)
    .option(
      '--engines <names>',
      'engines that turns may use here, by commas (default: all that are found)',
      listOf,
    )
    .option(
      '--roots <folders>',
      'folders in which agents may work, by commas (default: none but its own)',
      listOf,
      [],
    )
    .option('--slots <count>', 'turns at once', wholeNumber(1, workerLimits.slotsMax), 2)
    .option('--labels <labels>', 'words by which it is chosen, by commas', labelsOf, [])
    .addOption(
      new Option('--sandbox <level>', 'how far agents are kept from this machine, at least')
        .choices(sandboxLevels)
        .default('home'),
    )
    .option('--sandbox-required', 'refuse turns that cannot be confined as asked')
    .option('--token-file <file>', 'where its token lies (default: in its home)')
    .option('--home <folder>', 'where it keeps what is its own (default: ~/.svc-worker-<name>)')
    .option('--insecure', 'join over http:// beyond this machine: tokens and prompts can be read on the way')
    .action(async (options: WorkerOptions) => {
      const { join: url, name } = options;
      if (url.protocol === 'http:' && !isLoopback(url) && options.insecure !== true)
        throw new CommandError(
          exitCodes.usage,
          'Over http:// tokens and prompts can be read on the way. Use https://, a tunnel, or --insecure.',
        );
      const layout = layoutOf({ home: options.home ?? join(homedir(), `.svc-worker-${name}`) });
      await mkdir(layout.home, { recursive: true, mode: 0o700 });
      await keepOthersOut(layout); // its config.yaml says which programs are started
      const tokenFile = resolve(options.tokenFile ?? `${layout.home}/token`);
      const roots = await Promise.all(options.roots.map(folderOf));
      // A second one would end what this one runs as what an earlier life of it has left, and take its connection
      const unlock = await lockHome(storePorts(), layout.home);
      try {
        const token = (await tokenIn(tokenFile)) ?? (await joined(url, name, tokenFile, terminal));
        const why = await runWorker({
          url: url.href,
          name,
          token,
          tokenFile,
          layout,
          roots,
          engines: options.engines,
          slots: options.slots,
          labels: options.labels,
          level: options.sandbox,
          isRequired: options.sandboxRequired === true,
          say: (line) => terminal.say(line),
        });
        if (why !== 'removed') return;
        const kept = `${tokenFile}.refused`;
        await rename(tokenFile, kept);
        throw new CommandError(
          exitCodes.refused,
          `The gateway does not know this worker, or has removed it. There: troupe workers add ${name}\n` +
            `Its token is now ${kept}: move it back if the gateway only ran with another home.`,
        );
      } finally {
        await unlock();
      }
    });
}

/** Undefined where it has not joined yet. */
async function tokenIn(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return undefined;
  if ((found.mode & 0o077) !== 0)
    throw new CommandError(exitCodes.badHome, `Others can read ${file}. Its mode must be 0600.`);
  return (await readFile(file, 'utf8')).trim();
}

/** The code is typed or piped in: on a command line every user of this machine could read it. */
async function joined(url: URL, name: string, file: string, terminal: Terminal): Promise<string> {
  if (process.stdin.isTTY)
    terminal.say(`Code of "troupe workers add ${name}" on the machine of the gateway:`);
  const lines = createInterface({ input: process.stdin });
  const { value: code } = (await lines[Symbol.asyncIterator]().next()) as IteratorResult<string, undefined>;
  lines.close();
  if (code === undefined || code.trim() === '')
    throw new CommandError(
      exitCodes.usage,
      'A worker that joins for the first time reads its code from standard input.',
    );
  const response = await fetch(new URL('/api/workers/join', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, code: code.trim() }),
    redirect: 'error',
    signal: AbortSignal.timeout(30_000),
  }).catch((cause: unknown) => {
    throw new CommandError(exitCodes.notRunning, `The gateway at ${url.href} ${whyUnreached(cause)}`, {
      cause,
    });
  });
  const answer = (await response.json().catch(() => ({}))) as { error?: unknown; token?: unknown };
  if (!response.ok || typeof answer.token !== 'string')
    throw new CommandError(
      exitCodes.refused,
      typeof answer.error === 'string' ? answer.error : `The gateway answered ${response.status}.`,
    );
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, answer.token, { mode: 0o600, flag: 'wx' }); // one that came meanwhile is another's
  return answer.token;
}

/** What `fetch` met, for people: a certificate that is not trusted is no gateway that is down. */
function whyUnreached(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown };
  const { code = '', message = '' } = (cause ?? error) as {
    readonly code?: string;
    readonly message?: string;
  };
  if (!/CERT|SELF_SIGNED|VERIFY|ALTNAME/.test(code))
    return `does not answer: ${message || code || String(error)}.`;
  if (/ALTNAME/.test(code))
    return `shows a certificate for another name: ${message || code}. Join it by a name that stands in it.`;
  return (
    `shows a certificate that this machine does not trust: ${message || code}. ` +
    'Name the file of its certificate authority in NODE_EXTRA_CA_CERTS.'
  );
}

async function folderOf(given: string): Promise<string> {
  const real = await realpath(given).catch(() => undefined);
  if (real === undefined || !(await stat(real)).isDirectory())
    throw new CommandError(exitCodes.usage, `--roots: ${given} is not a folder.`);
  return real;
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '') return url;
  throw new InvalidArgumentError('It must be an address like https://gateway.example:7420.');
}

function nameOf(text: string): string {
  if (isWorkerName(text)) return text;
  throw new InvalidArgumentError('It must have 1 to 32 of a-z, 0-9 and inner dashes.');
}

const listOf = (text: string): readonly string[] => text.split(',').filter((word) => word !== '');

function labelsOf(text: string): readonly string[] {
  const labels = listOf(text);
  if (labels.every(isWorkerLabel) && labels.length <= workerLimits.labelsMax) return labels;
  throw new InvalidArgumentError('They must be words of a-z, 0-9, dots and dashes.');
}

const isLoopback = ({ hostname }: URL): boolean => /^(?:localhost|127\..+|\[::1\])$/.test(hostname);
