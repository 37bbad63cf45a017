import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Troupe, type Running } from '../lib/cli/troupe.js';
import { samples } from './samples.js';
import { command } from '../helpers/command.js';

/**
 * A person's terminal: `troupe` is on its PATH, and a gateway runs at the usual home, started again where a
 * sample has stopped or killed it. The samples share both, as they would for a person who reads on.
 */
export class Shell {
  private gateway: Running | undefined;

  private constructor(
    private readonly troupe: Troupe,
    private readonly bin: string,
  ) {}

  static async create(): Promise<Shell> {
    const troupe = await Troupe.create();
    const bin = join(troupe.folder, 'bin');
    await mkdir(bin);
    const script = `#!/bin/sh\nexec "${process.execPath}" "${command}" "$@"\n`;
    await writeFile(join(bin, 'troupe'), script);
    await chmod(join(bin, 'troupe'), 0o755);
    return new Shell(troupe, bin);
  }

  /** Runs a sample as it would be pasted; rejects where a command of it fails. Both streams. */
  async paste(code: string): Promise<string> {
    // The usual home: a reader has set no SVC_HOME.
    this.gateway ??= await this.troupe.start(this.troupe.home('.svc'));
    const shell = spawn('bash', ['-euo', 'pipefail', '-c', withFunctions(code)], {
      cwd: this.troupe.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: `${this.bin}:${process.env['PATH'] ?? ''}`, HOME: this.troupe.folder },
    });
    let printed = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream.on('data', (piece) => {
        printed += String(piece);
      });
    const [exit] = (await once(shell, 'close')) as [number | null];
    if (/\btroupe stop\b|\bkill -9\b/.test(code)) {
      await this.gateway.ended;
      this.gateway = undefined;
    }
    if (exit !== 0) throw new Error(`exit code ${exit} of:\n${code}\n${printed}`);
    return printed;
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
