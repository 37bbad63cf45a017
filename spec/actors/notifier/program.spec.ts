import { expect } from 'chai';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageEffect } from '../../../actors/notifier/effect.js';
import type { NoticeInput, NoticeOutput } from '../../../machines/notifier/context.js';
import { app } from '../effect-fixture.js';

/** The operator's program as a destination: whatever it does, the notifier hears of it and goes on. */
describe('the program that is notified', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'notified-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function run(script: string | undefined, timeoutSeconds = 60): Promise<NoticeOutput> {
    const program = join(folder, 'tell');
    await rm(program, { force: true });
    if (script !== undefined) {
      await writeFile(program, `#!/bin/sh\n${script}\n`);
      await chmod(program, 0o755);
    }
    const effect = messageEffect({
      links: { opened: () => Promise.resolve(undefined) } as never,
      settings: () => ({ command: [program, '--loud'], timeoutSeconds, to: [] }),
      folder,
      redact: (value) =>
        JSON.parse(JSON.stringify(value).replaceAll('hunter2', '[redacted]')) as typeof value,
    });
    const { context } = app();
    const row = {
      ...{ n: 1, kind: 'work-item', id: 'TRP-1', waitingId: 'approval', what: 'approval', on: 'operator' },
      ...{ title: 'May it sail?', text: 'The word is hunter2', since: 1_700_000_000_000, until: null },
      ...{ link: 'http://127.0.0.1/#/inbox/x', choices: [], digest: 'secret of the button' },
    };
    const input: NoticeInput = {
      destination: { type: 'command' },
      job: { type: 'send', message: 1, notices: [1], ended: [], messageId: null },
      key: 'command.1.send',
    };
    return effect.run(input, { ...context, rows: () => Promise.resolve([row]) as never });
  }
  const reasonOf = (output: NoticeOutput): string => (output.outcome === 'failed' ? output.reason : 'sent');

  it('reads one line of JSON, without secrets, in its arguments and variables neither', async () => {
    process.env['NOTIFIED_SECRET'] = 'hunter3';
    try {
      expect(await run('cat > read; env > env; printf %s "$*" > args')).to.deep.equal({
        outcome: 'sent',
        messageId: null,
      });
    } finally {
      delete process.env['NOTIFIED_SECRET'];
    }
    const read = await readFile(join(folder, 'read'), 'utf8');
    expect(JSON.parse(read)).to.deep.include({ event: 'waiting', key: 'command.1.send' });
    expect(read).to.include('The word is [redacted]').and.to.not.include('secret of the button');
    expect(await readFile(join(folder, 'env'), 'utf8')).to.not.include('hunter3');
    expect(await readFile(join(folder, 'args'), 'utf8')).to.equal('--loud');
  });

  it('may end without reading', async () => {
    expect(await run('exec <&-; exit 0')).to.deep.equal({ outcome: 'sent', messageId: null });
  });

  it('that fails is quoted, without secrets', async () => {
    const reason = reasonOf(await run('cat > /dev/null; echo "no, hunter2 is wrong" >&2; exit 3'));
    expect(reason).to.equal('The program ended with 3: no, [redacted] is wrong');
  });

  it('that hangs is ended', async () => {
    expect(reasonOf(await run('exec sleep 600', 1))).to.match(/^The program took longer than 1 s/);
  });

  it('that writes without end is ended', async () => {
    expect(reasonOf(await run('exec cat /dev/zero'))).to.match(/^The program ended with /);
  });

  it('that is not there is an error, which the notifier tries again', async () => {
    const error = await run(undefined).then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(error?.message).to.match(/^Could not start .*ENOENT/);
  });
});
