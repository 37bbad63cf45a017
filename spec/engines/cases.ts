import { expect } from 'chai';
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TurnSandbox } from '../../actors/session/turn-sandbox.js';
import type { SandboxLevel } from '../../actors/sandbox/levels.js';
import type { Engine } from '../../actors/engines/engine.js';
import type { ModelServer } from '../helpers/model-server/server.js';
import type { ToolServer } from '../helpers/tool-server.js';
import { gatewayKeeps } from './gateway-keeps.js';
import { gatewayKilled } from './gateway-killed.js';
import { personCases } from './person-cases.js';
import { playTurn, type PlayedTurn } from '../helpers/turn-bench.js';

/**
 * What every real agent program has to do here, one after another; each case answers with a few words for the
 * table.
 */
export interface Subject {
  readonly name: string;
  readonly engine: Engine;
  /** Asks before it uses the shell. */
  readonly shell: string;
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly tools: ToolServer;
  readonly model: ModelServer;
  /** The same engine as `config.yaml` of a gateway names it, under `engines`. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** What must pass before it takes a conversation up again. */
  readonly rest?: () => Promise<void>;
  /**
   * It takes up each conversation once only; after that it is given the transcript, as the gateway gives it.
   */
  readonly resumesOnce?: boolean;
  /** It tells its model why a tool was denied. */
  readonly hearsWhy?: boolean;
  /** The file of a project that it gives its model to read. */
  readonly instructions?: string;
  readonly level: SandboxLevel;
  /** With `--sandbox`. */
  readonly sandbox?: TurnSandbox;
  /** What it cannot do, by the name of the case, with the reason. */
  readonly cannot?: Readonly<Record<string, string>>;
}

export type Case = readonly [name: string, run: (subject: Subject) => Promise<string>];

export const cases: readonly Case[] = [
  [
    'turn',
    async (subject) => {
      const turn = await fresh(subject, '[[say hello there]]');
      expect(turn.text).to.equal('hello there');
      return `${turn.ms} ms, ${turn.usage?.inputTokens ?? '?'}/${turn.usage?.outputTokens ?? '?'} tokens`;
    },
  ],
  [
    'option-like prompt',
    async (subject) => {
      const turn = await fresh(subject, '--version');
      expect(turn.text).to.include('echo: --version');
      for (const words of turn.argv) expect(words).to.not.include('--version');
      return 'echoed';
    },
  ],
  [
    'resume',
    async (subject) => {
      const cwd = await workFolder(subject);
      const first = await played(subject, cwd, { prompt: '[[say one]] apple' });
      const second = await played(subject, cwd, { prompt: '[[recall]]', nativeId: first.nativeId });
      expect(second.text).to.match(/^first: [^]*apple/);
      return `${second.usage?.inputTokens ?? '?'}/${second.usage?.outputTokens ?? '?'} tokens`;
    },
  ],
  [
    'its own record',
    async (subject) => {
      if (subject.engine.readTranscript === undefined) return 'none that is read';
      const cwd = await workFolder(subject);
      const began = Date.now();
      const { nativeId } = await played(subject, cwd, { prompt: '[[say one]] apple' });
      const entries = await subject.engine.readTranscript(nativeId ?? '', cwd);
      expect(entries.map(({ role, content }) => `${role}: ${content}`)).to.deep.equal([
        'user: [[say one]] apple',
        'assistant: one',
      ]);
      // So what comes later was said without us
      for (const { timestamp } of entries) expect(timestamp).to.be.within(began, Date.now());
      return `${entries.length} entries`;
    },
  ],
  [
    'tool allowed',
    async (subject) => {
      const turn = await fresh(subject, `[[tool ${subject.shell}]]`, {
        permission: () => Promise.resolve({ allow: true }),
      });
      expect(turn.text).to.include('tool said').and.include('made-42');
      return 'ran';
    },
  ],
  [
    'tool denied',
    async (subject) => {
      const turn = await fresh(subject, `[[tool ${subject.shell}]]`);
      expect(turn.text).to.not.include('made-42');
      if (subject.hearsWhy === true) expect(turn.text).to.include('is not allowed in this session');
      return turn.text.slice(0, 60).replaceAll('\n', ' ');
    },
  ],
  [
    'MCP tool',
    async (subject) => {
      const before = subject.tools.calls.length;
      const turn = await fresh(subject, '[[tool list_todos {}]]', {
        mcp: { url: subject.tools.url, token: subject.tools.token },
      });
      expect(turn.text).to.include('todo one');
      expect(subject.tools.calls.length).to.be.greaterThan(before);
      expect(JSON.stringify(turn.argv)).to.not.include(subject.tools.token);
      return 'called, token not on the command line';
    },
  ],
  [
    'interrupt and resume',
    async (subject) => {
      const cwd = await workFolder(subject);
      const first = await played(subject, cwd, { prompt: '[[say one]] pear' });
      let at = 0;
      const second = await played(
        subject,
        cwd,
        {
          prompt: '[[slow half of it]]',
          nativeId: first.nativeId,
          onText: (turn) => {
            at = performance.now();
            turn.abort();
          },
        },
        'interrupted',
      );
      const ms = Math.round(performance.now() - at);
      expect(second.text).to.match(/^half/);
      const third = await played(subject, cwd, {
        prompt: '[[recall]]',
        nativeId: second.nativeId,
        ...past(subject, 'pear'),
      });
      expect(third.text).to.include('pear');
      return `${ms} ms, kept "${second.text}", ${way(second, third)}`;
    },
  ],
  [
    'killed and resume',
    async (subject) => {
      const cwd = await workFolder(subject);
      const first = await played(subject, cwd, { prompt: '[[say one]] plum' });
      const second = await played(
        subject,
        cwd,
        {
          prompt: '[[slow]]',
          nativeId: first.nativeId,
          onText: ({ pids }) => pids.forEach((pid) => process.kill(-pid, 'SIGKILL')),
        },
        'failed',
      );
      expect(second.error).to.be.a('string');
      const third = await played(subject, cwd, {
        prompt: '[[recall]]',
        nativeId: second.nativeId,
        ...past(subject, 'plum'),
      });
      expect(third.text).to.include('plum');
      return `${second.error?.slice(0, 60) ?? ''}, ${way(second, third)}`;
    },
  ],
  [
    'unknown session',
    async (subject) => {
      const cwd = await workFolder(subject);
      const turn = await played(subject, cwd, {
        prompt: '[[say new]]',
        nativeId: '00000000-0000-4000-8000-000000000000',
        transcript: [{ role: 'user', content: 'cherry' }],
      });
      expect(turn.text).to.equal('new');
      return 'began anew with the transcript';
    },
  ],
  [
    'project not trusted',
    async (subject) => {
      const cwd = await workFolder(subject);
      await plant(cwd);
      const turn = await played(subject, cwd, { prompt: '[[say hello there]]', project: 'untrusted' });
      expect(turn.text).to.equal('hello there');
      expect(await readdir(cwd), 'what the project names ran').to.not.include('ran');
      return 'nothing that it names ran';
    },
  ],
  ['gateway killed', (subject) => gatewayKilled(subject)],
  ['kept by a gateway', (subject) => gatewayKeeps(subject, false)],
  ['kept, in a worker', (subject) => gatewayKeeps(subject, true)],
  ...personCases,
  ...[401, 429, 500].map((status): Case => [
    `${status}`,
    async (subject) => {
      const turn = await fresh(subject, `[[fail ${status}]]`, {}, status === 429 ? 'rate-limited' : 'failed');
      return `${turn.ms} ms: ${(turn.error ?? '').slice(0, 70).replaceAll('\n', ' ')}`;
    },
  ]),
];

