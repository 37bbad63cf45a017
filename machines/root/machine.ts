import { assertEvent, assign, emit, setup } from 'xstate';
import { authorityOf, isTrusted, type Authority } from '../caller.js';
import { publish, type Stamp, type Output } from '../outputs.js';
import { refuse, type Refusal } from '../refusals.js';

/**
 * The root system: a handful of fixed subsystems, and whether the house is open.
 *
 * **What lives.** The names and reasons of subsystems that are failing at the moment. Thousands of actors
 * hang below by parent keys; they are never children here, and none of their faults is visible here.
 *
 * **What can happen.** `booting` ends as `running`, or as `degraded` where something failed on the way; a
 * failing subsystem degrades, the last recovery heals. A store that cannot write degrades, too: new work is
 * refused, nothing acknowledged is lost. Draining begins from anywhere and ends in `stopped`.
 *
 * **What can never happen.** A way back out of draining. `running` while a subsystem is failing.
 */
export const subsystems = ['store', 'disk', 'timers', 'effects', 'actors', 'gateway', 'connectors'] as const;
export type Subsystem = (typeof subsystems)[number];
export type RootStatus = 'booting' | 'running' | 'degraded' | 'draining' | 'stopped';

export interface RootContext {
  readonly failing: Readonly<Partial<Record<Subsystem, string>>>;
}

export type RootEvent = Stamp &
  (
    | { readonly type: 'boot.finished' }
    | { readonly type: 'subsystem.failed'; readonly name: Subsystem; readonly reason: string }
    | { readonly type: 'subsystem.recovered'; readonly name: Subsystem }
    | { readonly type: 'drain.begin' }
    | { readonly type: 'drain.finished' }
  );

/** Only people and the kernel move the root, and only fixed subsystems are known. */
export function rootPolicy(event: RootEvent, { onBehalfOf }: Authority): Refusal | undefined {
  if (!isTrusted(onBehalfOf))
    return refuse('FORBIDDEN', {}, 'Agents may not change the state of the system.');
  switch (event.type) {
    case 'boot.finished':
    case 'drain.begin':
    case 'drain.finished':
      return undefined;
    case 'subsystem.failed':
    case 'subsystem.recovered':
      return subsystems.includes(event.name)
        ? undefined
        : refuse('BAD_REQUEST', { path: 'name', known: subsystems });
    default:
      return refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

const root = setup({
  types: {} as { context: RootContext; events: RootEvent; emitted: Output },
  guards: {
    allowed: ({ event }) => rootPolicy(event, authorityOf(event)) === undefined,
    sound: ({ context, event }) =>
      rootPolicy(event, authorityOf(event)) === undefined && Object.keys(context.failing).length === 0,
    lastRecovers: ({ context, event }) =>
      rootPolicy(event, authorityOf(event)) === undefined &&
      event.type === 'subsystem.recovered' &&
      Object.keys(context.failing).every((name) => name === event.name),
  },
  actions: {
    note: assign(({ context, event }) => {
      assertEvent(event, 'subsystem.failed');
      return { failing: { ...context.failing, [event.name]: event.reason.slice(0, 500) } };
    }),
    forget: assign(({ context, event }) => {
      assertEvent(event, 'subsystem.recovered');
      return {
        failing: Object.fromEntries(Object.entries(context.failing).filter(([name]) => name !== event.name)),
      };
    }),
    tell: emit(({ context }, { status }: { status: RootStatus }) =>
      publish('system:status', { status, reasons: reasonsOf(context) }),
    ),
  },
});

const tell = (status: RootStatus) => ({ type: 'tell' as const, params: { status } });

export const rootMachine = root.createMachine({
  id: 'root',
  context: { failing: {} },
  initial: 'booting',
  on: { 'drain.begin': { guard: 'allowed', target: '.draining' } },
  states: {
    booting: {
      on: {
        'boot.finished': [
          { guard: 'sound', target: 'running' },
          { guard: 'allowed', target: 'degraded' },
        ],
        'subsystem.failed': { guard: 'allowed', actions: 'note' },
        'subsystem.recovered': { guard: 'allowed', actions: 'forget' },
      },
    },
    running: {
      entry: tell('running'),
      on: { 'subsystem.failed': { guard: 'allowed', target: 'degraded', actions: 'note' } },
    },
    degraded: {
      entry: tell('degraded'),
      on: {
        'subsystem.failed': { guard: 'allowed', actions: ['note', tell('degraded')] },
        'subsystem.recovered': [
          { guard: 'lastRecovers', target: 'running', actions: 'forget' },
          { guard: 'allowed', actions: ['forget', tell('degraded')] },
        ],
      },
    },
    draining: {
      entry: tell('draining'),
      on: { 'drain.begin': {}, 'drain.finished': { guard: 'allowed', target: 'stopped' } },
    },
    stopped: { type: 'final', entry: tell('stopped') },
  },
});

/** Why the system is degraded: `['store: the disk is full']`. */
export const reasonsOf = (context: RootContext): readonly string[] =>
  Object.entries(context.failing).map(([name, reason]) => `${name}: ${reason}`);
