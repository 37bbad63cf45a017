import { expect } from 'chai';
import { build } from 'esbuild';
import { gzipSync } from 'node:zlib';
import { root } from '../../house/sources.js';

/** Pages load it: what it weighs, and that nothing in it needs Node, is part of its promise. */
describe('troupe/client in a browser', () => {
  it('weighs at most 15 KB as it is sent, and needs nothing of Node', async () => {
    const { outputFiles, metafile } = await build({
      absWorkingDir: root,
      entryPoints: ['dist/lib/client/index.js'],
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      write: false,
      metafile: true,
    });
    const [file] = outputFiles;
    expect(gzipSync(file?.contents ?? '').length).to.be.within(1_000, 15_000);
    expect(
      Object.keys(metafile.inputs).filter(
        (name) => !/^(?:dist\/lib\/client\/|node_modules\/(?:openapi-fetch|ws\/browser))/.test(name),
      ),
    ).to.deep.equal([]);
    expect(file?.text).not.to.match(/\bnode:|\brequire\(/);
  });
});
