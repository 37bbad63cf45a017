import { assertEvent, assign, emit, setup } from 'xstate';
import { publish, type Stamp, type Output } from '../outputs.js';

/**
 * The root system: a handful of fixed subsystems, and whether the instance is up.
 *
 * **What lives.** The names and reasons of subsystems that are failing at the moment. Thousands of actors
 * hang below by parent keys; they are never children here, and none of their faults is visible here.
 *
 * **What can happen.** `booting` ends as `running`, or as `degraded` where something failed on the way; a
 * failing subsystem degrades, the last recovery heals. A store that cannot write degrades, too: new work is
 * refused, nothing acknowledged is lost. Draining begins from anywhere and ends in `stopped`.
 *
 * **What can never happen.** A way back out of draining. `running` while a subsystem is failing.
 * @example const names: readonly string[] = subsystems;
 */
export const subsystems = ['store', 'disk', 'timers', 'effects', 'actors', 'gateway', 'connectors'] as const;
/** A part of the process that the root watches. */
export type Subsystem = (typeof subsystems)[number];
/** How the whole process is. */
export type RootStatus = 'booting' | 'running' | 'degraded' | 'draining' | 'stopped';

/** What the root remembers of its subsystems. */
export interface RootContext {
  /** Why each failing part is failing; a part that works is absent. */
  readonly failing: Readonly<Partial<Record<Subsystem, string>>>;
}

/** What the root hears of its subsystems. */
export type RootEvent = Stamp &
  (
    | { readonly type: 'boot.finished' }
    /** `reason` is a sentence; 500 characters of it are kept. */
    | { readonly type: 'subsystem.failed'; readonly name: Subsystem; readonly reason: string }
    /** The part works again. */
    | { readonly type: 'subsystem.recovered'; readonly name: Subsystem }
    | { readonly type: 'drain.begin' }
    | { readonly type: 'drain.finished' }
  );

const root = setup({
  types: {} as { context: RootContext; events: RootEvent; emitted: Output },
  guards: {
    allWell: ({ context }) => Object.keys(context.failing).length === 0,
    lastRecovers: ({ context, event }) =>
      event.type === 'subsystem.recovered' &&
      Object.keys(context.failing).every((name) => name === event.name),
  },
  actions: {
    recordFailure: assign(({ context, event }) => {
      assertEvent(event, 'subsystem.failed');
      return { failing: { ...context.failing, [event.name]: event.reason.slice(0, 500) } };
    }),
    recordRecovery: assign(({ context, event }) => {
      assertEvent(event, 'subsystem.recovered');
      return {
        failing: Object.fromEntries(Object.entries(context.failing).filter(([name]) => name !== event.name)),
      };
    }),
    publishStatus: emit(({ context }, { status }: { status: RootStatus }) =>
      publish('system:status', { status, reasons: reasonsOf(context) }),
    ),
  },
});

const status = (status: RootStatus) => ({ type: 'publishStatus' as const, params: { status } });

/**
 * The statechart of the whole process.
 * @example const chart = rootMachine.root.states;
 */
export const rootMachine = root.createMachine({
  id: 'root',
  context: { failing: {} },
  initial: 'booting',
  on: { 'drain.begin': '.draining' },
  states: {
    booting: {
      on: {
        'boot.finished': [{ guard: 'allWell', target: 'running' }, { target: 'degraded' }],
        'subsystem.failed': { actions: 'recordFailure' },
        'subsystem.recovered': { actions: 'recordRecovery' },
      },
    },
    running: {
      entry: status('running'),
      on: { 'subsystem.failed': { target: 'degraded', actions: 'recordFailure' } },
    },
    degraded: {
      entry: status('degraded'),
      on: {
        'subsystem.failed': { actions: ['recordFailure', status('degraded')] },
        'subsystem.recovered': [
          { guard: 'lastRecovers', target: 'running', actions: 'recordRecovery' },
          { actions: ['recordRecovery', status('degraded')] },
        ],
      },
    },
    draining: {
      entry: status('draining'),
      on: { 'drain.begin': {}, 'drain.finished': 'stopped' },
    },
    stopped: { type: 'final', entry: status('stopped') },
  },
});

/**
 * Why the system is degraded: `['store: the disk is full']`. Never throws.
 * @example const reasons = (context: RootContext) => reasonsOf(context); // ['store: the disk is full']
 */
export const reasonsOf = (context: RootContext): readonly string[] =>
  Object.entries(context.failing).map(([name, reason]) => `${name}: ${reason}`);
