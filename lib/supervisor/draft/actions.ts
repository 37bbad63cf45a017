import { hash } from 'node:crypto';
import type { AnyEventObject } from 'xstate';
import type { ActorKey, Kind } from '../../../actors/contracts.js';
import { reasonOf } from '../../../machines/text.js';
import { actionCallPrefix, parentTarget, selfTarget, type Action } from '../../../actors/driver.js';
import type { Json, Output } from '../../../machines/outputs.js';
import type { Op } from '../../store/contract.js';
import { keys } from '../../store/keys.js';
import { asCarried, carried, jsonText, own, setOwn } from './codec.js';
import { none, type Call, type ActorState, type Timer } from './actor-state.js';

/**
 * What a step asked for, turned into rows: timers, outbox, collections, messages. The rows go into the
 * commit; the rest of `RequestedActions` tells the kernel what to start, stop and deliver once that commit is durable.
 */
export interface RequestedActions {
  readonly actor: ActorKey;
  readonly ops: readonly Op[];
  readonly timers: ActorState['timers'];
  readonly calls: ActorState['calls'];
  readonly children: ActorState['children'];
  /** `src` of what starts, `-src` of what is left. */
  readonly effects: readonly string[];
  readonly started: readonly Start[];
  readonly left: readonly Call[];
  readonly frames: readonly { readonly event: string; readonly payload: Json }[];
  /**
   * `row` is the message as it will lie in the inbox, up to its cause: made here, so that what cannot be stored
   * fails the step and not the batch.
   */
  readonly messages: readonly {
    readonly to: ActorKey;
    readonly event: AnyEventObject;
    readonly row: string;
  }[];
  /** Events for running effects; not durable. */
  readonly signals: readonly { readonly call: Call; readonly event: AnyEventObject }[];
  /** Durable child actors to create. */
  readonly reservations: readonly { readonly child: ActorKey; readonly input: Json }[];
  readonly armed: readonly { readonly id: string; readonly timer: Timer }[];
  /** There is something to start, stop or deliver once the commit is durable. */
  readonly releases: boolean;
}

export interface Start extends Call {
  readonly callId: string;
  readonly input: Json;
}

/** Named by the kernel, never by an event: what a caller sends cannot end anything. */
export interface Ended {
  readonly call?: string;
  readonly timer?: string;
  readonly child?: string;
}

interface Input {
  readonly kind: Kind;
  readonly id: string;
  readonly rev: number;
  readonly before: ActorState | undefined;
  readonly actions: readonly Action[];
  readonly monotonic: number;
  readonly parent: ActorKey | null;
  /** What this step uses up: the effect that has a result, the timer that fired, the child that ended. */
  readonly ended: Ended | undefined;
  readonly outcome: { readonly status: string; readonly output?: unknown; readonly error?: unknown };
}

export function requestedActions(input: Input): RequestedActions {
  return new Interpreter(input).result();
}

class Interpreter {
  private readonly ops: Op[] = [];
  private callsStarted = 0;
  private readonly timers: Record<string, Timer>;
  private readonly calls: Record<string, Call>;
  private readonly children: Record<string, ActorKey & { readonly src: string }>;
  private readonly effects: string[] = [];
  private readonly started: Start[] = [];
  private readonly left: Call[] = [];
  private readonly frames: { event: string; payload: Json }[] = [];
  private readonly messages: { to: ActorKey; event: AnyEventObject; row: string }[] = [];
  private readonly signals: { call: Call; event: AnyEventObject }[] = [];
  private readonly reservations: { child: ActorKey; input: Json }[] = [];
  private readonly armed: { id: string; timer: Timer }[] = [];

  constructor(private readonly input: Input) {
    const { before } = input;
    this.timers = before === undefined || before.timers === none ? {} : { ...before.timers };
    this.calls = before === undefined || before.calls === none ? {} : { ...before.calls };
    this.children = before === undefined || before.children === none ? {} : { ...before.children };
  }

  result(): RequestedActions {
    const {
      kind,
      id,
      actions,
      before,
      outcome: { status },
    } = this.input;
    this.consume();
    for (const action of actions) this.act(action);
    if (status !== 'active') this.endAll();
    if (status === 'done' || status === 'error') this.notifyParent();
    const { started, left, messages, signals, armed } = this;
    return {
      actor: { kind: kind.kind, id },
      ops: this.ops,
      timers: share(this.timers, before?.timers),
      calls: share(this.calls, before?.calls),
      children: share(this.children, before?.children),
      effects: this.effects,
      started,
      left,
      frames: this.frames,
      messages,
      signals,
      reservations: this.reservations,
      armed,
      releases: started.length + left.length + messages.length + signals.length + armed.length > 0,
    };
  }

