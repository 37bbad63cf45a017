import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/**
 * Bundle the pages that the gateway serves into `dist`: of each a shell and files named for their content. Run
 * by `npm run build`, and by the browser's specs before they open one.
 */
export async function buildPages(): Promise<void> {
  for (const page of pages) await buildPage(page);
}

interface Page {
  /** `page/` in it holds the sources, `dist/` of the same name what is built. */
  readonly folder: string;
  readonly title: string;
  /** Where its files are served. */
  readonly at: string;
  /** A script that runs without the page, under a name that stays. */
  readonly worker?: string;
  /** Where it begins when it is installed on a phone or a desktop. */
  readonly begins?: string;
  /** Shown where there is no JavaScript. */
  readonly without: string;
}

const pages: readonly Page[] = [
  {
    folder: 'lib/inspector/page',
    title: 'Troupe inspector',
    at: '/inspect',
    without:
      'The inspector shows the gateway live and needs JavaScript.\n' +
      'The same facts in a terminal: troupe top, troupe tail.',
  },
  {
    folder: 'lib/console/page',
    title: 'Troupe',
    at: '/console',
    worker: 'push-worker',
    begins: '/',
    without: 'The console is live and needs JavaScript.\nThe same in a terminal: troupe run, troupe waiting.',
  },
];

async function buildPage({ folder, worker, begins, ...page }: Page): Promise<void> {
  const outdir = join(root, 'dist', folder);
  await mkdir(outdir, { recursive: true });
  for (const old of await readdir(outdir)) await rm(join(outdir, old), { recursive: true });
  const script = `${folder}/main.tsx`;
  const style = `${folder}/style/main.css`;
  const { metafile } = await build({
    absWorkingDir: root,
    outdir,
    entryPoints: [script, style, icon],
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    metafile: true,
    write: true,
    legalComments: 'none',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    loader: { '.svg': 'copy' },
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: {},
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  await Promise.all(Object.keys(metafile.outputs).map(compress));
  if (worker !== undefined)
    await build({
      absWorkingDir: root,
      outfile: join(outdir, `${worker}.js`),
      entryPoints: [`${folder}/${worker}.ts`],
      bundle: true,
      format: 'iife',
      target: 'es2022',
      minify: true,
      tsconfigRaw: {},
    });
  const named = (entry: string): string =>
    basename(
      Object.entries(metafile.outputs).find(
        ([, { entryPoint, inputs }]) =>
          entryPoint === entry || (entry.endsWith('.svg') && Object.keys(inputs).includes(entry)),
      )?.[0] ?? '',
    );
  const manifest =
    begins === undefined ? undefined : await writeManifest(outdir, { ...page, begins, icon: named(icon) });
  await writeFile(
    join(outdir, 'index.html'),
    shell({ ...page, script: named(script), style: named(style), icon: named(icon), manifest }),
  );
  await writeNotices(outdir, Object.keys(metafile.inputs));
}

/** What a phone asks for before it takes a page for an app: without one an iPhone shows no notifications of it. */
async function writeManifest(
  outdir: string,
  { title, at, begins, icon }: { title: string; at: string; begins: string; icon: string },
): Promise<string> {
  const text = JSON.stringify({
    id: begins,
    name: title,
    short_name: title,
    start_url: begins,
    scope: begins,
    display: 'standalone',
    icons: [{ src: `${at}/${icon}`, sizes: 'any', type: 'image/svg+xml', purpose: 'any' }],
  });
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8).toUpperCase();
  const name = `manifest-${hash}.webmanifest`;
  await writeFile(join(outdir, name), text);
  return name;
}

/** Beside each file what is sent to browsers that take it compressed: made once, as small as it gets. */
async function compress(output: string): Promise<void> {
  const file = join(root, output);
  const text = await readFile(file);
  const made = {
    br: await brotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }),
    gz: await gzipped(text, { level: constants.Z_BEST_COMPRESSION }),
  };
  for (const [ending, bytes] of Object.entries(made))
    if (bytes.length < text.length) await writeFile(`${file}.${ending}`, bytes);
}

const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

export const noticeFiles = ['notices.txt', 'bom.json'] as const;

/**
 * Beside a bundle: the licences of the packages whose code is in it, as they ask to be shown with every copy, and their
 * names and versions in CycloneDX, for programs that look advisories up: `npm audit` of who installs us sees none of
 * them.
 */
export async function writeNotices(outdir: string, inputs: readonly string[]): Promise<void> {
  const bundled = await bundledIn(inputs);
  const [texts, bom] = noticeFiles;
  const all = bundled.map(({ name, version, text }) => `${name} ${version}\n\n${text}`);
  await writeFile(join(outdir, texts), all.join(`\n${'-'.repeat(80)}\n\n`));
  const { name, version } = await manifestOf('.');
  const material = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', name, version } },
    components: bundled.map(({ text: _text, license, ...known }) => ({
      type: 'library',
      'bom-ref': purlOf(known),
      ...known,
      ...(license !== undefined && { licenses: [{ expression: license }] }),
      purl: purlOf(known),
    })),
  };
  await writeFile(join(outdir, bom), `${JSON.stringify(material, null, 1)}\n`);
}

interface PackageManifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

const manifestOf = async (folder: string): Promise<PackageManifest> =>
  JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as PackageManifest;

/** The name by which data bases of advisories know a package of npm. `pkg:npm/%40preact/signals@2.11.4` */
const purlOf = ({ name, version }: PackageManifest): string =>
  `pkg:npm/${name.replace('@', '%40')}@${version}`;

async function bundledIn(
  inputs: readonly string[],
): Promise<readonly (PackageManifest & { readonly text: string })[]> {
  const folders = new Set(
    // the innermost: a package may bring another version of one that lies outside
    inputs.flatMap((input) => /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(input) ?? []),
  );
  const texts = [...folders].sort().map(async (folder) => {
    const { name, version, license } = await manifestOf(folder);
    const files = await readdir(join(root, folder));
    const file = files.find((found) => /^licen[cs]e(?:\.\w+)?$/i.test(found));
    if (file === undefined && license === undefined)
      throw new Error(`${folder} is shipped and has no licence`);
    const text = file === undefined ? `${license}\n` : await readFile(join(root, folder, file), 'utf8');
    return { name, version, ...(license !== undefined && { license }), text };
  });
  return Promise.all(texts);
}

interface Shell extends Omit<Page, 'folder' | 'worker' | 'begins'> {
  readonly script: string;
  readonly style: string;
  readonly icon: string;
  readonly manifest: string | undefined;
}

const linkTo = (manifest: string): string => `\n<link rel="manifest" href="${manifest}">`;

const shell = ({ title, at, without, script, style, icon, manifest }: Shell): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="${at}/${icon}" type="image/svg+xml">${manifest === undefined ? '' : linkTo(`${at}/${manifest}`)}
<link rel="stylesheet" href="${at}/${style}">
<div id="page"></div>
<noscript>${without}</noscript>
<script type="module" src="${at}/${script}"></script>
</html>
`;

const icon = 'lib/page/icon.svg';
/** Of the project: this runs as `dist/lib/build-pages.js`. */
const root = fileURLToPath(new URL('../../', import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPages();
