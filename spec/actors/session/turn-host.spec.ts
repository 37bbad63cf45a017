import { expect } from 'chai';
import { createTextMask, secretsIn } from '../../../actors/session/turn-secrets.js';
import { hostTurn, type TurnHost } from '../../../actors/session/turn-host.js';
import { defineEngine, type Engine, type TurnRequest } from '../../../actors/engines/engine.js';
import type { TurnCommand, TurnEvent } from '../../../actors/engines/turn-events.js';
import { freshFolder, graces } from '../engines/child-fixture.js';

/** The seam between a turn and the gateway, as a socket would carry it: lines of JSON both ways. */
describe('what passes between a turn and the gateway', () => {
  const secret = 'key-0123456789abcdef';

  function play(
    engine: Engine,
    answer: (event: TurnEvent, host: Pick<TurnHost, 'take'>) => void = () => undefined,
  ) {
    const events: TurnEvent[] = [];
    return new Promise<readonly TurnEvent[]>((resolve) => {
      const host = hostTurn({
        engine,
        request: { ...request, env: { SVC_GATEWAY_TOKEN: secret } },
        processes: { tokenHash: 'hash', graces },
        settleMs: 1_000,
        onFault: () => undefined,
        post(given) {
          const event = JSON.parse(JSON.stringify(given)) as TurnEvent;
          expect(event, 'an event is plain JSON').to.deep.equal(given);
          events.push(event);
          const over = { take: (command: TurnCommand) => host.take(overWire(command)) };
          if (event.type === 'process.noted') over.take({ type: 'acknowledge', seq: event.seq });
          answer(event, over);
          if (event.type === 'turn.ended') resolve(events);
        },
      });
    });
  }
  const overWire = (command: TurnCommand) => JSON.parse(JSON.stringify(command)) as TurnCommand;
  const engineOf = (turn: Engine['turn']): Engine =>
    defineEngine({
      name: 'seam',
      effortMechanism: 'none',
      discover: async () => ({ available: true, defaultModel: null, models: [] }),
      turn,
    });
  let request: TurnRequest;
  before(async () => {
    request = {
      sessionId: 's1',
      turnId: 's1:1',
      prompt: 'go',
      transcript: [],
      nativeId: null,
      model: null,
      effort: null,
      cwd: await freshFolder(),
      env: {},
      deadlineMs: 60_000,
      silenceMs: 60_000,
    };
  });

  it('is numbered from one without gaps and ends with the end', async () => {
    const events = await play(
      engineOf(async (_request, io) => {
        io.report({ type: 'conversation.named', nativeId: 'n1' });
        io.report({ type: 'tool.started', toolId: 't1', tool: 'Bash', input: 'ls' });
        io.report({ type: 'tool.finished', toolId: 't1', output: 'a b', isError: false });
        return { outcome: 'succeeded', text: 'done' };
      }),
    );
    expect(events.map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4, 5]);
    expect(events.map(({ type }) => type)).to.deep.equal([
      'process.noted',
      'conversation.named',
      'tool.started',
      'tool.finished',
      'turn.ended',
    ]);
  });

  // a cut went through the key first, and its beginning was stored
  it('cuts what is too long only after the keys are out of it', async () => {
    const long = (bytes: number): string => `${'x'.repeat(bytes - 8)}${secret}`;
    const events = await play(
      engineOf(async (_request, io) => {
        io.report({
          type: 'tool.started',
          toolId: 't1',
          tool: 'Bash',
          title: long(4_096),
          input: long(65_536),
        });
        io.report({ type: 'tool.finished', toolId: 't1', output: long(1_048_576), isError: false });
        void io.permission({ tool: 'Bash', title: long(4_096), input: null });
        return { outcome: 'failed', text: long(262_144), error: long(4_096) };
      }),
    );
    expect(events.map(({ type }) => type)).to.include.members(['permission.asked', 'turn.ended']);
    expect(JSON.stringify(events)).not.to.include(secret.slice(0, 5));
  });

  it('asks for a permission by an event and takes the decision as a command', async () => {
    const events = await play(
      engineOf(async (_request, io) => {
        const answers = [
          await io.permission({ tool: 'Bash', title: 'ls', input: {} }),
          await io.permission({ tool: 'Bash', title: 'rm', input: {} }),
        ];
        return { outcome: 'succeeded', text: JSON.stringify(answers) };
      }),
      (event, host) => {
        if (event.type !== 'permission.asked') return;
        const { permissionId, title } = event;
        host.take(
          title === 'ls'
            ? { type: 'decide', permissionId, decision: 'allow' }
            : { type: 'decide', permissionId, decision: 'deny', message: 'no' },
        );
      },
    );
    const last = events.at(-1);
    expect(last?.type === 'turn.ended' && last.result.text).to.equal(
      '[{"allow":true},{"allow":false,"message":"no"}]',
    );
  });

  it('ends a question and the turn when it is interrupted, whatever the engine does', async () => {
    const events = await play(
      engineOf(async (_request, io) => {
        await io.permission({ tool: 'Bash', title: 'ls', input: {} });
        return new Promise(() => undefined);
      }),
      (event, host) => event.type === 'permission.asked' && host.take({ type: 'interrupt' }),
    );
    const last = events.at(-1);
    expect(last?.type === 'turn.ended' && last.result.error).to.match(/did not end after it was asked/);
  });

  it('lets nothing pass that is no report, and cuts what is too long', async () => {
    const events = await play(
      engineOf(async (_request, io) => {
        io.report({ type: 'made up', text: 'x' } as never);
        io.report(undefined as never);
        io.report({ type: 'tool.finished', toolId: 't', output: 'x'.repeat(2 ** 21), isError: false });
        io.report({ type: 'usage', usage: { inputTokens: Number.NaN, outputTokens: 3 } });
        return { outcome: 'succeeded', text: 'done' };
      }),
    );
    expect(events.map(({ type }) => type)).to.not.include('made up');
    const finished = events.find(({ type }) => type === 'tool.finished');
    expect(finished?.type === 'tool.finished' && finished.output.length).to.equal(2 ** 20);
    expect(events).to.deep.include({ seq: 3, type: 'usage', usage: { outputTokens: 3 } });
  });

  // an agent printed its environment, and the key was in the store, its copy and every backup
  it('lets no value of a key pass that its processes were given, however it is cut', async () => {
    const events = await play(
      engineOf(async (given, io) => {
        const child = await io.spawn('/bin/sh', ['-c', 'printf %s "$MY_API_KEY"'], {
          cwd: given.cwd,
          env: { ...given.env, MY_API_KEY: 'other-9876543210fedcba' },
          silenceMs: 60_000,
          deadlineMs: 60_000,
        });
        const { stdout } = await child.done;
        for (const piece of [stdout.slice(0, 7), stdout.slice(7), ` and ${secret}`])
          io.report({ type: 'text', text: piece });
        io.report({ type: 'tool.finished', toolId: 't', output: `it is ${stdout}`, isError: false });
        return { outcome: 'succeeded', text: `${stdout} ${secret}` };
      }),
    );
    const all = JSON.stringify(events);
    expect(all).to.not.include('9876543210').and.not.include('0123456789').and.not.include('"other-');
    const said = events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('');
    expect(said).to.equal('[secret] and [secret]');
  });

  it('holds back no more of a text than might begin a key', () => {
    const mask = createTextMask(new Set(['abcdefghijklmnopqrst']));
    expect(mask.take('see abc')).to.equal('see ');
    expect(mask.take('d or')).to.equal('abcd or');
    expect(mask.take(' abcdefghijklmnopqrst!')).to.equal(' [secret]!');
    expect(mask.rest()).to.equal('');
  });

  it('takes addresses and short words for no keys', () => {
    expect(
      secretsIn({
        ANTHROPIC_API_KEY: 'sk-0123456789abcdef',
        AUTH_URL: 'https://login.example.com/somewhere',
        NO_TOKEN: 'short',
        GIT_AUTHOR_EMAIL: 'ann.gardener@example.com',
        SSH_AUTH_SOCK: '/tmp/ssh-0123456789/agent.1',
        PATH: '/usr/bin:/usr/local/bin:/bin',
      }),
    ).to.deep.equal(['sk-0123456789abcdef']);
  });
});
