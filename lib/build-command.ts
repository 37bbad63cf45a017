import { build, type Metafile, type Plugin } from 'esbuild';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { noticeFiles, writeNotices } from './build-pages.js';

/**
 * Bundle the command `troupe`, the programs that it starts and the public face into `dist/command`. Most of the time
 * and a quarter of the memory of a start went into finding, reading and linking some 800 files one by one, and most
 * of what npm fetched was never loaded. Run by `npm run build` on what the compiler wrote; specs use that as it is.
 */
export async function buildCommand(): Promise<void> {
  const { version, exports, peerDependencies } = JSON.parse(
    await readFile(join(root, 'package.json'), 'utf8'),
  ) as Manifest;
  const faces = Object.entries(exports).flatMap(([name, face]) =>
    typeof face === 'string' ? [] : [{ name, source: resolve(root, face.types.replace(/\.d\.ts$/, '.js')) }],
  );
  const entries: Entries = new Map([
    ...Object.entries(programs).map(([name, path]) => [join(root, 'dist', path), name] as const),
    ...faces.map(({ name, source }) => [source, faceName(name)] as const),
  ]);
  const { metafile } = await build({
    absWorkingDir: root,
    outdir,
    entryPoints: Object.fromEntries([...entries].map(([source, name]) => [name, source])),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // names stay, so that a stack can be read; of one byte per character, which V8 keeps in half the memory
    minifyWhitespace: true,
    lineLimit: 110,
    charset: 'ascii',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    // packages of the older kind; found without an import, which no bundler of a page could follow
    banner: { js: banner },
    // three packages bring a list of 2,500 media types each, of two versions
    alias: { 'mime-types': join(root, 'node_modules/mime-types') },
    plugins: [apart([...Object.keys(peerDependencies), ...onlyIfThere]), addressed(entries), replaced],
  });
  const made = new Set([
    ...(await withoutEmpty(metafile.outputs)).map((file) => basename(file)),
    manifest,
    ...noticeFiles,
  ]);
  // npm packs the folder as it is, for installations where nothing runs from it yet
  await removeStale(outdir, made, isPacking ? 0 : staleMs);
  await writeNotices(outdir, Object.keys(metafile.inputs));
  // modules of a home that import `troupe` get the one that runs, and no second copy of its classes
  const own = Object.fromEntries(faces.map(({ name }) => [name, `./${faceName(name)}.js`]));
  await writeFile(
    join(outdir, manifest),
    JSON.stringify({
      name: 'troupe',
      version,
      type: 'module',
      exports: { ...own, './package.json': './package.json' },
    }),
  );
}

/** A module that only passes on what others have becomes a file of nothing, which each start would read. */
async function withoutEmpty(outputs: Metafile['outputs']): Promise<readonly string[]> {
  const files = Object.keys(outputs);
  const empty = files.filter((file) => outputs[file]?.bytes === banner.length + 1);
  for (const file of files) {
    const path = join(root, file);
    const text = await readFile(path, 'utf8');
    const shorter = empty.reduce((all, name) => all.replaceAll(`import"./${basename(name)}";`, ''), text);
    if (shorter !== text) await writeFile(path, shorter);
  }
  return files.filter((file) => !empty.includes(file));
}

/**
 * A gateway that runs from this folder goes on loading parts of the build that it began with: they are named by
 * what they hold, and stay for a while. Each build writes all of its own: a file is as old as the last build of it.
 */
export async function removeStale(folder: string, made: ReadonlySet<string>, keptMs: number): Promise<void> {
  for (const file of await readdir(folder)) {
    if (made.has(file)) continue;
    const path = join(folder, file);
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs >= keptMs) await rm(path, { force: true });
  }
}

const banner =
  "const require=globalThis.process?.getBuiltinModule?.('node:module').createRequire(import.meta.url);";
const staleMs = 7 * 24 * 3_600_000;
const isPacking = ['pack', 'publish'].includes(process.env['npm_command'] ?? '');

const manifest = 'package.json';

interface Manifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** Source to name of what is made of it. */
type Entries = ReadonlyMap<string, string>;

/** What runs as a process of its own. */
const programs: Readonly<Record<string, string>> = {
  troupe: 'lib/cli/main.js',
  worker: 'lib/worker/main.js',
  clerk: 'actors/engines/clerk/main.js',
  link: 'actors/sandbox/link-main.js',
  'make-backup': 'lib/home/backups/program.js',
  'store-apart': 'lib/store/apart-main.js',
};

const faceName = (name: string): string => `face${name.replace(/^\./, '').replace('/', '-')}`;

/** What our packages use only where it is installed, and work without. */
const onlyIfThere = ['bufferutil', 'utf-8-validate', 'supports-color'];

/**
 * Which packages stay outside: what the user installs beside us, of which there must be one copy. All others are in
 * the bundle; those of package.json's `dependencies` are there for their types, and LevelDB for its binary.
 */
const apart = (names: readonly string[]): Plugin => ({
  name: 'apart',
  setup({ onResolve }) {
    const outside = new Set(names);
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path;
      return kind !== 'entry-point' && outside.has(name) ? { path, external: true } : undefined;
    });
  },
});

/**
 * A file that is named from `import.meta.url` is found from the place of the module that names it, as before: programs
 * in their bundle, everything else in `dist` and above.
 */
const addressed = (entries: Entries): Plugin => ({
  name: 'addressed',
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, async ({ path }) => {
      if (path.includes('/node_modules/')) return undefined;
      const contents = (await readFile(path, 'utf8')).replaceAll(
        /new URL\((['"`])(\.[^'"`]*)\1, import\.meta\.url\)/g,
        (_, quote: string, to: string) => {
          const program = entries.get(resolve(dirname(path), to));
          if (program === undefined && to.endsWith('.js'))
            throw new Error(
              `${relative(root, path)} starts ${to}, which is no program of lib/build-command.ts`,
            );
          const place =
            program === undefined ? `${relative(outdir, dirname(path))}/${to}` : `./${program}.js`;
          return `new URL(${quote}${place}${quote}, import.meta.url)`;
        },
      );
      return { contents, loader: 'js' };
    });
  },
});

/** What a package has that cannot be bundled, or that no start needs. */
const replaced: Plugin = {
  name: 'replaced',
  setup({ onLoad }) {
    // the sentences of some 40 languages, half of zod; ours are English, which is a module of its own
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: `export { default as en } from './en.js';`,
      loader: 'js',
    }));
    // LevelDB itself: package.json names the one version of it whose JavaScript is in the bundle
    onLoad({ filter: /[\\/]classic-level[\\/]binding\.js$/ }, () => ({
      contents: [
        "const { createRequire } = require('node:module');",
        "module.exports = createRequire(require.resolve('classic-level'))('./binding.js');",
      ].join('\n'),
      loader: 'js',
    }));
  },
};

/** Of the project: this runs as `dist/lib/build-command.js`. */
const root = fileURLToPath(new URL('../../', import.meta.url));
const outdir = join(root, 'dist/command');

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildCommand();
