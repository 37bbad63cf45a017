import { expect } from 'chai';
import { getPriority } from 'node:os';
import { ChildProcessError, processTable, startChild } from '../../../actors/engines/process.js';
import { freshSpawnId, node, sh, start } from './child-fixture.js';
import { isAlive } from '../../helpers/is-alive.js';

describe('startChild', () => {
  it('writes the prompt to stdin, reads the answer and notes intent before the pid', async () => {
    // It waits for its prompt, so it lives when its start time is read
    const { child, notes } = await start('cat', []);
    child.write('Hello, Grüße');
    child.end();
    const result = await child.done;
    expect(result).to.deep.equal({
      exitCode: 0,
      signal: null,
      stdout: 'Hello, Grüße',
      stderr: '',
      truncated: false,
      ended: null,
    });
    expect(notes[0]).to.have.all.keys('spawnId', 'tokenHash', 'machine', 'boot');
    expect(notes[1]).to.include({ spawnId: notes[0]?.spawnId, tokenHash: 'hash', pid: child.pid });
    expect(notes[1]?.startTime).to.match(/^\S.*\d$/);
  });

  it('does not start a child whose intent could not be written', async () => {
    let pid: number | undefined;
    const failing = sh('sleep 60', {
      note: (note) => {
        pid = note.pid;
        return Promise.reject(new Error('the disk is full'));
      },
    });
    expect(await rejection(failing)).to.have.property('message', 'the disk is full');
    expect(pid).to.equal(undefined);
  });

  it('ends a child whose pid could not be written down, because after a crash no one would know of it', async () => {
    let pid = 0;
    const failing = sh('sleep 60', {
      note: (note) => {
        pid = note.pid ?? 0;
        return note.pid === undefined ? Promise.resolve() : Promise.reject(new Error('the disk is full'));
      },
    });
    expect(await rejection(failing)).to.have.property('message', 'the disk is full');
    expect(pid).to.be.greaterThan(1);
    expect(await isAlive(pid)).to.equal(false);
  });

  it('says in a sentence that a program could not be started', async () => {
    const error = await rejection(start('/no/such/program', []));
    expect(error)
      .to.be.instanceOf(ChildProcessError)
      .and.include({ code: 'NOT_STARTED', message: 'Could not start "/no/such/program": ENOENT.' });
  });

  it('starts nothing once it was aborted', async () => {
    const error = await rejection(
      startChild('true', [], {
        cwd: '/',
        env: {},
        silenceMs: 1000,
        deadlineMs: 1000,
        spawnId: freshSpawnId(),
        tokenHash: null,
        signal: AbortSignal.abort(),
        note: () => {
          throw new Error('was noted');
        },
      }),
    );
    expect(error).to.include({ code: 'INTERRUPTED' });
  });

  it('gives the child nothing of our own environment but a few basics', async () => {
    process.env['SVC_CANARY_SECRET'] = 'canary-4711';
    try {
      const { child } = await sh('env', { env: { SVC_SESSION_ID: 's1' } });
      const { stdout } = await child.done;
      expect(stdout)
        .to.include('SVC_SESSION_ID=s1')
        .and.include('SVC_SPAWN_ID=')
        .and.include(`PATH=${process.env['PATH']}`);
      expect(stdout).to.not.include('canary-4711');
    } finally {
      delete process.env['SVC_CANARY_SECRET'];
    }
  });

  it('runs the child nicer than ourselves, in a group of its own', async () => {
    const { child, saw, abort } = await sh('echo ready; read line');
    await saw('ready');
    expect(getPriority(child.pid)).to.be.greaterThan(getPriority(process.pid));
    expect(await processTable().members(child.pid)).to.include(child.pid);
    abort();
    await child.done;
  });

  it('survives a child that never reads its prompt', async () => {
    const { child } = await sh('exec 0<&-; echo done', { stdin: 'x'.repeat(4 * 1024 * 1024) });
    expect(await child.done).to.include({ exitCode: 0, stdout: 'done\n' });
  });

  it('takes a conversation line by line', async () => {
    const { child, saw } = await sh('while read line; do echo "got $line"; done');
    child.write('one\n');
    await saw('got one');
    child.write('two\n');
    await saw('got two');
    child.end();
    child.write('too late\n');
    expect((await child.done).stdout).to.equal('got one\ngot two\n');
  });

  it('joins characters that chunks cut in two, and replaces invalid bytes', async () => {
    const chunks: string[] = [];
    const { child } = await node(
      `
      const bytes = Buffer.from('aä€😀z');
      (async () => {
        for (const byte of bytes) await new Promise((done) => process.stdout.write(Buffer.of(byte), () => setTimeout(done, 3)));
        process.stdout.write(Buffer.of(0xff, 0x41, 0xe2, 0x82));
      })();
    `,
      { onStdout: (chunk) => void chunks.push(chunk) },
    );
    expect((await child.done).stdout).to.equal('aä€😀z\ufffdA\ufffd');
    expect(chunks.join('')).to.equal('aä€😀z\ufffdA\ufffd');
  });

  it('keeps the beginning of too long an answer, whole characters only', async () => {
    const { child } = await sh('printf "äääää"', { outputBytesMax: 5 });
    expect(await child.done).to.include({ stdout: 'ää', truncated: true, ended: null });
  });

  it('keeps the end of long error output, where the reason stands', async () => {
    const { child } = await sh('seq 1 200 >&2; echo "the reason" >&2', { outputBytesMax: 100 });
    const { stderr } = await child.done;
    expect(stderr).to.match(/the reason\n$/);
    expect(Buffer.byteLength(stderr)).to.be.at.most(100);
  });

  it('ends a flood of a gigabyte early and grows by less than 50 MB', async () => {
    const before = process.memoryUsage.rss();
    const { child } = await sh('yes 0123456789012345678901234567890123456789 | head -c 1073741824');
    const result = await child.done;
    expect(result).to.include({ ended: 'flood', truncated: true });
    expect(Buffer.byteLength(result.stdout)).to.equal(1024 * 1024);
    expect(process.memoryUsage.rss() - before).to.be.lessThan(50 * 1024 * 1024);
  });

  it('hears no more of a child once its listener threw: what follows was kept until the child was gone, hundreds of MB of it', async () => {
    let heard = 0;
    const { child } = await node(
      'const piece = "x".repeat(65536); const pour = () => process.stdout.write(piece, () => setImmediate(pour)); pour();',
      {
        outputBytesMax: 2 ** 30,
        onStdout: () => {
          heard += 1;
          throw new Error('enough');
        },
      },
    );
    expect(await child.done.then(() => 'done', String)).to.include('enough');
    expect(heard).to.equal(1);
  });

  it('fails the result, not the process, when a listener throws', async () => {
    const { child } = await sh('echo hello; sleep 60', {
      onStdout: () => {
        throw new Error('a bug in an engine');
      },
    });
    expect(await rejection(child.done)).to.have.property('message', 'a bug in an engine');
    expect(await isAlive(child.pid)).to.equal(false);
  });
});

