import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { basename } from 'node:path';
import { redactor } from '../../machines/redact.js';
import type { EngineLimits } from '../../actors/engines/limits.js';
import { machineName, bootName } from '../../actors/engines/process/machine.js';
import type { Redact } from '../../actors/engines/turn-events.js';
import { ConfineError } from '../../actors/sandbox/sandbox.js';
import type { DistantTurn, GatewaySide, HostedTurn } from '../../actors/session/turn-hosts.js';
import { sentence } from '../../actors/session/turn-outcome.js';
import { secretsIn } from '../../actors/session/turn-secrets.js';
import { keyFile, onFrames, refusalOf, write, type FromWorker, type ToWorker } from './wire.js';

/** A gateway's way to one of its workers. */
export interface Connection {
  readonly name: string;
  /** Of its process. */
  readonly pid: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Of Troupe; null: of a build that did not say it yet. */
  readonly version: string | null;
  readonly turns: ReadonlyMap<string, FollowedTurn>;
  /** Turns that go on without this gateway. */
  readonly left: ReadonlySet<string>;
  /** Undefined where it ended before it could begin. */
  begin(turn: HostedTurn, side: GatewaySide): Promise<DistantTurn | undefined>;
  /** Undefined where it does not have that turn. */
  attach(turnId: string, side: GatewaySide, beganAt: number): Promise<DistantTurn | undefined>;
  drop(turnId: string): void;
  retire(): void;
  end(): void;
  /** They may go on until then, by the clock of this machine, whatever becomes of this gateway. */
  prolong(until: number): void;
  /** Its turns go on for this long. */
  leave(waitMs: number): void;
  readonly closed: Promise<void>;
}

export interface FollowedTurn {
  readonly sessionId: string;
  readonly engine: string;
  /** Epoch milliseconds. */
  readonly beganAt: number;
}

export interface ConnectionOptions {
  readonly redact: Redact;
  readonly onFault: (engine: string, error: unknown) => void;
  /** What its turns show of a provider's limits. */
  readonly onLimits: (engine: string, limits: EngineLimits) => void;
  /** May a turn go on without this gateway? */
  readonly mayLeave: () => boolean;
}

interface Followed extends FollowedTurn {
  readonly side: GatewaySide;
  readonly secrets: Set<string>;
  readonly attached: (isHere: boolean) => void;
}

