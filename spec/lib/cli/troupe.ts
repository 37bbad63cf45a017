import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Announcement } from '../../../lib/home/announce.js';
import { command } from '../../helpers/command.js';

/**
 * The command line as people use it: real processes, real homes in a temporary folder. `await using` or
 * `clear()` ends what was started.
 */
export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export class Troupe {
  private readonly children = new Set<ChildProcess>();
  private constructor(readonly folder: string) {}

  static async create(): Promise<Troupe> {
    return new Troupe(await mkdtemp(join(tmpdir(), 'troupe-cli-')));
  }

  home(name = 'home'): string {
    return join(this.folder, name);
  }

  async announcement(home = this.home()): Promise<Announcement> {
    return JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as Announcement;
  }

  /** Run a command to its end. */
  async run(...words: string[]): Promise<Ran> {
    return this.begin(...words).ended;
  }

  /** Begin a command; `seen` resolves once its output (both streams) matches. */
  begin(...words: string[]): Running;
  begin(env: Readonly<Record<string, string>>, ...words: string[]): Running;
  begin(first: string | Readonly<Record<string, string>>, ...rest: string[]): Running {
    const [env, words] = typeof first === 'string' ? [{}, [first, ...rest]] : [first, rest];
    const child = spawn(process.execPath, [command, ...words], {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: this.folder, ...env },
    });
    this.children.add(child);
    return new Running(child);
  }

  /** Start a gateway and wait until it says where it is. */
  async start(home = this.home(), ...more: string[]): Promise<Running> {
    const gateway = this.begin('start', '--home', home, '--port', '0', ...more);
    await gateway.seen(/Troupe runs at/);
    return gateway;
  }

  async clear(): Promise<void> {
    for (const child of this.children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
    // agents of a killed gateway go on for a moment in their worker and write here
    await rm(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

export class Running {
  out = '';
  err = '';
  readonly ended: Promise<Ran>;
  constructor(readonly child: ChildProcess) {
    child.stdout?.on('data', (piece) => {
      this.out += String(piece);
    });
    child.stderr?.on('data', (piece) => {
      this.err += String(piece);
    });
    this.ended = once(child, 'close').then(([code]) => ({
      code: code as number | null,
      out: this.out,
      err: this.err,
    }));
  }

  async seen(pattern: RegExp): Promise<void> {
    const ended = this.ended.then(() => 'ended' as const);
    while (!pattern.test(this.out + this.err)) {
      const more = Promise.race([
        once(this.child.stdout ?? this.child, 'data'),
        once(this.child.stderr ?? this.child, 'data'),
      ]);
      if ((await Promise.race([more, ended])) === 'ended' && !pattern.test(this.out + this.err)) {
        throw new Error(`the command ended without ${String(pattern)}:\n${this.out}${this.err}`);
      }
    }
  }

  kill(signal: NodeJS.Signals): Promise<Ran> {
    this.child.kill(signal);
    return this.ended;
  }
}