type Wish = Parameters<typeof playTurn>[3];

const past = ({ resumesOnce }: Subject, word: string): Pick<Wish, 'transcript'> =>
  resumesOnce === true ? { transcript: [{ role: 'user', content: word }] } : {};
const way = (one: PlayedTurn, next: PlayedTurn): string =>
  one.nativeId === next.nativeId ? 'resumed' : 'began anew with the transcript';

/** Hooks and servers as a repository may bring them; each leaves a file where it ran. */
async function plant(cwd: string): Promise<void> {
  const command = `touch '${join(cwd, 'ran')}'`;
  const server = { command: '/bin/sh', args: ['-c', command] };
  const hooks = { SessionStart: [{ hooks: [{ type: 'command', command }] }] };
  const files = {
    '.claude/settings.json': JSON.stringify({ hooks }),
    '.mcp.json': JSON.stringify({ mcpServers: { planted: server } }),
    '.codex/hooks.json': JSON.stringify({ hooks }),
    '.codex/config.toml': `[mcp_servers.planted]\ncommand = "/bin/sh"\nargs = ["-c", ${JSON.stringify(command)}]\n`,
  };
  await mkdir(join(cwd, '.git'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), text);
  }
}

const workFolder = (subject: Subject): Promise<string> => mkdtemp(join(subject.folder, 'work-'));

async function fresh(
  subject: Subject,
  prompt: string,
  wish: Omit<Wish, 'prompt'> = {},
  outcome: PlayedTurn['outcome'] = 'succeeded',
): Promise<PlayedTurn> {
  return played(subject, await workFolder(subject), { ...wish, prompt }, outcome);
}

async function played(
  subject: Subject,
  cwd: string,
  wish: Wish,
  outcome: PlayedTurn['outcome'] = 'succeeded',
): Promise<PlayedTurn> {
  if (typeof wish.nativeId === 'string') await subject.rest?.();
  const { sandbox } = subject;
  const turn = await playTurn(subject.engine, cwd, subject.env, {
    ...wish,
    ...(sandbox === undefined ? {} : { sandbox }),
  });
  expect(turn.outcome, `${turn.error ?? ''} ${turn.text}`).to.equal(outcome);
  expect(turn.left, 'processes left behind').to.equal(0);
  return turn;
}
