import { expect } from 'chai';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { engineLine, hint } from '../../../lib/cli/command-line.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { Troupe } from './troupe.js';

describe('troupe run, list and show', () => {
  let troupe: Troupe;
  before(async () => {
    troupe = await Troupe.create();
    await mkdir(troupe.home());
    // Says what it was given, in two pieces, with an escape sequence that must not reach a terminal.
    const parrot = join(troupe.folder, 'parrot');
    await writeFile(parrot, '#!/bin/sh\nprintf "I heard: \\033[31m"\ncat\n');
    await chmod(parrot, 0o755);
    await writeFile(
      join(troupe.home(), 'config.yaml'),
      `engines:\n  parrot:\n    command: [${parrot}]\n  pwd:\n    command: [pwd]\n  broken:\n    command: [sh, -c, "echo it went wrong >&2; exit 3"]\n  ghost:\n    command: [no-such-program-anywhere]\n`,
    );
    await troupe.start();
  });
  after(() => troupe.clear());
  const at = (...words: string[]): string[] => [...words, '--home', troupe.home()];
  const sessionIn = (err: string): string =>
    /session ([\w-]{36})/.exec(err)?.[1] ?? expect.fail(`no session in: ${err}`);

  it('says so plainly while there is nothing yet', async () => {
    expect((await troupe.run(...at('list'))).out).to.match(/No sessions yet\. Open one with: troupe run/);
    expect((await troupe.run(...at('list', 'todos'))).out).to.match(/No todos yet/);
  });

  it('hints at commands that work when they are pasted: for this home, and begun alike', async () => {
    // They said `troupe start` whatever home was meant; pasted, that started another.
    expect((await troupe.run(...at('list'))).out).to.include(`troupe run --home ${troupe.home()} help`);
    const elsewhere = troupe.home("it's mine");
    expect((await troupe.run('status', '--home', elsewhere)).err).to.equal(
      `No gateway runs at ${elsewhere}. Start one with: troupe start --home '${elsewhere.replace("'", "'\\''")}'\n`,
    );
    expect((await troupe.run('status', '--instance', 'lab')).err).to.match(
      /Start one with: troupe start --instance lab\n$/,
    );
    expect((await troupe.run('status')).err).to.match(/Start one with: troupe start\n$/);
    const layout = layoutOf({ instance: 'lab', userFolder: '/home/ann' });
    expect(hint(layout, 'show', 's1', { npm_command: 'exec' })).to.equal(
      // Without --no-install an outsider's package of that name ran, where it was pasted into another folder.
      'npx --no-install troupe show --home /home/ann/.svc-lab s1',
    );
  });

  it('names the engines that are here first, and apart those that are not', async () => {
    expect(
      engineLine(
        [
          { name: 'far', available: false },
          { name: 'near', available: true },
          { name: 'clerk', available: true },
        ],
        'clerk',
      ),
    ).to.equal('near, clerk (default); not found: far');
    expect(engineLine([{ name: 'far', available: false }], 'far')).to.equal(
      'none; not found: far (the default!)',
    );
    expect((await troupe.run(...at('status'))).out).to.match(
      /engines +parrot, pwd, broken, clerk \(default\); not found: .*ghost/,
    );
  });

  // The end of the turn that a message interrupts was taken for the end of its own: the answer was the question.
  it('waits for its own turn where it interrupts another', async () => {
    for (let n = 0; n < 3; n += 1) {
      const { out } = await troupe.run(...at('run', '--detach', 'count to 60 every 1 seconds'));
      expect(await troupe.run(...at('run', '--in', out.trim(), 'count to 2'))).to.include({
        code: 0,
        out: '1\n2\nCounted.\n',
      });
    }
  });

  // An agent used to work in an empty folder, without the project that it was asked about.
  it('works where the person stands, in another folder by --cwd, and never in the home', async () => {
    const project = join(troupe.folder, 'project');
    await mkdir(project);
    const where = async (...words: string[]): Promise<string> =>
      (await troupe.run(...at('run', '--engine', 'pwd', 'where?', ...words))).out;
    expect(await where()).to.equal(`${troupe.folder}\n`);
    expect(await where('--cwd', 'project')).to.equal(`${project}\n`);
    expect(await where('--own-folder')).to.match(/\/home\/work\/[0-9a-f-]+\n$/);
    const inside = await troupe.run(...at('run', 'x', '--cwd', troupe.home()));
    expect(inside).to.include({ code: 6 });
    expect(inside.err).to.match(/inside the gateway's own home/);
    expect((await troupe.run(...at('run', 'x', '--cwd', 'nowhere'))).err).to.match(/an existing folder/);
  });

  it('prints the answer and nothing else on stdout, and how to go on on stderr', async () => {
    const ran = await troupe.run(...at('run', 'count to 3'));
    expect(ran).to.include({ code: 0, out: '1\n2\n3\nCounted.\n' });
    const session = sessionIn(ran.err);
    const again = await troupe.run(...at('run', '--in', session, 'add "feed the cat"'));
    expect(again).to.include({ code: 0 });
    expect(again.out).to.match(/^Added TRP-\d+: feed the cat\.\n$/);
    const shown = (await troupe.run(...at('show', session))).out;
    expect(shown).to.match(
      /user:\n {2}count to 3[^]*assistant:\n {2}1\n {2}2\n {2}3[^]*user:\n {2}add "feed the cat"/,
    );
    const todo = /TRP-\d+/.exec(again.out)?.[0] ?? '';
    expect((await troupe.run(...at('show', todo))).out).to.match(
      new RegExp(`^${todo} {2}feed the cat {2}\\[backlog\\]`),
    );
  });

  it('keeps terminal escapes of agents away from the terminal', async () => {
    const ran = await troupe.run(...at('run', '--engine', 'parrot', 'hello'));
    expect(ran).to.include({ code: 0, out: 'I heard: [31mhello\n' });
    expect((await troupe.run(...at('show', sessionIn(ran.err)))).out)
      .to.include('I heard: [31mhello')
      .and.not.include('\u001b');
  });

  it('tells a failed turn from a refusal, by word and exit code', async () => {
    const failed = await troupe.run(...at('run', '--engine', 'broken', 'x'));
    expect(failed.code).to.equal(7);
    expect(failed.err)
      .to.match(/The turn failed: [^]*it went wrong/)
      .and.match(/troupe show/);
    const unavailable = await troupe.run(...at('run', '--engine', 'ghost', 'x'));
    expect(unavailable.code).to.equal(7);
    expect(unavailable.err).to.match(/no-such-program-anywhere/);
    const refused = await troupe.run(...at('run', '--engine', 'nobody', 'x'));
    expect(refused.code).to.equal(6);
    expect(refused.err).to.match(/unknown engine "nobody".*UNKNOWN_ENGINE/);
    expect(await troupe.run(...at('show', 'absent'))).to.include({
      code: 6,
      err: 'There is no session or todo absent. "troupe list" and "troupe list todos" show valid ids.\n',
    });
  });

  // It asked for the list instead, and fell over it: "Cannot read properties of undefined".
  it('takes nothing for an id that would name another path', async () => {
    for (const id of ['', ' ', '.', '..']) {
      const { code, err } = await troupe.run(...at('show', id));
      expect({ id, code }).to.deep.equal({ id, code: 2 });
      expect(err).to.match(/Invalid id .*\. "troupe list"/);
    }
  });

  it('leaves the session at work on Ctrl-C and says how to read it', async () => {
    const running = troupe.begin(...at('run', 'count to 600 every 1 seconds'));
    await running.seen(/2\n/);
    const left = await running.kill('SIGINT');
    expect(left.code).to.equal(130);
    const session = /troupe show --home \S+ ([\w-]{36})/.exec(left.err)?.[1] ?? expect.fail(left.err);
    const shown = await troupe.run(...at('show', session, '--json'));
    expect(JSON.parse(shown.out)).to.include({ status: 'running' });
  });

  it('hands out an id at once with --detach', async () => {
    const { code, out } = await troupe.run(...at('run', '--detach', 'help'));
    expect(code).to.equal(0);
    expect(out.trim()).to.match(/^[\w-]{36}$/);
    expect((await troupe.run(...at('list', '--json'))).out).to.include(out.trim());
  });

  it('says that the session is kept when the gateway goes away', async () => {
    const running = troupe.begin(...at('run', 'count to 600 every 1 seconds'));
    await running.seen(/1\n/);
    const { pid } = await troupe.announcement();
    process.kill(pid ?? expect.fail('no pid'), 'SIGKILL');
    const left = await running.ended;
    expect(left.code).to.equal(3);
    expect(left.err).to.match(/The session is kept/);
    await troupe.start();
    const session = /troupe show --home \S+ ([\w-]{36})/.exec(left.err)?.[1] ?? '';
    expect(JSON.parse((await troupe.run(...at('show', session, '--json'))).out)).to.include({
      status: 'interrupted',
    });
  });
});
