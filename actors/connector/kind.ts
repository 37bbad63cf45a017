import { type ConnectorFacts, connectorView } from '../../machines/connector/context.js';
import { connectorMachine } from '../../machines/connector/machine.js';
import { connectorNotInState, connectorPolicy } from '../../machines/connector/policy.js';
import { connectorWaiting } from '../../machines/connector/waiting.js';
import type { Json } from '../../machines/outputs.js';
import { checkShape } from '../../machines/shape.js';
import { sortableText } from '../../machines/sortable.js';
import { defineKind } from '../define-kind.js';
import type { EffectsOf } from '../inference.js';

/**
 * Connectors as a kind: `connectorKind({connection, delivery})`. The effects get a ConnectionInput and a
 * DeliveryInput.
 */
export function connectorKind(effects: EffectsOf<typeof connectorMachine>) {
  return defineKind({
    kind: 'connector',
    version: 4,
    migrate: {
      /** Its chart says when, and no longer who; states and context are the same. */
      1: (old) => old,
      /** Since when it fails was not kept: it is from its next failure on. */
      2: (old) => ({ ...old, context: { ...(old.context as object), failingSince: null } }),
      /** What had failed was not kept: a person decides on messages from now on. */
      3: (old) => ({ ...old, context: withDecisions(old.context as Readonly<Record<string, Json>>) }),
    },
    machine: connectorMachine,
    effects: { connection: effects.connection, delivery: effects.delivery },
    policy: ({ context }, event, authority) => connectorPolicy(context, event, authority),
    notInState: ({ value, context }, event) => connectorNotInState(value.link, context, event),
    facts: (snapshot, _event, world) => connectorFacts(snapshot?.context.name, world['roster']),
    view: (snapshot) => connectorView(snapshot.value, snapshot.context),
    index: (snapshot) => [{ index: 'all', key: sortableText(snapshot.context.name) }],
    waitingFor: (snapshot) => connectorWaiting(snapshot.value.link, snapshot.context),
    indexVersion: 3,
    operatorEvents: { 'connector.start': {}, 'connector.stop': {} },
    redacted: ['text'],
    keptInBundles: (
      'id name connectorType employee channel thread deliveryId waitingId requestedBy outcome messageId ' +
      'senders mode code choice'
    ).split(' '),
    validateContext: checkShape({
      id: 'string',
      name: 'string',
      connectorType: 'string',
      employee: 'string?',
      capabilities: 'object',
      wanted: 'boolean',
      createdAt: 'number',
      updatedAt: 'number',
      detail: 'string?',
      failures: 'number',
      failingSince: 'number?',
      deliveries: 'number',
      queue: 'array',
      current: 'object?',
      unsettled: 'array',
      sent: 'number',
      failed: 'number',
      unknown: 'number',
      last: 'object?',
    }),
    supervision: { strategy: 'one_for_one', restart: 'permanent' },
  });
}

function withDecisions({ queue, current, ...context }: Readonly<Record<string, Json>>) {
  const undecided = (message: object) => ({ ...message, decision: null });
  return {
    ...context,
    queue: (queue as readonly object[]).map(undecided),
    current: current === null ? null : undecided(current as object),
    unsettled: [],
  };
}

/** Sessions may send where their employee lists the connector. */
function connectorFacts(name: string | undefined, roster: unknown): ConnectorFacts {
  const employees =
    (roster as { employees?: readonly { name: string; connectors?: readonly string[] }[] } | undefined)
      ?.employees ?? [];
  return {
    senders:
      name === undefined
        ? []
        : employees.filter(({ connectors }) => connectors?.includes(name)).map((employee) => employee.name),
  };
}
