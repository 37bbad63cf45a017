import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../../../house/sources.js';

/**
 * XState is a peer: a host brings its own. The driver relies on members of it that are internal, so that what is
 * asked of it is asked of the lowest version that the range allows, too; the newest one is installed here.
 */
describe('the lowest XState that a host may bring', () => {
  const require = createRequire(import.meta.url);

  it('is the one that is tried here', async () => {
    const { peerDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      peerDependencies: { xstate: string };
    };
    const lowest = require('xstate-lowest/package.json') as { version: string };
    expect(peerDependencies.xstate).to.equal(`^${lowest.version}`);
  });

  it('drives machines as the newest does', async () => {
    const specs = ['./step.spec.js', '../effects.spec.js'].map((name) => new URL(name, import.meta.url).href);
    const loader = `data:text/javascript,${encodeURIComponent(`
      export const resolve = (specifier, context, next) =>
        next(specifier.replace(/^xstate(?=$|\\/)/, 'xstate-lowest'), context);`)}`;
    const hook = `data:text/javascript,${encodeURIComponent(`
      import { register } from 'node:module';
      register(${JSON.stringify(loader)});`)}`;
    // Mocha loads specs by require(), which asks no hook: they are imported here, and it only runs them.
    const run = `
      import { createRequire } from 'node:module';
      const { default: Mocha } = createRequire(${JSON.stringify(import.meta.url)})('mocha');
      const mocha = new Mocha({ timeout: 60_000, reporter: 'dot' });
      mocha.suite.emit('pre-require', globalThis, '', mocha);
      for (const spec of ${JSON.stringify(specs)}) await import(spec);
      mocha.run((failures) => process.exit(failures === 0 ? 0 : 1));`;
    const child = spawn(process.execPath, ['--import', hook, '--input-type=module', '-e', run], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (piece) => (output += String(piece)));
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code, output).to.equal(0);
    expect(output).to.match(/(?:[3-9]\d|\d{3}) passing/);
  });
});
