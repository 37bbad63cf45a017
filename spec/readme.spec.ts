import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InstalledPackage } from './helpers/installed.js';
import { root } from './house/sources.js';
import { Troupe } from './lib/cli/troupe.js';
import { poll } from './lib/gateway/fixture.js';

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
    let home: string;
    before(async () => {
      troupe = await Troupe.create();
      home = troupe.home('.svc'); // the usual home of this person: nobody who reads a README has set SVC_HOME
      bin = join(troupe.folder, 'bin');
      await mkdir(bin);
      // Stands for the npx of a checkout: the package's own command.
      await writeFile(join(bin, 'npx'), `#!/bin/sh\n[ "$1" = troupe ] || exit 1\nshift\nexec "${process.execPath}" "${join(root, 'dist/lib/cli/main.js')}" "$@"\n`);
      await chmod(join(bin, 'npx'), 0o755);
    });
    after(() => troupe.clear());

    /** Runs a block as a newcomer would paste it; the gateway runs, as `npm start` of the text before has it. */
    async function paste(code: string): Promise<string> {
      if ((await troupe.run('status', '--home', home)).code !== 0) await troupe.start(home);
      const shell = spawn('bash', ['-euo', 'pipefail', '-c', code], { cwd: troupe.folder, stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: troupe.folder } });
      let said = '';
      for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (piece) => { said += String(piece); });
      const [exit] = await once(shell, 'close') as [number | null];
      expect(exit, said).to.equal(0);
      return said;
    }

    it('does what it says: works, survives kill -9, and goes on', async () => {
      const [work = '', kill = '', look = '', http = '', company = '', workflow = '', ...more] = runnable('sh').map(({ code }) => code);
      expect(more, 'a new sample needs its expectation here').to.deep.equal([]);
      expect(await paste(work)).to.match(/Added TRP-1: water the plants\.[^]*1\n2\n3\n[^]*TRP-1 +backlog/);
      await paste(kill);
      // Right after the start the gateway is still ending what the killed one left: look again until it has.
      let seen = await paste(look);
      for (let looks = 1; looks < 20 && !/interrupted/.test(seen); looks += 1) seen = await paste(look);
      expect(seen).to.match(/interrupted +clerk .*count to 60/).and.match(/idle +clerk .*count to 3/).and.match(/TRP-1 +backlog .*water the plants/);
      expect(await paste(http)).to.match(/"id":"TRP-2"[^]*"status":"running"[^]*"workItems":\[/);
      expect(await paste(`${http}${company}`)).to.match(/"displayName":"Ann"[^]*"employee":"ann","engine":"clerk"/);
      expect(await paste(`${http}${workflow}`)).to.match(/"status":"parked"[^]*"gateDecisions":\[\{[^}]*"decision":"approve"/);
      await poll(() => troupe.run('list', 'todos', '--home', home), ({ out }) => out.includes('water the ferns'));
    });
  });

  // Packed and installed, in the TypeScript that it is written in: what ran as JavaScript within the package once did not compile for anybody else.
  it('embeds as it says', async () => {
    const project = await InstalledPackage.create();
    const outputs: string[] = [];
    try {
      const samples = runnable('ts').map(({ code }) => code);
      expect(await project.compile(Object.fromEntries(samples.map((code, index) => [`sample-${index}.ts`, code])))).to.equal('');
      for (const index of samples.keys()) outputs.push((await project.run(`sample-${index}.js`)).said);
    } finally {
      await project.clear();
    }
    expect(outputs).to.deep.equal(['{ state: \'open\', total: 2 }\n', 'user: Hello?\nassistant: Hello?\n']);
  });
});