  private consume(): void {
    const { ended } = this.input;
    if (ended?.call !== undefined) delete this.calls[ended.call];
    if (ended?.timer !== undefined) this.dropTimer(ended.timer);
    if (ended?.child !== undefined) delete this.children[ended.child];
  }

  private act(action: Action): void {
    switch (action.type) {
      case 'start':
        return this.start(action);
      case 'stop':
        return this.stop(action.id);
      case 'timer':
        return this.arm(action.id ?? `#${this.input.rev}.${this.armed.length}`, {
          due: this.input.monotonic + Math.max(0, Math.ceil(action.delayMs)),
          event: asCarried(action.event, 'the delayed event'),
          target: action.target,
        });
      case 'cancel':
        return this.dropTimer(action.id);
      case 'send':
        return this.route(action.target, action.event);
      case 'emit':
        return this.output(action.event as Output);
    }
  }

  private start(action: Extract<Action, { type: 'start' }>): void {
    const { kind, id, rev } = this.input;
    if (action.id === undefined) return this.call(`${actionCallPrefix}${rev}.${this.callsStarted}`, action);
    if (own(this.calls, action.id) !== undefined || own(this.children, action.id) !== undefined) {
      throw new TypeError(
        `a child called "${action.id}" already exists: XState would drop it while it keeps running`,
      );
    }
    const childKind = kind.childKinds?.[action.src];
    if (childKind !== undefined) {
      const child = { kind: childKind, id: childId(action.systemId ?? `${id}.${action.id}.${rev}`) };
      setOwn(this.children, action.id, { ...child, src: action.src });
      this.reservations.push({ child, input: carried(action.input, `the input of "${action.id}"`) });
      this.effects.push(action.src);
      return;
    }
    this.call(action.id, action);
  }

  private call(callId: string, { src, input: given }: Extract<Action, { type: 'start' }>): void {
    const { kind, id, rev } = this.input;
    if (kind.effects?.[src] === undefined) throw new TypeError(`${kind.kind} has no effect "${src}"`);
    const call = { key: `${rev}.${this.callsStarted++}`, src };
    setOwn(this.calls, callId, call);
    const input = carried(given, `the input of "${src}"`);
    this.started.push({ key: call.key, src, callId, input });
    this.effects.push(src);
    this.ops.push([keys.outbox(kind.kind, id, call.key), JSON.stringify({ callId, src, input })]);
  }

  /**
   * A left effect keeps its row until its effect has settled: a crash in between must still clean up after it.
   */
  private stop(callId: string): void {
    const { kind, id } = this.input;
    const child = own(this.children, callId);
    if (child !== undefined) {
      delete this.children[callId];
      this.post({ kind: child.kind, id: child.id }, { type: 'xstate.stop' });
      this.effects.push(`-${child.src}`);
    }
    const call = own(this.calls, callId);
    if (call === undefined) return;
    delete this.calls[callId];
    this.left.push(call);
    this.effects.push(`-${call.src}`);
    const fresh = this.started.findIndex((start) => start.key === call.key);
    if (fresh >= 0) {
      // started and left within one step: it never ran
      this.started.splice(fresh, 1);
      this.ops.push([keys.outbox(kind.kind, id, call.key), null]);
    } else if (kind.effects?.[call.src]?.guarantee !== 'at-most-once') {
      this.ops.push([keys.outbox(kind.kind, id, call.key), null]);
    }
  }

  private arm(timerId: string, timer: Timer): void {
    const { kind, id } = this.input;
    if (!Number.isFinite(timer.due))
      throw new TypeError(`the delay of "${timer.event.type}" is not a number`);
    this.dropTimer(timerId);
    setOwn(this.timers, timerId, timer);
    this.armed.push({ id: timerId, timer });
    this.ops.push([keys.timer(timer.due, kind.kind, id, timerId), '1']);
  }

  private dropTimer(timerId: string): void {
    const timer = own(this.timers, timerId);
    if (timer === undefined) return;
    delete this.timers[timerId];
    this.ops.push([keys.timer(timer.due, this.input.kind.kind, this.input.id, timerId), null]);
  }