describe('the watchdogs of a child', () => {
  it('end one that is silent for too long', async () => {
    const { child } = await sh('echo hello; sleep 60', { silenceMs: 100 });
    expect(await child.done).to.include({ ended: 'silence', stdout: 'hello\n' });
  });

  it('only report silence when asked to, once per silence', async () => {
    let reports = 0;
    const { child } = await sh('read line; echo "$line"', {
      silenceMs: 50,
      silence: 'report',
      onSilence: () => {
        reports += 1;
        setTimeout(() => child.write('go\n'), 120);
      },
    });
    expect(await child.done).to.include({ ended: null, stdout: 'go\n' });
    expect(reports).to.equal(1);
  });

  it('end one at its deadline although it keeps talking', async () => {
    const { child } = await sh('while :; do echo tick; sleep 0.02; done', { deadlineMs: 200 });
    const result = await child.done;
    expect(result.ended).to.equal('deadline');
    expect(result.stdout).to.match(/^tick\n/);
  });
});

describe('the end of a child', () => {
  it('is SIGINT first, so that an agent can write down its half', async () => {
    const { child, saw, abort } = await node(`
      process.on('SIGINT', () => { console.log('half'); process.exit(0); });
      console.log('ready'); setInterval(() => {}, 1000);
    `);
    await saw('ready');
    abort();
    expect(await child.done).to.include({ ended: 'interrupted', exitCode: 0, stdout: 'ready\nhalf\n' });
  });

  it('is SIGKILL for one that ignores SIGINT and SIGTERM', async () => {
    const { child, saw, abort } = await node(`
      process.on('SIGINT', () => console.log('no')); process.on('SIGTERM', () => console.log('never'));
      console.log('ready'); setInterval(() => {}, 1000);
    `);
    await saw('ready');
    abort();
    expect(await child.done).to.include({
      ended: 'interrupted',
      signal: 'SIGKILL',
      stdout: 'ready\nno\nnever\n',
    });
  });

  it('takes the whole group with it', async () => {
    const { child, saw, abort } = await sh('sleep 60 & echo "child $!."; wait');
    await saw('.');
    abort();
    const { stdout } = await child.done;
    expect(await isAlive(Number(/child (\d+)/.exec(stdout)?.[1]))).to.equal(false);
  });

  it('finds a grandchild that made a group of its own', async () => {
    const { child, saw, abort } = await sh(
      `setsid sh -c 'trap "" INT TERM; echo "stray $$."; while :; do sleep 1; done' & wait`,
    );
    await saw('.');
    abort();
    const { stdout } = await child.done;
    const stray = Number(/stray (\d+)/.exec(stdout)?.[1]);
    expect(stray).to.be.greaterThan(1);
    expect(await isAlive(stray)).to.equal(false);
  });

  it('ends what a finished program left running, strays that hold its output included', async () => {
    const { child } = await sh(
      `setsid sh -c 'echo "stray $$."; sleep 60' & sleep 60 & echo "left $!."; while ! kill -0 $! ; do :; done; sleep 0.1; exit 0`,
    );
    const { stdout, exitCode, ended } = await child.done;
    expect({ exitCode, ended }).to.deep.equal({ exitCode: 0, ended: null });
    for (const [, pid] of stdout.matchAll(/(?:stray|left) (\d+)\./g))
      expect(await isAlive(Number(pid))).to.equal(false);
  });

  it('is not taken for granted when no one can look', async () => {
    const real = processTable();
    let isBlind = false;
    const look = <Answer>(answer: () => Promise<Answer>): Promise<Answer> =>
      isBlind ? Promise.reject(new Error('too many open files')) : answer();
    const { child, saw, abort } = await sh('echo ready; read line', {
      table: {
        startTime: real.startTime,
        members: (id) => look(() => real.members(id)),
        marked: (id) => look(() => real.marked(id)),
      },
    });
    await saw('ready');
    isBlind = true;
    abort();
    expect(await rejection(child.done)).to.include({ code: 'NOT_ENDED', pid: child.pid });
    process.kill(-child.pid, 'SIGKILL');
  });

  it('is told with the pid when it cannot be confirmed', async () => {
    const real = processTable();
    const { child, saw, abort } = await sh('echo ready; sleep 60', {
      // a table in which one member of the group stays for ever, like a process that hangs in the kernel; no
      // machine has such a pid
      table: {
        ...real,
        startTime: real.startTime,
        members: () => Promise.resolve([4999999]),
        marked: () => Promise.resolve([4999999]),
      },
      graces: { interruptMs: 10, terminateMs: 10, confirmMs: 50 },
    });
    await saw('ready');
    abort();
    expect(await rejection(child.done)).to.include({ code: 'NOT_ENDED', pid: 4999999 });
  });
});

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('was not rejected');
    },
    (error: unknown) => error,
  );
}
