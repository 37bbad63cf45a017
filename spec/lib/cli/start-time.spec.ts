import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { command } from '../../helpers/command.js';
import { root } from '../../house/sources.js';
import { Troupe } from './troupe.js';

/**
 * A command that only asks a gateway something is there at once. Loading is what costs; so what is loaded is counted,
 * and no clock is read.
 */
describe('a command that only talks to a gateway', () => {
  let troupe: Troupe;
  before(async () => {
    troupe = await Troupe.create();
    await troupe.start();
  });
  after(() => troupe.clear());

  const hook = `import { register, createRequire } from 'node:module';
    process.on('exit', () => { for (const file of Object.keys(createRequire('file:///').cache)) process._rawDebug('loaded ' + file); });
    register('data:text/javascript,' + encodeURIComponent("export async function load(url, context, next) { process._rawDebug('loaded ' + url); return next(url, context); }"));`;

  function loadedBy(...words: string[]): readonly string[] {
    const { stderr, status } = spawnSync(
      process.execPath,
      [
        '--import',
        `data:text/javascript,${encodeURIComponent(hook)}`,
        join(root, 'dist/lib/cli/main.js'),
        ...words,
      ],
      { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: troupe.folder } },
    );
    expect(status, stderr).to.equal(0);
    return stderr.split('\n').filter((line) => line.startsWith('loaded ') && !line.includes('node:'));
  }

  const home = (): string[] => ['--home', troupe.home()];
  const commands: Readonly<Record<string, () => string[]>> = {
    list: () => ['list', ...home()],
    'list todos': () => ['list', 'todos', ...home()],
    status: () => ['status', ...home()],
    waiting: () => ['waiting', ...home()],
    run: () => ['run', '--detach', ...home(), 'add "buy milk"'],
    '--version': () => ['--version'],
  };

  for (const [name, words] of Object.entries(commands))
    it(`loads few modules and no server: ${name}`, () => {
      const loaded = loadedBy(...words());
      expect(loaded.length, loaded.join('\n')).to.be.within(5, 70);
      expect(
        loaded.filter((line) => /node_modules\/(?!commander|openapi-fetch|ws\/)/.test(line)),
        'packages',
      ).to.deep.equal([]);
      expect(
        loaded.filter((line) => /dist\/(?:machines|lib\/(?:gateway|supervisor|commands|records))/.test(line)),
      ).to.deep.equal([]);
    });

  // some 800 files of ours and of zod were found, read and linked one by one: half of what a start costs
  it('starts a gateway of few files', () => {
    const { stderr } = spawnSync(
      process.execPath,
      [
        '--import',
        `data:text/javascript,${encodeURIComponent(hook)}`,
        command,
        'start',
        '--home',
        '/dev/null',
      ],
      { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: troupe.folder } },
    );
    const own = stderr.split('\n').filter((line) => /^loaded (?!.*node_modules).*\/dist\//.test(line));
    expect(own.length, own.join('\n')).to.be.within(5, 120);
    expect(own.filter((line) => !line.includes('/dist/command/'))).to.deep.equal([]);
    const bundle = own.map((line) => basename(line));
    for (const [what, words] of Object.entries(seldom)) {
      const holders = filesWith(words);
      expect(holders, `${what} is in the bundle`).to.have.length.above(0);
      const loaded = bundle.filter((name) => holders.includes(name));
      expect(loaded, `${what} is for those who use it`).to.deep.equal([]);
    }
  });

  /** Large packages that few starts need, by words of theirs that stay in a bundle. */
  const seldom = {
    dagre: 'network-simplex',
    'the MCP SDK': 'StreamableHTTPServerTransport',
    'the ACP SDK': 'terminal/wait_for_exit',
    formidable: 'FormidableError',
  };
  function filesWith(words: string): readonly string[] {
    const folder = dirname(command);
    return readdirSync(folder).filter(
      (name) => name.endsWith('.js') && readFileSync(join(folder, name), 'utf8').includes(words),
    );
  }
});
