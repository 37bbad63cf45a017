import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './house/sources.js';
import { Troupe } from './lib/cli/troupe.js';

/** What the README promises is done here, in its order: a README that lies is worse than none. */
describe('the README', () => {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const blocks = [...text.matchAll(/^```(\w+)( run)?\n([^]*?)^```$/gm)].map(([, language = '', marked, code = '']) => ({ language, runs: marked !== undefined, code }));
  const runnable = (language: string) => blocks.filter((block) => block.runs && block.language === language);

  it('marks every sample as run, but for the commands that install and test the package itself', () => {
    const unmarked = blocks.filter(({ language, runs }) => !runs && ['sh', 'ts'].includes(language)).map(({ code }) => code.trim());
    expect(unmarked).to.deep.equal(['npm ci && npm start', 'npm cit']);
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    expect(Object.keys(scripts)).to.include.members(['start', 'test', 'bench', 'charts']);
    expect(runnable('sh').length).to.be.greaterThan(2);
    expect(runnable('ts').length).to.be.greaterThan(1);
  });

  it('points to files that exist', () => {
    for (const [, path = ''] of text.matchAll(/\]\((?!https?:)([^)#]+)\)/g)) expect(() => readFileSync(join(root, path)), path).not.to.throw();
  });

  describe('in the terminal', () => {
    let troupe: Troupe;
    let bin: string;
    before(async () => {
      troupe = await Troupe.create();
      bin = join(troupe.folder, 'bin');
      await mkdir(bin);
      // Stands for the npx of a checkout: the package's own command.
      await writeFile(join(bin, 'npx'), `#!/bin/sh\n[ "$1" = troupe ] || exit 1\nshift\nexec "${process.execPath}" "${join(root, 'dist/lib/cli/main.js')}" "$@"\n`);
      await chmod(join(bin, 'npx'), 0o755);
    });
    after(() => troupe.clear());

    /** Runs a block as a newcomer would paste it; the gateway runs, as `npm start` of the text before has it. */
    async function paste(code: string): Promise<string> {
      if ((await troupe.run('status', '--home', troupe.home())).code !== 0) await troupe.start();
      const shell = spawn('bash', ['-euo', 'pipefail', '-c', code], { cwd: troupe.folder, stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: troupe.folder, SVC_HOME: troupe.home() } });
      let said = '';
      for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (piece) => { said += String(piece); });
      const [exit] = await once(shell, 'close') as [number | null];
      expect(exit, said).to.equal(0);
      return said;
    }

    it('does what it says: works, survives kill -9, and goes on', async () => {
      const [work = '', kill = '', look = '', http = '', ...more] = runnable('sh').map(({ code }) => code);
      expect(more, 'a new sample needs its expectation here').to.deep.equal([]);
      expect(await paste(work)).to.match(/Added TRP-1: water the plants\.[^]*1\n2\n3\n[^]*TRP-1 +backlog/);
      await paste(kill);
      // Right after the start the gateway is still ending what the killed one left: look again until it has.
      let seen = await paste(look);
      for (let looks = 1; looks < 20 && !/interrupted/.test(seen); looks += 1) seen = await paste(look);
      expect(seen).to.match(/interrupted +clerk .*count to 60/).and.match(/idle +clerk .*count to 3/).and.match(/TRP-1 +backlog .*water the plants/);
      expect(await paste(http)).to.match(/"id":"TRP-2"[^]*"status":"running"[^]*"workItems":\[/);
    });
  });

  it('embeds as it says', async () => {
    const outputs: string[] = [];
    const folder = join(root, 'dist', 'readme');
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    try {
      for (const [index, { code }] of runnable('ts').entries()) {
        // Within the package, so that it may import itself by name. The samples are plain enough to be JavaScript.
        const file = join(folder, `sample-${index}.mjs`);
        await writeFile(file, code);
        const child = spawn(process.execPath, [file], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
        let said = '';
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => { said += String(piece); });
        const [exit] = await once(child, 'close') as [number | null];
        expect(exit, said).to.equal(0);
        outputs.push(said);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    expect(outputs).to.deep.equal(['{ state: \'open\', total: 2 }\n', 'user: Hello?\nassistant: Hello?\n']);
  });
});
