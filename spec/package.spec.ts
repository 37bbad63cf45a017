import { expect } from 'chai';
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InstalledPackage } from './helpers/installed.js';
import { root } from './house/sources.js';

/**
 * The package as its users get it: packed, unpacked among its dependencies alone, and used from TypeScript.
 */
interface Thin {
  readonly modules: number;
  readonly kibibytes: number;
  readonly packages: readonly string[];
  readonly grownMiB: number;
}

describe('the packed package', () => {
  let project: InstalledPackage;
  before(async () => {
    project = await InstalledPackage.create();
  });
  after(() => project.clear());

  it("holds the inspector's page and no maps of sources that are not in it", async () => {
    const names = await readdir(join(project.folder, 'node_modules/troupe'), { recursive: true });
    expect(names).to.include.members([
      'README.md',
      'LICENSE',
      'lib/cli/troupe.mjs',
      'lib/docs/effects.md',
      'lib/docs/style.css',
      'dist/command/troupe.js',
      'dist/command/notices.txt',
      'dist/lib/inspector/page/index.html',
      'dist/lib/console/page/index.html',
    ]);
    expect(names.filter((name) => name.endsWith('.map') || name.startsWith('dist/spec'))).to.deep.equal([]);
  });

  // The JavaScript of LevelDB is in the bundle, its binary is what npm installs: a range let the two part
  it('asks npm for the very LevelDB that its bundle was made of', async () => {
    const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const notices = await readFile(join(root, 'dist/command/notices.txt'), 'utf8');
    for (const name of ['level', 'classic-level'])
      expect(new RegExp(`^${name} (\\S+)$`, 'm').exec(notices)?.[1], name).to.equal(dependencies[name]);
  });

  // npm runs `prepare` in a clone before it packs it, and where a package is installed by the address of its
  // repository; it had only `prepack`, and came without anything built
  it('builds itself in a clone, and where there is nothing to build from leaves it', async () => {
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      scripts: { prepare: string };
    };
    const clone = await mkdtemp(join(tmpdir(), 'troupe-clone-'));
    const prepared = (): string =>
      spawnSync('sh', ['-c', scripts.prepare], { cwd: clone, encoding: 'utf8' }).stdout;
    try {
      await writeFile(join(clone, 'package.json'), JSON.stringify({ scripts: { build: 'echo built' } }));
      expect(prepared(), 'an image that installs before it copies the sources').to.equal('');
      await writeFile(join(clone, 'tsconfig.json'), '{}');
      expect(prepared(), 'without the development dependencies').to.equal('');
      await mkdir(join(clone, 'node_modules/.bin'), { recursive: true });
      await writeFile(join(clone, 'node_modules/.bin/tsc'), '', { mode: 0o755 });
      expect(prepared()).to.equal('built\n');
    } finally {
      await rm(clone, { recursive: true });
    }
  });

  // npx links the command of a checkout once, for good: looked for in dist/ before the first build it was
  // "not found" ever after.
  it('has a command that is there, and says what to do, before anything is built', async () => {
    const { bin } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      bin: { troupe: string };
    };
    const clone = await mkdtemp(join(tmpdir(), 'troupe-clone-'));
    try {
      const command = join(clone, bin.troupe);
      await cp(join(root, bin.troupe), command);
      expect((await stat(command)).mode & 0o111, 'may be run').to.equal(0o111);
      const { status, stdout, stderr } = spawnSync(command, ['--version'], { encoding: 'utf8' });
      expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
      expect(stderr).to.match(/^Troupe is not built yet\. .*npm run build\n$/);
    } finally {
      await rm(clone, { recursive: true });
    }
  });

  // The first program of a newcomer: what the page shows, compiled as it says, and killed without a warning
  it('keeps a typed actor over kill -9, by the getting-started page alone', async () => {
    const page = await readFile(join(root, 'lib/docs/getting-started.md'), 'utf8');
    const program = /```ts run\n([^]*?)```/.exec(page)?.[1] ?? '';
    expect(page).to.match(/Put this into `counter\.ts`|into `counter\.ts`/);
    expect(await project.compile({ 'counter.ts': program })).to.equal('');
    const start = (...words: string[]) => project.run(join(project.folder, 'counter.js'), ...words);
    expect(await start()).to.deep.equal({ code: 0, said: '2\n' });
    expect(await start('crash')).to.deep.equal({ code: null, said: '4\n' });
    expect(await start()).to.deep.equal({ code: 0, said: '6\n' });
    expect(await project.compile({ 'wrong.ts': program.replace('n: 2', "n: 'two'") })).to.match(
      /Type 'string' is not assignable to type 'number'/,
    );
  });

  it('runs its command', async () => {
    const { bin, version } = JSON.parse(
      await readFile(join(project.folder, 'node_modules/troupe/package.json'), 'utf8'),
    ) as { bin: { troupe: string }; version: string };
    expect(
      await project.run(join(project.folder, 'node_modules/troupe', bin.troupe), '--version'),
    ).to.deep.equal({ code: 0, said: `${version}\n` });
  });

  it('lets the examples be copied: they compile where nothing but the package is', async () => {
    const names = (await readdir(join(root, 'examples'))).filter((name) => name.endsWith('.ts'));
    const texts = await Promise.all(
      names.map(async (name) => [name, await readFile(join(root, 'examples', name), 'utf8')] as const),
    );
    await project.link('esbuild'); // of a host that builds a page
    await project.link('xstate6'); // of a host that drives machines of XState 6
    // Of hosts that mount the inspector in an application of theirs
    for (const name of ['express', '@types/express', '@types/koa']) await project.link(name);
    expect(await project.compile(Object.fromEntries(texts))).to.equal('');
  });

  // It took 0.7 s and 1,460 modules: who wants durable actors does not want a mail library.
  it('is thin: the supervisor loads few modules, and none of the store, the gateway or a vendor', async () => {
    await project.compile({
      'thin.ts': `
        import { statSync } from 'node:fs';
        import { Session } from 'node:inspector/promises';
        const before = process.memoryUsage.rss();
        const session = new Session();
        session.connect();
        await session.post('Profiler.enable');
        await session.post('Profiler.startPreciseCoverage', {});
        await import('troupe');
        const { result } = await session.post('Profiler.takePreciseCoverage');
        const loaded = result.map(({ url }) => url).filter((url) => url.includes('node_modules') || url.includes('/dist/'));
        const packages = new Set(loaded.map((url) => /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]));
        const bytes = loaded.filter((url) => url.includes('/troupe/')).reduce((sum, url) => sum + statSync(new URL(url)).size, 0);
        console.log(JSON.stringify({ modules: loaded.length, kibibytes: Math.round(bytes / 1024), packages: [...packages].sort(), grownMiB: Math.round((process.memoryUsage.rss() - before) / 2 ** 20) }));`,
    });
    const { said } = await project.run('thin.js');
    const { modules, kibibytes, packages, grownMiB } = JSON.parse(said) as Thin;
    expect(modules).to.be.within(5, 60);
    expect(packages).to.deep.equal(['troupe', 'xstate']);
    // koa is 340 of them, zod 300, LevelDB 90: what is bundled shows by its size alone
    expect(kibibytes).to.be.within(100, 450);
    expect(grownMiB).to.be.below(20); // a bare Node takes about 40 of the 60 MiB
  });

  it('runs without the packages that few need, and says how the one that is wanted is installed', async () => {
    await project.compile({
      'vendors.ts': `
        import { builtInConnectors } from 'troupe/connectors';
        import { openAiEngine } from 'troupe/agents';
        const settings = { botToken: 'x', host: 'mail.example', from: 'a@b.example' };
        for (const { type, open } of builtInConnectors.filter(({ type }) => type !== 'webhook'))
          await open(settings, new AbortController().signal).catch((error: Error) => console.log(type + ': ' + error.message));
        const facts = await openAiEngine({ name: 'near', baseUrl: 'https://models.example/v1' }).discover();
        console.log(JSON.stringify([facts.available, 'remedy' in facts && facts.remedy]));`,
    });
    const { said } = await project.run('vendors.js');
    const where = `npm install --prefix ${JSON.stringify(project.folder)}`;
    expect(
      said
        .split('\n')
        .slice(0, 4)
        .map((line) => line.replace(/@[\^~]?\d[\d.]*"$/, '"')),
    ).to.deep.equal([
      `slack: The package "@slack/web-api" is not installed. Install it: ${where} "@slack/web-api"`,
      `discord: The package "@discordjs/rest" is not installed. Install it: ${where} "@discordjs/rest"`,
      `telegram: The package "grammy" is not installed. Install it: ${where} "grammy"`,
      `email: The package "nodemailer" is not installed. Install it: ${where} "nodemailer"`,
    ]);
    expect(said).to.match(/\[false,"npm install --prefix .*openai@/);
  });

  // the banner of the bundle imported a module of Node, and the example of a page could not be built any more
  it('lets pages bundle the client and the machines', async () => {
    for (const entry of ['client', 'machines']) {
      const { outputFiles, metafile } = await build({
        stdin: { contents: `export * from 'troupe/${entry}'`, resolveDir: project.folder },
        bundle: true,
        format: 'esm',
        platform: 'browser',
        write: false,
        metafile: true,
        logLevel: 'silent',
      });
      expect(outputFiles).to.have.lengthOf(1);
      const { imports = [] } = Object.values(metafile.outputs)[0] ?? {};
      expect(imports, entry).to.deep.equal([]);
    }
  });

  it('lets engines be written as their README shows', async () => {
    const text = await readFile(join(root, 'actors/engines/README.md'), 'utf8');
    const [, sample = ''] = /^```ts\n([^]*?)^```$/m.exec(text) ?? [];
    expect(
      await project.compile({
        'shout.ts': `import { defineEngine, turnResult } from 'troupe/agents';\n${sample}`,
      }),
    ).to.equal('');
  });

  it('gives what machines and tests are made of, and says what the suites want only where they are called', async () => {
    expect(
      await project.compile({
        'house.ts': `
        import { createMachine } from 'xstate';
        import * as machines from 'troupe/machines';
        import { connectorContract, engineContract, faultyStore, storeContract, testEnvironment } from 'troupe/testing';
        import { memoryStore } from 'troupe';

        const attempt = (deed: () => void): string => { try { deed(); return 'no complaint'; } catch (error) { return error instanceof Error ? error.message : String(error); } };
        console.log(Object.keys(machines).length > 0, typeof createMachine, typeof testEnvironment().clock.now(), typeof faultyStore);
        console.log(attempt(() => storeContract('mine', async () => memoryStore())));
        console.log([connectorContract, engineContract].map((suite) => attempt(() => suite('mine', {} as never))).every((line) => line.includes('chai')));`,
      }),
    ).to.equal('');
    expect((await project.run('house.js')).said).to.equal(
      [
        'true function number function',
        'The contract suites of troupe/testing need chai 6. Install it beside troupe: npm install --save-dev chai@6 mocha',
        'true',
        '',
      ].join('\n'),
    );
  });
});
