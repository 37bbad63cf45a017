import { expect } from 'chai';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { access, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { isWithin } from '../../actors/sandbox/levels.js';
import { command } from '../helpers/command.js';
import { Running, type Ran } from '../lib/cli/troupe.js';
import type { Case, Subject } from './cases.js';
import { settled, startGateway, type Gateway } from './real-gateway.js';

/**
 * What a person with a terminal and a repository does with a real agent program: `troupe run` in a pseudo-terminal,
 * against a gateway as people run it.
 */
export const personCases: readonly Case[] = [
  [
    'asked in a terminal',
    (subject) =>
      inRepository(subject, async ({ gateway, cwd, type }) => {
        const denied = await type([`[[tool ${subject.shell}]]`], 'n\n');
        expect(denied.asked, denied.out).to.equal(true);
        expect(await isThere(join(cwd, 'made')), 'it ran though the answer was no').to.equal(false);
        expect(denied.out).to.not.include('made-42');

        const allowed = await type([`[[tool ${subject.shell}]]`], 'y\n', async () =>
          expect(await isThere(join(cwd, 'made')), 'it ran before the answer').to.equal(false),
        );
        expect(allowed.asked, allowed.out).to.equal(true);
        expect(allowed.code, allowed.out).to.equal(0);
        expect(allowed.out).to.include('tool said').and.include('made-42');
        expect(await readFile(join(cwd, 'made'), 'utf8')).to.equal('made-42');
        const { messages } = await settled(gateway.operator, sessionIn(allowed), 'idle');
        const kept = messages.find(({ meta }) => meta?.kind === 'tool');
        expect(JSON.stringify(kept), JSON.stringify(messages)).to.include('made-42');
        return 'not run on "n", run on "y", kept';
      }),
  ],
  [
    'instructions of the project',
    (subject) =>
      inRepository(subject, async ({ cwd, git, type }) => {
        if (subject.instructions === undefined) return 'no file of instructions is known';
        const codeword = randomUUID();
        const answered = async (): Promise<void> => {
          const { code, out } = await type(['[[say hello there]]']);
          expect(code, out).to.equal(0);
          expect(out).to.include('hello there');
        };
        await answered();
        expect(subject.model.bodies.join('')).to.not.include(codeword);
        await writeFile(join(cwd, subject.instructions), `The codeword of this project is ${codeword}.\n`);
        git('add', '.');
        git('commit', '-m', 'instruct');
        await answered();
        const told = subject.model.bodies.filter((body) => body.includes(codeword));
        expect(told.length, `requests with what ${subject.instructions} says`).to.be.greaterThan(0);
        return `${subject.instructions} stands in ${told.length} ${told.length === 1 ? 'request' : 'requests'}`;
      }),
  ],
  [
    'image attached',
    (subject) =>
      inRepository(subject, async ({ gateway: { operator }, cwd }) => {
        if (subject.engine.seesImages !== true) return 'shows its model none';
        const content = picture().toString('base64');
        const uploaded = await operator.post('/api/files', { content, filename: 'noise.png' });
        expect(uploaded.status, uploaded.text).to.be.within(200, 201);
        const { id: file } = uploaded.body as { id: string };
        const prompt = '[[say a picture]]';
        const opened = await operator.post('/api/sessions', { prompt, cwd, attachments: [file] });
        expect(opened.status, opened.text).to.equal(201);
        const { messages } = await settled(operator, (opened.body as { id: string }).id, 'idle');
        expect(messages.at(-1)?.content).to.equal('a picture');
        const shown = subject.model.bodies.filter((body) => body.includes(content));
        expect(shown.length, 'requests with the bytes of the picture').to.be.greaterThan(0);
        return `${content.length} characters of base64, as they were sent`;
      }),
  ],
  [
    'worktree',
    (subject) =>
      inRepository(subject, async ({ gateway: { operator }, home, cwd, git, type }) => {
        const branches = (): readonly string[] =>
          git('for-each-ref', '--format=%(refname:short)', 'refs/heads').trim().split('\n');
        const [main = ''] = branches();
        const begun = async (prompt: string): Promise<{ readonly id: string; readonly branch: string }> => {
          const ran = await type(['--worktree', '--permissions', 'full', prompt]);
          expect(ran.code, ran.out).to.equal(0);
          const id = sessionIn(ran);
          const branch = `troupe/${id.slice(0, 8)}`;
          expect(ran.out).to.include(branch);
          expect(git('-C', join(home, 'work', id), 'symbolic-ref', '--short', 'HEAD').trim()).to.equal(
            branch,
          );
          return { id, branch };
        };
        const removed = async (id: string): Promise<void> => {
          const { status, text } = await operator.call('DELETE', `/api/sessions/${id}`);
          expect(status, text).to.equal(200);
          expect(await isThere(join(home, 'work', id)), 'the worktree of a deleted session').to.equal(false);
          expect(git('worktree', 'list').trim().split('\n')).to.have.length(1);
        };

        const idle = await begun('[[say hello there]]');
        // A copy that cannot write to the repository brings its branch there once there is something on it
        const isClone = isWithin(subject.level, 'workspace');
        expect(branches()).to.have.members(isClone ? [main] : [main, idle.branch]);
        await removed(idle.id);
        expect(branches(), 'a branch without work').to.deep.equal([main]);

        const worked = await begun(`[[tool ${subject.shell}]]`);
        expect(await isThere(join(cwd, 'made')), 'made outside of the worktree').to.equal(false);
        expect(branches()).to.have.members([main, worked.branch]);
        expect(git('show', `${worked.branch}:made`)).to.equal('made-42');
        git('merge', worked.branch);
        await removed(worked.id);
        expect(branches(), 'a branch that was merged').to.deep.equal([main]);
        expect(await readFile(join(cwd, 'made'), 'utf8')).to.equal('made-42');
        return 'made, worked in, merged, removed with its session';
      }),
  ],
];

interface Place {
  readonly gateway: Gateway;
  readonly home: string;
  /** A repository with one commit. */
  readonly cwd: string;
  git(...words: readonly string[]): string;
  /** `troupe run WORDS` in the repository, typed at a terminal; the first question is given the answer. */
  type(words: readonly string[], answer?: string, before?: () => Promise<unknown>): Promise<Typed>;
}

type Typed = Ran & { readonly asked: boolean };

async function inRepository(subject: Subject, use: (place: Place) => Promise<string>): Promise<string> {
  const home = await mkdtemp(join(subject.folder, 'gateway-'));
  const cwd = await mkdtemp(join(subject.folder, 'repository-'));
  const git: Place['git'] = (...words) =>
    execFileSync('git', ['-C', cwd, '-c', 'user.name=x', '-c', 'user.email=x@x', ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  git('init');
  git('commit', '--allow-empty', '-m', 'begin');
  const agents = { worker: false, sandbox: subject.level, sandboxRequired: subject.level !== 'off' };
  await writeFile(
    join(home, 'config.yaml'),
    JSON.stringify({ agents, engines: { default: subject.name, ...subject.settings } }),
  );
  const gateway = await startGateway(home, subject.env);
  try {
    const type: Place['type'] = (words, answer, before) =>
      typed(['run', '--home', home, ...words], { cwd, env: subject.env, answer, before });
    return await use({ gateway, home, cwd, git, type });
  } finally {
    gateway.child.kill('SIGKILL');
    await gateway.gone;
  }
}

const terminalMs = 90_000;

async function typed(
  words: readonly string[],
  {
    cwd,
    env,
    answer,
    before,
  }: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly answer: string | undefined;
    readonly before: (() => Promise<unknown>) | undefined;
  },
): Promise<Typed> {
  const line = [process.execPath, command, ...words].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  const child = spawn('script', ['-qfec', line.join(' '), '/dev/null'], {
    cwd,
    env: { PATH: process.env['PATH'], TERM: 'dumb', ...env },
    stdio: 'pipe',
  });
  const terminal = new Running(child);
  const tooLong = setTimeout(() => child.kill('SIGKILL'), terminalMs);
  try {
    let asked = false;
    if (answer !== undefined) {
      await terminal.seen(/The agent asks to use[^]*\[y\]es {2}\[n\]o/);
      asked = true;
      await before?.();
      child.stdin.write(answer);
    }
    return { ...(await terminal.ended), asked };
  } finally {
    clearTimeout(tooLong);
    child.kill('SIGKILL');
  }
}

function sessionIn({ out }: Ran): string {
  const [, id = expect.fail(`no session is named: ${out}`)] = /session ([0-9a-f-]{36})/.exec(out) ?? [];
  return id;
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** A PNG of noise, which no other request has. */
function picture(): Buffer {
  const side = 16;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2, 0, 0, 0], 8); // 8 bits of red, green and blue
  const rows = Array.from({ length: side }, () => Buffer.concat([Buffer.alloc(1), randomBytes(side * 3)]));
  const chunk = (type: string, data: Buffer): Buffer => {
    const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc32(named), 4);
    return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
  };
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
