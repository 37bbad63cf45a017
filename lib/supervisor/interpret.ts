import type { AnyEventObject } from 'xstate';
import type { ActorKey, Kind } from '../../actors/contracts.js';
import type { Json, Wish } from '../../machines/ground.js';
import type { Op } from '../store/contract.js';
import { keys } from '../store/keys.js';
import { parentTarget, selfTarget, type Action } from './driver.js';
import { none, type Call, type Live, type Timer } from './live.js';

/**
 * What a step asked for, turned into rows: timers, outbox, collections, messages. The rows go into the commit; the
 * rest of `Asked` tells the kernel what to start, stop and deliver once that commit is durable.
 */
export interface Asked {
  readonly actor: ActorKey;
  readonly ops: readonly Op[];
  readonly timers: Live['timers'];
  readonly calls: Live['calls'];
  readonly children: Live['children'];
  /** `src` of what starts, `-src` of what is left. */
  readonly effects: readonly string[];
  readonly started: readonly Start[];
  readonly left: readonly Call[];
  readonly frames: readonly { readonly event: string; readonly payload: Json }[];
  /** `text` is the event as it will stand in the inbox: made here, so that what cannot be stored fails the step and not the batch. */
  readonly messages: readonly { readonly to: ActorKey; readonly event: AnyEventObject; readonly text: string }[];
  /** Events for running effects; not durable. */
  readonly signals: readonly { readonly call: Call; readonly event: AnyEventObject }[];
  /** Durable child actors to create. */
  readonly births: readonly { readonly child: ActorKey; readonly input: Json }[];
  readonly armed: readonly { readonly id: string; readonly timer: Timer }[];
}

export interface Start extends Call {
  readonly callId: string;
  readonly input: Json;
}

/** Named by the kernel, never by an event: what a caller sends cannot end anything. */
export interface Ended { readonly call?: string; readonly timer?: string; readonly child?: string }

interface Input {
  readonly kind: Kind;
  readonly id: string;
  readonly rev: number;
  readonly before: Live | undefined;
  readonly actions: readonly Action[];
  readonly steady: number;
  readonly parent: ActorKey | null;
  /** What this step uses up: the effect that has a result, the timer that fired, the child that ended. */
  readonly ended: Ended | undefined;
  readonly outcome: { readonly status: string; readonly output?: unknown; readonly error?: unknown };
}

