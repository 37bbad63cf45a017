import { homeMachine, homePolicy } from '../../machines/home/machine.js';
import { checkShape } from '../../machines/shape.js';
import { defineKind } from '../define-kind.js';

/** The home as a kind with one actor, `homeId`: facts about files, in the log and told to watchers. */
export function homeKind() {
  return defineKind({
    kind: 'home',
    version: 2,
    /** Its chart says when, and no longer who; states and context are the same. */
    migrate: { 1: (old) => old },
    machine: homeMachine,
    policy: (_snapshot, event, authority) => homePolicy(event, authority),
    view: ({ context }) => ({ id: context.id, facts: context.facts, lastAt: context.lastAt }),
    index: ({ context }) => [{ index: 'all', key: context.id }],
    keptInBundles: ['id', 'event'],
    validateContext: checkShape({ id: 'string', facts: 'number' }),
  });
}

export const homeId = 'home';
