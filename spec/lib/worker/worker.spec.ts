import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineEngine } from '../../../actors/engines/engine.js';
import type { TurnEvent } from '../../../actors/engines/turn-events.js';
import { bootName, machineName } from '../../../actors/engines/process/machine.js';
import { permissionAsker } from '../../../actors/session/turn-permission.js';
import { endWorkers } from '../../../lib/worker/end-workers.js';
import { openWorkers } from '../../../lib/worker/workers.js';
import { Worker } from '../../../lib/worker/worker.js';
import { onFrames, workerKey, write, type FromWorker, type ToWorker } from '../../../lib/worker/wire.js';
import { app } from '../../actors/effect-fixture.js';

/** A worker over its real socket, with hands in place of a gateway. */
describe('the socket of a worker', () => {
  const name = 'worker-0123abcd';
  const turnId = 't1';
  let folder: string;
  let over: Promise<void>;
  let begun: number;
  /** What the agent waits for before it ends. */
  let go: () => void;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'worker-'));
    begun = 0;
    const gate = new Promise<void>((resolve) => (go = resolve));
    const engine = defineEngine({
      name: 'scripted',
      effortMechanism: 'none',
      discover: async () => ({ available: true, defaultModel: null, models: [] }),
      async turn(_request, { permission }) {
        begun += 1;
        const { allow } = await permission({ tool: 'Bash', title: 'ls', input: {} });
        await gate;
        return { outcome: 'succeeded', text: allow ? 'yes' : 'no' };
      },
    });
    let end: () => void;
    over = new Promise<void>((resolve) => (end = resolve));
    const setup = {
      socket: join(folder, name),
      key: workerKey('mine', name),
      waitMs: 60_000,
      idleMs: 60_000,
    };
    await new Worker({ ...setup, heardMs: 1 }, [engine], () => end()).listen();
  });
  afterEach(async () => {
    go();
    await endWorkers(folder, 'mine');
    await over;
    await rm(folder, { recursive: true, force: true });
  });

  /** One who says hello, and then hears of a frame after the other. */
  function gateway(): Hand {
    const socket: Socket = connect(join(folder, name));
    const heard: FromWorker[] = [];
    let next: (() => void) | undefined;
    onFrames<FromWorker>(socket, (frame) => {
      heard.push(frame);
      next?.();
    });
    write(socket, { type: 'hello', key: workerKey('mine', name) });
    const until: Hand['until'] = async (wanted) => {
      for (;;) {
        const frame = heard.shift();
        if (frame === undefined) await new Promise<void>((resolve) => (next = resolve));
        else if (wanted(frame)) return frame;
      }
    };
    return {
      until,
      say: (frame) => write(socket, frame),
      async event(type) {
        const frame = await until((each) => each.type === 'event' && each.event.type === type);
        return (frame as FromWorker & { type: 'event' }).event;
      },
    };
  }
  const begin: ToWorker = {
    type: 'begin',
    turnId,
    engine: 'scripted',
    request: { sessionId: 's1', turnId, prompt: 'Go on', cwd: tmpdir(), env: {} } as never,
    tokenHash: 'none',
    settleMs: 1_000,
  };
  const command = (given: (ToWorker & { type: 'command' })['command']): ToWorker => ({
    type: 'command',
    turnId,
    command: given,
  });
  async function started(): Promise<Hand> {
    const hand = gateway();
    await hand.until(({ type }) => type === 'ready');
    hand.say(begin);
    const { seq } = await hand.event('process.noted');
    hand.say(command({ type: 'acknowledge', seq }));
    await hand.event('permission.asked');
    hand.say(command({ type: 'decide', permissionId: 'p1', decision: 'allow' }));
    return hand;
  }

  it('says to the next gateway which questions are decided, and no one is asked again', async () => {
    await started();
    const next = gateway();
    await next.until(({ type }) => type === 'ready');
    next.say({ type: 'attach', turnId });
    const asked = (await next.event('permission.asked')) as TurnEvent & { type: 'permission.asked' };
    expect(asked.isDecided).to.equal(true);
    const desk = app();
    const permission = permissionAsker({
      turnId,
      policy: { mode: 'ask', allow: [] },
      cwd: tmpdir(),
      context: desk.context,
      signal: new AbortController().signal,
      waitMs: 60_000,
      isAgain: true,
    });
    const question = { id: 'p1', tool: 'Bash', title: 'ls', input: {}, isDecided: true };
    expect((await permission(question, () => undefined)).isAsked).to.equal(false);
    expect(desk.sent).to.deep.equal([]);
  });

  it('begins again what its gateway had not noted when the session was restarted', async () => {
    const hand = gateway();
    await hand.until(({ type }) => type === 'ready');
    hand.say(begin);
    await hand.event('process.noted');
    hand.say(begin);
    const { seq } = await hand.event('process.noted');
    hand.say(command({ type: 'acknowledge', seq }));
    await hand.event('permission.asked');
    hand.say(command({ type: 'decide', permissionId: 'p1', decision: 'allow' }));
    go();
    const ended = (await hand.event('turn.ended')) as TurnEvent & { type: 'turn.ended' };
    expect(ended.result.text).to.equal('yes');
    expect(begun).to.equal(1);
  });

  it('forgets a turn whose end its gateway has heard', async () => {
    const hand = await started();
    go();
    await hand.event('turn.ended');
    for (;;) {
      hand.say({ type: 'attach', turnId });
      const answer = await hand.until(({ type }) => type === 'attached');
      if ((answer as FromWorker & { type: 'attached' }).isHere) continue;
      return;
    }
  });

  it('keeps no turn for a gateway that hands the home over to another machine', async () => {
    await started();
    const workers = openWorkers({
      folder,
      secret: 'mine',
      logFile: join(folder, 'log'),
      engines: {} as never,
      hosted: new Set(),
      redact: (value) => value,
      onFault: () => undefined,
    });
    const note = { worker: name, machine: machineName(), boot: bootName(), beganAt: 0 };
    const side = { post: () => undefined, confine: () => Promise.reject(new Error('Nothing is started.')) };
    expect((await workers.attach(note, turnId, side))?.leave()).to.equal(true);
    expect(workers.left).to.equal(1);
    const again = await workers.attach(note, turnId, side);
    expect(workers.left).to.equal(0);
    workers.keepNone();
    expect(again?.leave()).to.equal(false);
    expect(workers.left).to.equal(0);
  });

  it('is not called ended where it did not know the secret', async () => {
    expect(await endWorkers(folder, 'of another')).to.deep.equal({ ended: 0, left: 1 });
    expect(await endWorkers(folder, 'mine')).to.deep.equal({ ended: 1, left: 0 });
  });
});

interface Hand {
  say(frame: ToWorker): void;
  /** The next frame that is wanted; those before it are passed over. */
  until(wanted: (frame: FromWorker) => boolean): Promise<FromWorker>;
  event(type: TurnEvent['type']): Promise<TurnEvent>;
}
