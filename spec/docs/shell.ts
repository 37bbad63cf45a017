import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { Troupe, type Running } from '../lib/cli/troupe.js';
import { samples } from './samples.js';
import { command } from '../helpers/command.js';

/**
 * A person's terminal: `troupe` and a `claude` are on its PATH, and a gateway runs at the usual home, started again
 * where a sample has stopped or killed it. The samples share these, the folder that one has gone to and its `SESSION`, as they would
 * for a person who reads on.
 */
export class Shell {
  private gateway: Running | undefined;

  /** Where the reader is by now. */
  private folder: string;
  private readonly path: { readonly PATH: string };

  private constructor(
    private readonly troupe: Troupe,
    private readonly bin: string,
  ) {
    this.folder = troupe.folder;
    this.path = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  }

  static async create(): Promise<Shell> {
    const troupe = await Troupe.create();
    const bin = join(troupe.folder, 'bin');
    await mkdir(bin);
    for (const [name, program] of [
      ['troupe', command],
      ['claude', fileURLToPath(new URL('../fixtures/agents/greeter.js', import.meta.url))],
    ] as const) {
      await writeFile(join(bin, name), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
      await chmod(join(bin, name), 0o755);
    }
    const person = '[user]\n\tname = Ann\n\temail = ann@example.com\n[init]\n\tdefaultBranch = main\n';
    await writeFile(join(troupe.folder, '.gitconfig'), person);
    await writeFile(join(bin, '.sample.env'), '');
    return new Shell(troupe, bin);
  }

  /**
   * Runs a sample as it would be pasted; rejects where a command of it fails. Both streams. With `isTyped` in a
   * pseudo-terminal, where the first question is answered with yes.
   */
  async paste(code: string, isTyped = false): Promise<string> {
    // The usual home: a reader has set no SVC_HOME.
    this.gateway ??= await this.start();
    const sample = join(this.bin, '.sample');
    const left = `pwd > '${sample}.cwd'; declare -p SESSION > '${sample}.env' 2>/dev/null || :`;
    await writeFile(
      sample,
      `set -euo pipefail\n. '${sample}.env'\ntrap "${left}" EXIT\n${withFunctions(code)}`,
    );
    const [program, ...words] = isTyped
      ? ['script', '-qfec', `bash '${sample}'`, '/dev/null']
      : ['bash', sample];
    const shell = spawn(program ?? '', words, {
      cwd: this.folder,
      stdio: [isTyped ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      env: { ...this.path, HOME: this.troupe.folder },
    });
    let printed = '';
    let isAsked = false;
    for (const stream of [shell.stdout, shell.stderr])
      stream?.on('data', (piece) => {
        printed += String(piece);
        if (isAsked || !printed.includes('[n]o')) return;
        isAsked = true;
        shell.stdin?.write('y\n');
      });
    const [exit] = (await once(shell, 'close')) as [number | null];
    if (/\btroupe stop\b|\bkill -9\b/.test(code)) {
      await this.gateway.ended;
      this.gateway = undefined;
    }
    if (exit !== 0) throw new Error(`exit code ${exit} of:\n${code}\n${printed}`);
    this.folder = (await readFile(`${sample}.cwd`, 'utf8')).trim();
    return stripVTControlCharacters(printed); // how a terminal moves its cursor
  }

  private async start(): Promise<Running> {
    const home = this.troupe.home('.svc');
    const gateway = this.troupe.begin(this.path, 'start', '--home', home, '--port', '0');
    await gateway.seen(/Troupe runs at/);
    return gateway;
  }

  clear(): Promise<void> {
    return this.troupe.clear();
  }
}

/** Samples that say `call` or `gateway` use the functions that the first sample of the guide to the HTTP API defines. */
const functions =
  samples.find(({ file, code }) => file === 'http-api.md' && code.includes('call() {'))?.code ?? '';
const withFunctions = (code: string): string =>
  /\bcall [A-Z]|\bgateway (?:url|token)/.test(code) && !code.includes('call() {')
    ? `${functions}\n${code}`
    : code;
