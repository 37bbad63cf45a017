import { build } from 'esbuild';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Bundle the live inspector's page into `dist/lib/inspector/page`: a shell and files named for their content.
 * Run by `npm run build`, and by the browser's specs before they open it.
 */
export async function buildPage(): Promise<void> {
  const outdir = join(root, 'dist/lib/inspector/page');
  await mkdir(outdir, { recursive: true });
  for (const old of await readdir(outdir)) await rm(join(outdir, old), { recursive: true });
  const { metafile } = await build({
    absWorkingDir: root,
    outdir,
    entryPoints: [
      'lib/inspector/page/main.tsx',
      'lib/inspector/page/style/main.css',
      'lib/inspector/page/icon.svg',
    ],
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
  const named = (entry: string): string =>
    basename(
      Object.entries(metafile.outputs).find(
        ([, { entryPoint, inputs }]) =>
          entryPoint === entry || (entry.endsWith('.svg') && Object.keys(inputs).includes(entry)),
      )?.[0] ?? '',
    );
  await writeFile(
    join(outdir, 'index.html'),
    shell({
      script: named('lib/inspector/page/main.tsx'),
      style: named('lib/inspector/page/style/main.css'),
      icon: named('lib/inspector/page/icon.svg'),
    }),
  );
  await writeFile(join(outdir, 'notices.txt'), await notices(Object.keys(metafile.inputs)));
}

/** The licences of the packages whose code is in the page, as they ask to be shown with every copy. */
async function notices(inputs: readonly string[]): Promise<string> {
  const folders = new Set(inputs.flatMap((input) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? []));
  const texts = [...folders].sort().map(async (folder) => {
    const files = await readdir(join(root, folder));
    const file = files.find((name) => /^licen[cs]e(?:\.\w+)?$/i.test(name));
    if (file === undefined) throw new Error(`${folder} is in the page and has no licence file`);
    const { name, version } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as {
      name: string;
      version: string;
    };
    return `${name} ${version}\n\n${await readFile(join(root, folder, file), 'utf8')}`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}

const shell = ({
  script,
  style,
  icon,
}: {
  readonly script: string;
  readonly style: string;
  readonly icon: string;
}): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Troupe inspector</title>
<link rel="icon" href="/inspect/${icon}" type="image/svg+xml">
<link rel="stylesheet" href="/inspect/${style}">
<div id="page"></div>
<noscript>The inspector shows the gateway live and needs JavaScript.
The same facts in a terminal: troupe top, troupe tail.</noscript>
<script type="module" src="/inspect/${script}"></script>
</html>
`;

/** Of the project: this runs as `dist/lib/inspector/build-page.js`. */
const root = fileURLToPath(new URL('../../../', import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPage();
