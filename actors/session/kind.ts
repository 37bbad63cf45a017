import { checkShape } from '../../machines/shape.js';
import type { TurnInput, TurnOutput } from '../../machines/session/context.js';
import { sessionMachine } from '../../machines/session/machine.js';
import { admitSession, sessionNotInState, sessionPolicy } from '../../machines/session/policy.js';
import {
  isResting,
  statusOf,
  sessionIndex,
  sessionView,
  sessionWaiting,
} from '../../machines/session/view.js';
import type { AtMostOnceEffect, Json, Persisted } from '../contracts.js';
import { defineKind } from '../define-kind.js';
import { sessionPanels } from './panels.js';

/**
 * Sessions as a kind: `sessionKind({turn: engineTurnHand(…)})`. The hand gets a TurnInput and answers a
 * TurnOutput.
 */
export function sessionKind(effects: { readonly turn: AtMostOnceEffect<TurnInput, TurnOutput> }) {
  return defineKind({
    kind: 'session',
    startsWork: ['message.post'],
    version: 10,
    machine: sessionMachine,
    effects: { 'engine-turn': effects.turn },
    policy: ({ context }, event, authority) => sessionPolicy(context, event, authority),
    notInState: ({ context }, event) => sessionNotInState(context, event),
    validateInput: (input) => admitSession(input),
    view: (snapshot) => sessionView(statusOf(snapshot.value), snapshot.context),
    index: (snapshot) => sessionIndex(statusOf(snapshot.value), snapshot.context),
    waitingFor: (snapshot) => sessionWaiting(statusOf(snapshot.value), snapshot.context),
    panels: ({ context }) => sessionPanels(context),
    indexVersion: 1,
    operatorEvents: {
      'session.stop': { reason: 'string?' },
      'queue.pause': {},
      'queue.resume': {},
      'queue.clear': {},
      'queue.cancel': { messageId: 'string' },
      'queue.move': { messageId: 'string', place: 'number' },
      'session.archive': {},
      'session.unarchive': {},
    },
    redacted: ['content', 'text', 'prompt', 'toolInput', 'toolOutput', 'diff'],
    keptInBundles: (
      'id engine model effort effortLevel employee actsAs confinedAs parentSessionId ancestors ' +
      'workItemId source role kind type runId nodeId connector channel thread attemptOutcome ' +
      'outcome turnId nativeId messageId childId permissionId decision mode level asked ' +
      'leftTurns engineSessions'
    ).split(' '),
    validateContext: checkShape({
      id: 'string',
      engine: 'string',
      model: 'string?',
      effort: 'string?',
      employee: 'string?',
      actsAs: 'string?',
      parentSessionId: 'string?',
      ancestors: 'array',
      workItemId: 'string?',
      title: 'string',
      cwd: 'string',
      createdAt: 'number',
      lastActivity: 'number',
      lastError: 'string?',
      engineSessions: 'object',
      messages: 'number',
      turns: 'number',
      turn: 'object?',
      queue: 'array',
      queuePaused: 'boolean',
      leftTurns: 'array',
      engaged: 'boolean',
      attemptTerminalVersion: 'number',
      totalTurns: 'number',
      totalCost: 'number',
      usage: 'object',
      resetAt: 'number?',
      waits: 'number',
    }),
    migrate: {
      /** The resting states moved into one around them. */
      1: (old) =>
        typeof old.value === 'string' && isResting(old.value)
          ? { ...old, value: { resting: old.value } }
          : old,
      /** Whose rights one of before had that another caused is not known: those of no one. */
      2: (old) => ({ ...old, context: { ...old.context, actsAs: rightsBefore(old.context) } }),
      /** It takes cards of delegations as well; states and context are the same. */
      3: (old) => old,
      /** It takes what an agent does in a turn; nothing of before changes. */
      4: (old) => old,
      /** Its rules are patterns, and a name alone is one; it may have a git branch. */
      5: (old) => old,
      /** It lets what it holds be erased; nothing of before changes. */
      6: (old) => old,
      /** Its turns may fall silent and be resumed; nothing of before changes. */
      7: (old) => old,
      /** Which of its messages hold results of tools is not known: any may. */
      8: (old) => ({ ...old, context: { ...old.context, toolOutput: outputBefore(old.context) } }),
      /** It takes messages of another home; nothing of before changes. */
      9: (old) => old,
    },
    supervision: { strategy: 'one_for_one', restart: 'transient' },
  });
}

function rightsBefore({ employee = null, parentSessionId, source }: Persisted['context']): Json {
  return parentSessionId === null && source !== 'workflow' && source !== 'review' ? employee : null;
}

const outputBefore = ({ messages }: Persisted['context']): Json =>
  typeof messages === 'number' && messages > 0
    ? { last: messages, dropped: 0, marks: [[messages, 0]] }
    : null;
