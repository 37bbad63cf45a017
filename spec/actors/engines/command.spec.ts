import { expect } from 'chai';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandEngine, promptWithTranscript } from '../../../actors/engines/command.js';
import { findExecutable } from '../../../actors/engines/executable.js';
import type { TurnMessage, TurnResult } from '../../../actors/engines/engine.js';
import { engineContract } from '../../../lib/testing/engine-contract.js';
import { freshFolder, start } from './child-fixture.js';

engineContract('commandEngine', {
  engine: () =>
    commandEngine({
      name: 'script',
      command: ['/bin/sh', '-c', 'echo "hello"; read word rest; if [ "$word" = sleep ]; then sleep 20; fi'],
    }),
  prompt: 'go\n',
  slowPrompt: 'sleep\n',
});

describe('commandEngine', () => {
  async function turn(
    script: string,
    prompt = 'hi',
    transcript: readonly TurnMessage[] = [],
  ): Promise<TurnResult> {
    const engine = commandEngine({
      name: 'script',
      command: ['/bin/sh', '-c', script],
      outputBytesMax: 1024,
    });
    return engine.turn(
      {
        sessionId: 's',
        turnId: 's:1',
        prompt,
        transcript,
        nativeId: null,
        model: null,
        effort: null,
        cwd: '/',
        env: {},
        deadlineMs: 60_000,
        silenceMs: 60_000,
      },
      {
        signal: new AbortController().signal,
        report: () => undefined,
        permission: () => Promise.resolve({ allow: true }),
        spawn: async (command, args, options) => (await start(command, args, options)).child,
      },
    );
  }

  it('passes the prompt on stdin as it is, a beginning dash included', async () => {
    expect(await turn('cat', '--help; rm -rf "$HOME"')).to.deep.equal({
      outcome: 'succeeded',
      text: '--help; rm -rf "$HOME"',
    });
  });

  it('fails with the last lines of the error output when the exit code is not 0', async () => {
    expect(await turn('echo half; seq 1 50 >&2; echo "no such model" >&2; exit 3')).to.deep.equal({
      outcome: 'failed',
      text: 'half',
      error: `/bin/sh exited with code 3. It said: ${[42, 43, 44, 45, 46, 47, 48, 49, 50].join('\n')}\nno such model`,
    });
  });

  it('does not take silence for an answer', async () => {
    expect(await turn('echo "  "; echo "why" >&2')).to.include({
      outcome: 'failed',
      error: '/bin/sh ended without a result. It said: why',
    });
  });

  it('fails when someone else ended the program', async () => {
    expect(await turn('kill -9 $$')).to.include({
      outcome: 'failed',
      error: '/bin/sh was ended by SIGKILL from outside.',
    });
  });

  it('fails a flood, and says when an answer was cut', async () => {
    expect(await turn('yes')).to.include({
      outcome: 'failed',
      error: '/bin/sh exceeded the output limit and was ended.',
    });
    const long = await turn('head -c 2000 /dev/zero | tr "\\0" x');
    expect(long.outcome).to.equal('succeeded');
    expect(long.text).to.equal(`${'x'.repeat(1024)}\n… (the rest was cut off)`);
  });

  it('says what is missing and what would repair it', async () => {
    expect(
      await commandEngine({ name: 'llama', command: ['no-such-program', 'run'] }).discover(),
    ).to.deep.equal({
      available: false,
      reason: 'The program "no-such-program" was not found on the PATH.',
      remedy: 'Install "no-such-program", or set engines.llama.command to a program of this machine.',
      defaultModel: null,
      models: [],
    });
    expect(await commandEngine({ name: 'shell', command: ['/bin/sh'] }).discover()).to.deep.equal({
      available: true,
      executable: '/bin/sh',
      defaultModel: null,
      models: [],
    });
  });

  it('needs a command and a proper name', () => {
    expect(() => commandEngine({ name: 'Llama', command: ['sh'] })).to.throw('must match');
    expect(() => commandEngine({ name: 'llama', command: [''] })).to.throw('needs a command');
  });
});

describe('promptWithTranscript', () => {
  const said = (n: number): TurnMessage => ({
    role: n % 2 === 0 ? 'user' : 'assistant',
    content: `message ${n}`,
  });

  it('is the prompt alone on the first turn', () => {
    expect(promptWithTranscript('hi', [], 1000)).to.equal('hi');
    expect(promptWithTranscript('hi', [said(0)], 0)).to.equal('hi');
  });

  it('leaves out the oldest messages when they do not fit and says how many', () => {
    expect(promptWithTranscript('next', [0, 1, 2, 3].map(said), 45)).to.equal(
      '--- conversation so far, oldest first ---\n(2 earlier messages left out)\n\n[user]\nmessage 2\n\n[assistant]\nmessage 3\n\n--- new message ---\nnext',
    );
  });

  it('keeps the end of a last message that is too long by itself', () => {
    const text = promptWithTranscript(
      'next',
      [{ role: 'assistant', content: `${'x'.repeat(500)} the end` }],
      20,
    );
    expect(text).to.include('[assistant]\n…xxxxxxxxxxxx the end\n');
  });
});

describe('findExecutable', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await freshFolder();
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('finds what a shell would find: an executable file, first folder first', async () => {
    for (const name of ['a', 'b']) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, 'tool'), '#!/bin/sh\n');
    }
    await mkdir(join(folder, 'a', 'folder'));
    await chmod(join(folder, 'b', 'tool'), 0o755);
    const path = `${join(folder, 'a')}:relative:${join(folder, 'b')}`;
    expect(await findExecutable('tool', path)).to.equal(join(folder, 'b', 'tool'));
    expect(await findExecutable('folder', path)).to.equal(undefined);
    expect(await findExecutable('b/tool', path)).to.equal(undefined);
    expect(await findExecutable(join(folder, 'a', 'tool'))).to.equal(undefined);
  });
});