  private route(target: string, event: AnyEventObject): void {
    const { kind, id, parent } = this.input;
    if (target === selfTarget) return this.post({ kind: kind.kind, id }, event);
    if (target === parentTarget) return parent === null ? undefined : this.post(parent, event);
    const call = own(this.calls, target);
    if (call !== undefined) return void this.signals.push({ call, event });
    const child = own(this.children, target);
    if (child !== undefined) this.post(child, event);
  }

  private output(output: Output): void {
    const { kind, id } = this.input;
    switch (output.type) {
      case 'kernel.write-row':
        this.ops.push([
          keys.row(output.collection, kind.kind, id, output.n),
          output.row === null ? null : jsonText(output.row, 'row'),
        ]);
        return;
      case 'kernel.send':
        this.post(output.to, output.event);
        return;
      case 'kernel.publish':
        this.frames.push({ event: output.event, payload: asCarried(output.payload, 'payload') });
        return;
      default: // a host's own emitted event: a frame under its own name
        this.frames.push({ event: (output as AnyEventObject).type, payload: asCarried(output, 'emitted') });
    }
  }

  private post(to: ActorKey, event: AnyEventObject): void {
    if (this.messages.length >= messagesMax)
      throw new RangeError(`a step may send at most ${messagesMax} messages`);
    if (typeof to.kind !== 'string' || typeof to.id !== 'string')
      throw new TypeError(`the message "${event.type}" has no receiver`);
    const { kind, id } = this.input;
    const text = jsonText(event, 'message');
    this.messages.push({
      to: { kind: to.kind, id: to.id },
      event: JSON.parse(text) as AnyEventObject,
      row: `{"event":${text},"from":${JSON.stringify({ kind: kind.kind, id })}`,
    });
  }

  private endAll(): void {
    // What the last steps asked to be done is done all the same
    for (const callId of Object.keys(this.calls)) if (!callId.startsWith(actionCallPrefix)) this.stop(callId);
    for (const childId of Object.keys(this.children)) this.stop(childId);
    for (const timerId of Object.keys(this.timers)) this.dropTimer(timerId);
  }

  private notifyParent(): void {
    const { parent, kind, id, outcome } = this.input;
    if (parent === null) return;
    const { status } = outcome;
    const end =
      status === 'done' ? { output: carried(outcome.output, 'output') } : { error: errorData(outcome.error) };
    this.post(parent, { type: 'kernel.child-ended', child: { kind: kind.kind, id }, status, ...end });
  }
}

function share<Value>(
  now: Readonly<Record<string, Value>>,
  before: Readonly<Record<string, Value>> | undefined,
): Readonly<Record<string, Value>> {
  for (const member in now) {
    if (before !== undefined && now[member] !== before[member]) return now;
    if (before === undefined) return now;
  }
  if (before === undefined) return none;
  for (const member in before) if (!Object.hasOwn(now, member)) return isEmpty(now) ? none : now;
  return before;
}

/** Their rows are numbered within the entry that sends them, by four digits. */
const messagesMax = 10_000;

/**
 * Ids of children are made of names in the machine, which may hold anything; ids may not. What is too long ends
 * in a digest of all of it: cut short, it could be the name of another.
 */
function childId(name: string): string {
  const id = name.replace(/[^A-Za-z0-9._:-]/g, '-');
  return id.length <= idCharsMax
    ? id
    : `${id.slice(0, idCharsMax - 44)}.${hash('sha256', name, 'base64url')}`;
}
const idCharsMax = 200;

const isEmpty = (object: object): boolean => {
  for (const _ in object) return false;
  return true;
};
/**
 * As it comes to `onError`, whatever it was: libraries reject with what refers to itself, such as a response with its
 * request, and no commit holds a message without end.
 */
export function errorData(error: unknown): { name: string; message: string; code?: string } {
  try {
    const { name, message, code } = Object(error) as Readonly<Record<'name' | 'message' | 'code', unknown>>;
    if (typeof message !== 'string') return { name: 'Error', message: cut(saidBy(error)) };
    return {
      name: typeof name === 'string' ? name : 'Error',
      message: cut(message),
      ...(typeof code === 'string' ? { code } : {}),
    };
  } catch {
    return { name: 'Error', message: cut(reasonOf(error)) };
  }
}

const saidBy = (error: unknown): string =>
  typeof error === 'string' ? error : (JSON.stringify(error) ?? 'unknown');
const cut = (text: string): string => text.slice(0, errorCharsMax);
const errorCharsMax = 10_000;
