import type { Json } from '../outputs.js';
import { delayedEvent, type NestedAction } from '../nested.js';
import type { StepCall, StepRun } from './context.js';
import { gateKeyOf } from './gates.js';
import type { RunNode } from './graph.js';
import { nestedStep } from './step-machine.js';

/** What the machine asks XState for, in the order in which the steps asked. */
export type Request =
  | {
      readonly type: 'start';
      readonly src: 'workflow-step' | 'workflow-act';
      readonly id: string;
      readonly input: StepCall;
    }
  | { readonly type: 'stop'; readonly id: string }
  | {
      readonly type: 'timer';
      readonly id: string;
      readonly event: { readonly type: string } & Record<string, Json>;
      readonly delayMs: number;
    }
  | { readonly type: 'cancel'; readonly id: string };

/**
 * What a step asks for, in the run's name: its effect is known by node, round and attempt, its timers by the
 * node and the delay. A delay without an end is none.
 */
export function requestOf(
  action: NestedAction,
  node: RunNode,
  place: number,
  { before, after }: { readonly before: StepRun; readonly after: StepRun },
): Request | undefined {
  switch (action.type) {
    case 'start':
      return {
        type: 'start',
        src: action.src as 'workflow-step', // one of the two that the step's machine invokes
        id: callOf(place, after),
        input: action.input as StepCall,
      };
    case 'stop':
      return { type: 'stop', id: callOf(place, before) };
    case 'cancel':
      return { type: 'cancel', id: `${action.name}:${place}` };
    case 'timer': {
      const { name, delayMs } = action;
      if (delayMs === Infinity) return undefined;
      const of =
        after.gate === undefined
          ? { nodeId: node.id, round: after.round, attempt: after.attempt }
          : { gateKey: gateKeyOf(node.id, after.gate.gateId, after.round) };
      const event = { type: timerEvents[name as keyof typeof timerEvents], ...of };
      return { type: 'timer', id: `${name}:${place}`, event, delayMs };
    }
  }
}

/** Timers of a step, by the delay: what the run hears when they fire. */
const timerEvents = {
  timeout: 'step.timeout',
  retry: 'step.retry',
  wait: 'wait.over',
  gate: 'gate.overdue',
  answer: 'gate.unanswered',
} as const;

/** The step's own event for a timer of the run that has fired. */
export function timerFor(type: string): string | undefined {
  const delay = Object.entries(timerEvents).find(([, event]) => event === type)?.[0];
  return delay === undefined ? undefined : delayedEvent(nestedStep, delay);
}

/** The name of what works on one attempt, among a run's effects. */
const callOf = (place: number, { round, attempt }: StepRun): string => `step:${place}:${round}:${attempt}`;