/** Rejects where no worker answers. `const worker = await openConnection(join(layout.run, name), options)` */
export async function openConnection(path: string, options: ConnectionOptions): Promise<Connection> {
  const { redact, onFault, onLimits, mayLeave } = options;
  const key = await readFile(keyFile(path), 'utf8');
  const socket: Socket = connect(path);
  const turns = new Map<string, Followed>();
  const left = new Set<string>();
  const send = (frame: ToWorker): void => write(socket, frame);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));

  async function confine({ id, turnId, command }: FromWorker & { type: 'confine' }): Promise<void> {
    const turn = turns.get(turnId);
    if (turn === undefined) return; // it is asked again when its turn is followed
    for (const secret of secretsIn(command.env)) turn.secrets.add(secret);
    try {
      send({ type: 'confined', id, command: await turn.side.confine(command) });
    } catch (error) {
      send({ type: 'unconfined', id, fault: sentence(error), isRefused: error instanceof ConfineError });
    }
  }

  function take(frame: FromWorker): void {
    switch (frame.type) {
      case 'attached': {
        const { turnId, isHere, sessionId = '', engine = '', secrets = [] } = frame;
        const turn = turns.get(turnId);
        if (turn === undefined) return;
        for (const secret of secrets) turn.secrets.add(secret);
        if (isHere) turns.set(turnId, { ...turn, sessionId, engine });
        else turns.delete(turnId);
        return turn.attached(isHere);
      }
      case 'event':
        turns.get(frame.turnId)?.side.post(redact(frame.event));
        if (frame.event.type === 'turn.ended') turns.delete(frame.turnId); // nothing more is said of it
        return;
      case 'caughtUp':
        return turns.get(frame.turnId)?.side.onCaughtUp?.(frame.quietMs);
      case 'confine':
        return void confine(frame);
      case 'limits':
        return onLimits(frame.engine, frame.limits);
      case 'fault':
        return onFault(frame.engine, new Error(frame.message));
      case 'superseded':
        for (const { side } of turns.values()) side.onTaken?.();
        return turns.clear();
      case 'ready':
      case 'prepared': // of other machines
      case 'beat':
        return;
    }
  }

  /** Asks for a turn, and follows it from the answer on. */
  function follow(
    request: ToWorker & { readonly turnId: string },
    side: GatewaySide,
    { secrets, beganAt }: { readonly secrets: Set<string>; readonly beganAt: number },
  ): Promise<DistantTurn | undefined> {
    const { turnId } = request;
    left.delete(turnId); // it was restarted
    const distant: DistantTurn = {
      take: (command) => send({ type: 'command', turnId, command }),
      redact: (read) => redactor([...secrets])(redact(read)),
      whereabouts: { worker: basename(path), machine: machineName(), boot: bootName(), beganAt },
      lost: closed,
      leave() {
        if (!mayLeave() || !turns.delete(turnId)) return false; // it may not, or it has ended
        left.add(turnId);
        return true;
      },
    };
    return new Promise((resolve) => {
      const attached = (isHere: boolean): void => resolve(isHere ? distant : undefined);
      turns.set(turnId, { side, secrets, attached, sessionId: '', engine: '', beganAt });
      void closed.then(() => resolve(undefined));
      send(request);
    });
  }

  const connected = (ready: FromWorker & { type: 'ready' }): Connection => ({
    name: basename(path),
    pid: ready.pid,
    startedAt: ready.startedAt,
    version: ready.version ?? null,
    turns,
    left,
    closed,
    begin({ engine, request, tokenHash, settleMs, graces }, side) {
      const { turnId } = request;
      return follow(
        {
          type: 'begin',
          turnId,
          engine: engine.name,
          request,
          tokenHash,
          settleMs,
          ...(graces && { graces }),
        },
        side,
        { secrets: new Set(secretsIn(request.env)), beganAt: Date.now() },
      );
    },
    attach: (turnId, side, beganAt) =>
      follow({ type: 'attach', turnId }, side, { secrets: new Set(), beganAt }),
    drop(turnId) {
      turns.delete(turnId);
      send({ type: 'drop', turnId });
    },
    retire: () => send({ type: 'retire' }),
    end: () => send({ type: 'end' }),
    prolong: (until) => send({ type: 'lease', until }),
    leave(waitMs) {
      send({ type: 'wait', ms: waitMs, left: [...left] });
      turns.clear();
      socket.end();
    },
  });

  return new Promise((resolve, reject) => {
    // One that hangs is taken for dead, and its agents are ended by their marks
    const patience = setTimeout(() => socket.destroy(new Error('The worker does not answer.')), patienceMs);
    socket.once('error', reject);
    socket.once('close', () => clearTimeout(patience));
    socket.once('close', () => reject(new Error('The worker ended the connection.')));
    onFrames<FromWorker>(socket, (frame) => {
      if (frame.type !== 'ready') return take(frame);
      clearTimeout(patience);
      socket.on('error', (error) => onFault('a worker', error)); // `closed` tells its turns
      const refusal = refusalOf(frame, basename(path));
      if (refusal !== undefined) return refuse(refusal);
      resolve(connected(frame));
    });
    send({ type: 'hello', key });

    /** What it says could not be understood. Its turns are begun again here, so they must not go on there. */
    function refuse(reason: string): void {
      const error = new Error(`${reason} Its turns are interrupted, and can be resumed.`);
      onFault('a worker', error);
      send({ type: 'end' });
      reject(error);
    }
  });
}

const patienceMs = 10_000;
