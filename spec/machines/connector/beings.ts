import { authorityOf } from '../../../machines/caller.js';
import type { SnapshotFrom } from 'xstate';
import type { ConnectorEvent } from '../../../machines/connector/context.js';
import { connectorMachine } from '../../../machines/connector/machine.js';
import { connectorNotInState, connectorPolicy } from '../../../machines/connector/policy.js';
import { Life } from '../step.js';

/** Connectors for specs. */
export type Wire = Life<typeof connectorMachine>;
export const fresh = (input: Record<string, unknown> = {}): Wire =>
  new Life(
    connectorMachine,
    {
      name: 'hook',
      connectorType: 'webhook',
      employee: null,
      capabilities: { threading: false, messageEdits: false, reactions: false, attachments: false },
      ...input,
    },
    (snapshot: SnapshotFrom<typeof connectorMachine>, event: ConnectorEvent) =>
      connectorPolicy(snapshot.context, event, authorityOf(event)),
    undefined,
    ({ value, context }, event: ConnectorEvent) => connectorNotInState(value.link, context, event),
  );
