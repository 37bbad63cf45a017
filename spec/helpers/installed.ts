import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../house/sources.js';
import './command.js'; // what is packed is what was compiled last

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const execute = promisify(execFile);

/** What `npm pack` makes of this project. */
export interface Packed {
  readonly tarball: string;
  /** `path`: `dist/command/troupe.js`; `size` in bytes. */
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

let made: Promise<Packed> | undefined;

/** Once for all specs of a process: it takes npm eight seconds of a processor. */
export const packed = (): Promise<Packed> => (made ??= pack());

async function pack(): Promise<Packed> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-packed-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const { stdout } = await execute(
    'npm',
    ['pack', '--json', '--silent', '--ignore-scripts', '--pack-destination', folder],
    { cwd: root, maxBuffer: 16_000_000 },
  );
  const [{ filename, files }] = JSON.parse(stdout) as [
    { readonly filename: string; readonly files: Packed['files'] },
  ];
  return { tarball: join(folder, filename), files };
}

/**
 * A project of someone else with the packed package in it: what `npm pack` takes is laid out as `npm
 * install` would, with the dependencies and the peers that package.json demands and no others. Its own imports thus find what
 * its users' would.
 */
export class InstalledPackage {
  private constructor(readonly folder: string) {}

  static async create(): Promise<InstalledPackage> {
    const folder = await mkdtemp(join(tmpdir(), 'troupe-installed-'));
    const home = join(folder, 'node_modules', 'troupe');
    await mkdir(home, { recursive: true });
    const { tarball } = await packed();
    await execute('tar', ['-xzf', tarball, '--strip-components', '1', '-C', home]);
    const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
      await readFile(join(home, 'package.json'), 'utf8'),
    ) as Manifest;
    const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
    const project = new InstalledPackage(folder);
    for (const name of [...Object.keys(dependencies), ...peers, '@types/node']) await project.link(name);
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    return project;
  }

  /** One more package that the project has beside ours; `as`: in the place of that one. */
  async link(name: string, as = name): Promise<void> {
    const link = join(this.folder, 'node_modules', as);
    await mkdir(dirname(link), { recursive: true });
    await rm(link, { force: true });
    await symlink(join(root, 'node_modules', name), link);
  }

  /**
   * Checks TypeScript of theirs as strictly as it goes, and answers with what the compiler complained about:
   * '' is right. The JavaScript lies beside it. `compiler`: where it lies.
   */
  async compile(
    files: Readonly<Record<string, string>>,
    {
      compiler = 'node_modules/typescript',
      ...options
    }: { readonly compiler?: string; readonly [option: string]: unknown } = {},
  ): Promise<string> {
    for (const [name, text] of Object.entries(files)) await writeFile(join(this.folder, name), text);
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2023'],
      types: ['node'],
      skipLibCheck: true,
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      verbatimModuleSyntax: true,
      ...options,
    };
    await writeFile(
      join(this.folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: Object.keys(files) }),
    );
    const { said } = await this.run(join(root, compiler, 'bin', 'tsc'), '-p', '.');
    return said;
  }

  /** Runs a script with Node in the project's folder. `said` is both streams. */
  async run(
    script: string,
    ...words: string[]
  ): Promise<{ readonly code: number | null; readonly said: string }> {
    const child = spawn(process.execPath, [script, ...words], {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: this.folder },
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (piece) => {
        said += String(piece);
      });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, said };
  }

  async clear(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
