import { checkShape } from '../../machines/shape.js';
import type { SessionInput } from '../../machines/session/context.js';
import { sessionMachine } from '../../machines/session/machine.js';
import { admitSession, sessionPolicy } from '../../machines/session/policy.js';
import { sessionIndex, sessionView, type SessionView } from '../../machines/session/view.js';
import type { FencedHand, Kind } from '../contracts.js';

/** Sessions as a kind: `sessionKind({turn: engineTurnHand(…)})`. The hand gets a TurnInput and answers a TurnOutput. */
export function sessionKind(hands: { readonly turn: FencedHand }): Kind<typeof sessionMachine, SessionView> {
  return {
    kind: 'session',
    newWork: ['message.post'],
    version: 1,
    machine: sessionMachine,
    hands: { 'engine-turn': hands.turn },
    policy: (snapshot, event) => sessionPolicy(snapshot.context, event),
    admit: (input) => admitSession(input as unknown as SessionInput), // the kernel hands inputs on as JSON; the door has parsed this one
    view: (snapshot) => sessionView(snapshot.value, snapshot.context),
    index: (snapshot) => sessionIndex(snapshot.value, snapshot.context),
    operatorEvents: {
      'session.stop': { reason: 'string?' }, 'queue.pause': {}, 'queue.resume': {}, 'queue.clear': {}, 'queue.cancel': { messageId: 'string' }, 'session.archive': {}, 'session.unarchive': {},
    },
    contents: ['content', 'text', 'prompt'],
    check: checkShape({
      id: 'string', engine: 'string', model: 'string?', effort: 'string?', employee: 'string?', parentSessionId: 'string?', ancestors: 'array',
      workItemId: 'string?', title: 'string', cwd: 'string', createdAt: 'number', lastActivity: 'number', lastError: 'string?', engineSessions: 'object',
      messages: 'number', turns: 'number', turn: 'object?', queue: 'array', queuePaused: 'boolean', leftTurns: 'array', engaged: 'boolean',
      attemptTerminalVersion: 'number', totalTurns: 'number', totalCost: 'number', usage: 'object', resetAt: 'number?', waits: 'number',
    }),
    supervision: { strategy: 'one_for_one', restart: 'transient' },
  };
}
