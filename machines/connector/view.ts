import { isoTime } from '../iso-time.js';
import type { ConnectorContext, ConnectorState } from './context.js';

/** A connector as the API shows it. */
export type ConnectorView = ReturnType<typeof connectorView>;

/**
 * A connector as `GET /api/connectors` shows it. Never throws.
 * @example const { name, state } = connectorView(snapshot.value, snapshot.context);
 */
export function connectorView(state: ConnectorState, context: ConnectorContext) {
  return {
    name: context.name,
    instanceId: context.name,
    connectorType: context.connectorType,
    employee: context.employee,
    status: state.link,
    detail: context.detail,
    capabilities: context.capabilities,
    sending: state.outbox === 'sending',
    queueDepth: context.queue.length + (context.current === null ? 0 : 1),
    sent: context.sent,
    failed: context.failed,
    unknown: context.unknown,
    last: context.last,
    createdAt: isoTime(context.createdAt),
    updatedAt: isoTime(context.updatedAt),
  };
}
