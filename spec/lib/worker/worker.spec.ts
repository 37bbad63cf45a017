import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineEngine } from '../../../actors/engines/engine.js';
import { commandEngine } from '../../../actors/engines/command.js';
import { readNote } from '../../../actors/engines/process.js';
import { processTable } from '../../../actors/engines/process/table.js';
import type { TurnEvent } from '../../../actors/engines/turn-events.js';
import { bootName, machineName } from '../../../actors/engines/process/machine.js';
import { permissionAsker } from '../../../actors/session/turn-permission.js';
import { endWorkers, keepWorkers } from '../../../lib/worker/end-workers.js';
import { openConnection } from '../../../lib/worker/connection.js';
import { openWorkers } from '../../../lib/worker/workers.js';
import { listen } from '../../../lib/worker/listen.js';
import {
  keyFile,
  machineMs,
  onFrames,
  write,
  type FromWorker,
  type ToWorker,
} from '../../../lib/worker/wire.js';
import { version } from '../../../lib/version.js';
import { app } from '../../actors/effect-fixture.js';

/** A worker over its real socket, with hands in place of a gateway. */
describe('the socket of a worker', () => {
  const name = 'worker-0123abcd';
  const turnId = 't1';
  let folder: string;
  let over: Promise<void>;
  let begun: number;
  let setup: { socket: string; key: string; waitMs: number; idleMs: number; heardMs: number };
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
    setup = { socket: join(folder, name), key: 'mine', waitMs: 60_000, idleMs: 60_000, heardMs: 1 };
    await writeFile(keyFile(setup.socket), setup.key);
    const stubborn = commandEngine({
      name: 'stubborn',
      command: ['/bin/sh', '-c', 'trap "" INT TERM; echo here; while :; do sleep 1; done'],
    });
    await listen(setup, [engine, stubborn], () => end());
  });
  afterEach(async () => {
    go();
    await endWorkers(folder);
    await over;
    await rm(folder, { recursive: true, force: true });
  });

  /** One who says hello, and then hears of a frame after the other. */
  function gateway(): Hand {
    const socket: Socket = connect(join(folder, name));
    socket.on('error', () => undefined); // it may be superseded
    const heard: FromWorker[] = [];
    let next: (() => void) | undefined;
    onFrames<FromWorker>(socket, (frame) => {
      heard.push(frame);
      next?.();
    });
    write(socket, { type: 'hello', key: 'mine' });
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
      close: () => void socket.end(),
      async event(type) {
        const frame = await until((each) => each.type === 'event' && each.event.type === type);
        return (frame as FromWorker & { type: 'event' }).event;
      },
    };
  }
  const quiet = { redact: <Value>(value: Value): Value => value, onFault: () => undefined };
  const setupOfNone = { logFile: '/dev/null', engines: {} as never };
  const note = { worker: name, machine: machineName(), boot: bootName(), beganAt: 0 };
  const side = { post: () => undefined, confine: () => Promise.reject(new Error('Nothing is started.')) };
  const begin: ToWorker & { type: 'begin' } = {
    type: 'begin',
    turnId,
    engine: 'scripted',
    request: { sessionId: 's1', turnId, prompt: 'Go on', cwd: tmpdir(), env: {} } as never,
    tokenHash: 'none',
    settleMs: 10,
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

  // 198 acts of an agent were counted after another node had taken over from a frozen one
  it('ends its agents at once where the node of its gateway may have lost the home, though it says nothing', async () => {
    const hand = gateway();
    await hand.until(({ type }) => type === 'ready');
    const pid = await stubbornly(hand);
    hand.say({ type: 'lease', until: machineMs() + 50 });
    hand.say({ type: 'lease', until: machineMs() + 100 }); // prolonged
    await hand.event('turn.ended');
    // Its engine was given up after ten milliseconds; the signal may come a moment later on a busy machine
    const startTime = () => processTable().startTime(pid);
    for (let tries = 0; tries < 500 && (await startTime()) !== undefined; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await startTime()).to.equal(undefined);
  });

  // one worker that did not answer kept the word from all, and their agents were ended
  it('hears of the lease beside a worker that says nothing', async () => {
    const [talker, mute] = ['worker-aaaaaaaa', 'worker-bbbbbbbb'];
    for (const each of [talker, mute]) await writeFile(keyFile(join(folder, each)), 'mine');
    const sockets: Socket[] = [];
    let hears: () => void = () => undefined;
    const heard = new Promise<void>((resolve) => (hears = resolve));
    const servers = [
      createServer((socket) => {
        sockets.push(socket);
        onFrames<ToWorker>(socket, ({ type }) => {
          if (type === 'hello') write(socket, { type: 'ready', pid: 1, startedAt: 0, running: 0 });
          if (type === 'attach') write(socket, { type: 'attached', turnId, isHere: false });
          if (type === 'lease') hears();
        });
      }).listen(join(folder, talker)),
      createServer((socket) => void sockets.push(socket)).listen(join(folder, mute)),
    ];
    await Promise.all(servers.map((server) => once(server, 'listening')));
    let leftMs = 0;
    const workers = openWorkers({
      ...{ ...quiet, folder, hosted: new Set<string>(), ...setupOfNone },
      authorityMs: () => leftMs,
    });
    const unanswered = workers.attach({ ...note, worker: mute }, turnId, side);
    await workers.attach({ ...note, worker: talker }, turnId, side);
    leftMs = 1_000;
    await heard;
    workers.leave();
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
    expect(await unanswered).to.equal(undefined);
  });

  /** An agent that ends for no signal but the last, at work: its process. */
  async function stubbornly(hand: Hand): Promise<number> {
    const patient = { interruptMs: 60_000, terminateMs: 60_000, confirmMs: 90_000 };
    const request = { ...begin.request, transcript: [], attachments: [] };
    hand.say({ ...begin, request, engine: 'stubborn', graces: patient });
    const { seq } = await hand.event('process.noted');
    hand.say(command({ type: 'acknowledge', seq }));
    const asked = (await hand.until(({ type }) => type === 'confine')) as FromWorker & { type: 'confine' };
    hand.say({ type: 'confined', id: asked.id, command: { ...asked.command, level: 'off', mounts: [] } });
    let [pid, said] = [0, ''];
    await hand.until((frame) => {
      if (frame.type !== 'event') return false;
      if (frame.event.type === 'text') said = frame.event.text;
      if (frame.event.type === 'process.noted') {
        pid = readNote(frame.event.note)?.pid ?? 0;
        hand.say(command({ type: 'acknowledge', seq: frame.event.seq }));
      }
      return pid > 0 && said === 'here\n';
    });
    return pid;
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
    const workers = openWorkers({ ...quiet, folder, hosted: new Set(), ...setupOfNone });
    expect((await workers.attach(note, turnId, side))?.leave()).to.equal(true);
    expect(workers.left).to.equal(1);
    const again = await workers.attach(note, turnId, side);
    expect(workers.left).to.equal(0);
    workers.keepNone();
    expect(again?.leave()).to.equal(false);
    expect(workers.left).to.equal(0);
  });

  // it was called dead by the gateway that it had left, which then ended the agents that the younger one follows
  it('says to a gateway that a younger one follows its turns', async () => {
    const elder = await started();
    gateway();
    await elder.until(({ type }) => type === 'superseded');
    elder.say({ type: 'end' }); // it has nothing to say any more
    const next = gateway();
    await next.until(({ type }) => type === 'ready');
    next.say({ type: 'attach', turnId });
    await next.event('permission.asked');
    go();
    const ended = (await next.event('turn.ended')) as TurnEvent & { type: 'turn.ended' };
    expect(ended.result.text).to.equal('yes');
  });

  it('leaves a turn to a younger gateway as if this one had stopped', async () => {
    await started();
    const workers = openWorkers({ ...quiet, folder, hosted: new Set(), ...setupOfNone });
    let taken: () => void = () => undefined;
    const isTaken = new Promise<void>((resolve) => (taken = resolve));
    expect(await workers.attach(note, turnId, { ...side, onTaken: () => taken() })).not.to.equal(undefined);
    gateway();
    await isTaken;
  });

  // its end met the beginning of a turn, which was then called interrupted; now it is begun in another one
  it('says of a turn whether it begins, also where it ends at that moment', async () => {
    const path = join(folder, 'worker-ffffffff');
    const server = createServer((socket) =>
      onFrames<ToWorker>(socket, ({ type }) =>
        type === 'hello'
          ? write(socket, { type: 'ready', pid: 1, startedAt: 0, running: 0 })
          : void socket.destroy(),
      ),
    );
    await new Promise<void>((resolve) => server.listen(path, resolve));
    await writeFile(keyFile(path), 'mine');
    const worker = await openConnection(path, {
      ...quiet,
      onLimits: () => undefined,
      mayLeave: () => true,
    });
    const { request, tokenHash, settleMs } = begin;
    const engine = { name: 'scripted' } as never;
    expect(await worker.begin({ engine, request, tokenHash, settleMs }, side)).to.equal(undefined);
    server.close();
  });

  // After an upgrade: what it says could be understood wrongly, and its agents must not go on beside their resumption
  it('is told to end where it speaks another protocol, and its gateway says why', async () => {
    const path = join(folder, 'worker-eeeeeeee');
    const heard: string[] = [];
    let ended: () => void = () => undefined;
    const isEnded = new Promise<void>((resolve) => (ended = resolve));
    const server = createServer((socket) =>
      onFrames<ToWorker>(socket, ({ type }) => {
        heard.push(type);
        if (type === 'hello')
          write(socket, { type: 'ready', pid: 1, startedAt: 0, running: 1, protocol: 99, version: '9.9.9' });
        if (type !== 'end') return;
        socket.destroy();
        ended();
      }),
    );
    await new Promise<void>((resolve) => server.listen(path, resolve));
    await writeFile(keyFile(path), 'mine');
    const said: string[] = [];
    const workers = openWorkers({
      ...setupOfNone,
      folder,
      hosted: new Set(),
      redact: quiet.redact,
      onFault: (_, error) => said.push(String(error)),
    });
    const where = { ...note, worker: 'worker-eeeeeeee' };
    expect(await workers.attach(where, turnId, side)).to.equal(undefined);
    await isEnded;
    server.close();
    expect(heard).to.deep.equal(['hello', 'end']);
    expect(said.join()).to.match(/worker-eeeeeeee is of version 9\.9\.9 of Troupe, which speaks protocol 99/);
    expect(await workers.list()).to.deep.equal([]);
  });

  it('says its version to its gateway', async () => {
    const workers = openWorkers({ ...quiet, folder, hosted: new Set(), ...setupOfNone });
    await workers.attach(note, turnId, side);
    expect((await workers.list()).map(({ version: build }) => build)).to.deep.equal([version]);
  });

  it('forgets what a gateway that stops has not left to the next one, and ends', async () => {
    const hand = await started();
    hand.say({ type: 'wait', ms: 60_000, left: [] });
    hand.close();
    await over;
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('ends a turn that its gateway drops', async () => {
    const hand = await started();
    hand.say({ type: 'drop', turnId });
    hand.say({ type: 'attach', turnId });
    const answer = await hand.until(({ type }) => type === 'attached');
    expect((answer as FromWorker & { type: 'attached' }).isHere).to.equal(false);
    hand.say({ type: 'retire' });
    await over;
  });

  it('ends what a gateway that came back does not take up', async () => {
    const hand = await started();
    hand.close();
    setup.waitMs = 1;
    const next = gateway();
    await next.until(({ type }) => type === 'ready');
    next.say({ type: 'retire' });
    await over;
  });

  it('keeps its turns for as long as `stop --for` says', async () => {
    (await started()).close();
    expect(await keepWorkers(folder, 1)).to.equal(1);
    await over;
  });

  it('that is drained ends with its last turn', async () => {
    const hand = await started();
    hand.say({ type: 'retire' });
    go();
    await hand.event('turn.ended');
    await over;
  });

  it('is not called ended where its key is another one', async () => {
    await writeFile(keyFile(join(folder, name)), 'of another');
    expect(await endWorkers(folder)).to.deep.equal({ ended: 0, left: 1 });
    await writeFile(keyFile(join(folder, name)), 'mine');
    expect(await endWorkers(folder)).to.deep.equal({ ended: 1, left: 0 });
    expect(await readdir(folder)).to.deep.equal([]);
  });
});

interface Hand {
  say(frame: ToWorker): void;
  close(): void;
  /** The next frame that is wanted; those before it are passed over. */
  until(wanted: (frame: FromWorker) => boolean): Promise<FromWorker>;
  event(type: TurnEvent['type']): Promise<TurnEvent>;
}