export function interpret(input: Input): Asked {
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
  private readonly messages: { to: ActorKey; event: AnyEventObject; text: string }[] = [];
  private readonly signals: { call: Call; event: AnyEventObject }[] = [];
  private readonly births: { child: ActorKey; input: Json }[] = [];
  private readonly armed: { id: string; timer: Timer }[] = [];

  constructor(private readonly input: Input) {
    const { before } = input;
    this.timers = before === undefined || before.timers === none ? {} : { ...before.timers };
    this.calls = before === undefined || before.calls === none ? {} : { ...before.calls };
    this.children = before === undefined || before.children === none ? {} : { ...before.children };
  }

  result(): Asked {
    const { kind, id, actions, before, outcome: { status } } = this.input;
    this.consume();
    for (const action of actions) this.act(action);
    if (status !== 'active') this.endAll();
    if (status === 'done' || status === 'error') this.tellParent();
    return {
      actor: { kind: kind.kind, id }, ops: this.ops,
      timers: share(this.timers, before?.timers), calls: share(this.calls, before?.calls), children: share(this.children, before?.children),
      effects: this.effects, started: this.started, left: this.left, frames: this.frames, messages: this.messages,
      signals: this.signals, births: this.births, armed: this.armed,
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
      case 'start': return this.start(action);
      case 'stop': return this.stop(action.id);
      case 'timer': return this.arm(action.id ?? `#${this.input.rev}.${this.armed.length}`, { due: this.input.steady + Math.max(0, Math.ceil(action.delayMs)), event: action.event, target: action.target });
      case 'cancel': return this.dropTimer(action.id);
      case 'send': return this.route(action.target, action.event);
      case 'emit': return this.wish(action.event as Wish);
    }
  }

  private start(action: Extract<Action, { type: 'start' }>): void {
    const { kind, id, rev } = this.input;
    if (this.calls[action.id] !== undefined || this.children[action.id] !== undefined) {
      throw new TypeError(`a child called "${action.id}" lives already: XState would forget it, and it would go on unseen`);
    }
    const childKind = kind.childKinds?.[action.src];
    if (childKind !== undefined) {
      const child = { kind: childKind, id: childId(action.systemId ?? `${id}.${action.id}.${rev}`) };
      this.children[action.id] = { ...child, src: action.src };
      this.births.push({ child, input: plain(action.input) });
      this.effects.push(action.src);
      return;
    }
    if (kind.hands?.[action.src] === undefined) throw new TypeError(`${kind.kind} has no hand for the effect "${action.src}"`);
    const call = { key: `${rev}.${this.callsStarted++}`, src: action.src };
    this.calls[action.id] = call;
    const start = { key: call.key, src: call.src, callId: action.id, input: plain(action.input) };
    this.started.push(start);
    this.effects.push(action.src);
    this.ops.push([keys.outbox(kind.kind, id, call.key), JSON.stringify({ callId: action.id, src: action.src, input: start.input })]);
  }

  /** A left effect keeps its row until its hand has settled: a crash in between must still clean up after it. */
  private stop(callId: string): void {
    const { kind, id } = this.input;
    const child = this.children[callId];
    if (child !== undefined) {
      delete this.children[callId];
      this.post({ kind: child.kind, id: child.id }, { type: 'xstate.stop' });
      this.effects.push(`-${child.src}`);
    }
    const call = this.calls[callId];
    if (call === undefined) return;
    delete this.calls[callId];
    this.left.push(call);
    this.effects.push(`-${call.src}`);
    const own = this.started.findIndex((start) => start.key === call.key);
    if (own >= 0) { // started and left within one step: it never ran
      this.started.splice(own, 1);
      this.ops.push([keys.outbox(kind.kind, id, call.key), null]);
    } else if (kind.hands?.[call.src]?.fence !== true) {
      this.ops.push([keys.outbox(kind.kind, id, call.key), null]);
    }
  }

  private arm(timerId: string, timer: Timer): void {
    const { kind, id } = this.input;
    if (!Number.isFinite(timer.due)) throw new TypeError(`the delay of "${timer.event.type}" is not a number`);
    this.dropTimer(timerId);
    this.timers[timerId] = timer;
    this.armed.push({ id: timerId, timer });
    this.ops.push([keys.timer(timer.due, kind.kind, id, timerId), '1']);
  }

  private dropTimer(timerId: string): void {
    const timer = this.timers[timerId];
    if (timer === undefined) return;
    delete this.timers[timerId];
    this.ops.push([keys.timer(timer.due, this.input.kind.kind, this.input.id, timerId), null]);
  }

  private route(target: string, event: AnyEventObject): void {
    const { kind, id, parent } = this.input;
    if (target === selfTarget) this.post({ kind: kind.kind, id }, event);
    else if (target === parentTarget) { if (parent !== null) this.post(parent, event); }
    else if (this.calls[target] !== undefined) this.signals.push({ call: this.calls[target], event });
    else if (this.children[target] !== undefined) this.post({ kind: this.children[target].kind, id: this.children[target].id }, event);
  }

  private wish(wish: Wish): void {
    const { kind, id } = this.input;
    switch (wish.type) {
      case 'kernel.keep':
        this.ops.push([keys.row(wish.collection, kind.kind, id, wish.n), wish.row === null ? null : JSON.stringify(wish.row)]);
        return;
      case 'kernel.tell':
        this.post(wish.to, wish.event);
        return;
      case 'kernel.announce':
        this.frames.push({ event: wish.event, payload: wish.payload });
        return;
      default: // a host's own emitted event: a frame under its own name
        this.frames.push({ event: (wish as AnyEventObject).type, payload: plain(wish) });
    }
  }

  private post(to: ActorKey, event: AnyEventObject): void {
    const text = JSON.stringify(event);
    this.messages.push({ to: { kind: to.kind, id: to.id }, event: JSON.parse(text) as AnyEventObject, text });
  }

  private endAll(): void {
    for (const callId of Object.keys(this.calls)) this.stop(callId);
    for (const childId of Object.keys(this.children)) this.stop(childId);
    for (const timerId of Object.keys(this.timers)) this.dropTimer(timerId);
  }

  private tellParent(): void {
    const { parent, kind, id, outcome } = this.input;
    if (parent === null) return;
    const { status } = outcome;
    const end = status === 'done' ? { output: plain(outcome.output) } : { error: plain(errorData(outcome.error)) };
    this.post(parent, { type: 'kernel.child-ended', child: { kind: kind.kind, id }, status, ...end });
  }
}

function share<Value>(now: Readonly<Record<string, Value>>, before: Readonly<Record<string, Value>> | undefined): Readonly<Record<string, Value>> {
  for (const member in now) {
    if (before !== undefined && now[member] !== before[member]) return now;
    if (before === undefined) return now;
  }
  if (before === undefined) return none;
  for (const member in before) if (!(member in now)) return isEmpty(now) ? none : now;
  return before;
}

/** Ids of children are made of names in the machine, which may hold anything; ids may not. */
const childId = (name: string): string => name.replace(/[^A-Za-z0-9._:-]/g, '-').slice(0, 200);

const isEmpty = (object: object): boolean => { for (const _ in object) return false; return true; };
export const errorData = (error: unknown): { name: string; message: string; code?: string } => {
  const { name, message, code } = (typeof error === 'object' && error !== null ? error : {}) as { name?: unknown; message?: unknown; code?: unknown };
  if (typeof message !== 'string') return { name: 'Error', message: typeof error === 'string' ? error : JSON.stringify(error) ?? 'unknown' };
  return { name: typeof name === 'string' ? name : 'Error', message, ...(typeof code === 'string' ? { code } : {}) };
};
const plain = (value: unknown): Json => value === undefined ? null : JSON.parse(JSON.stringify(value)) as Json;
