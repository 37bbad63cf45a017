import { isoTime } from '../iso-time.js';
import type { ConnectorContext } from './context.js';
import type { Standpoint } from './policy.js';

/** A connector as the API shows it. */
export type ConnectorView = ReturnType<typeof connectorView>;

export function connectorView(where: Standpoint, context: ConnectorContext) {
  return {
    name: context.name,
    instanceId: context.name,
    connectorType: context.connectorType,
    employee: context.employee,
    status: where.link,
    detail: context.detail,
    capabilities: context.capabilities,
    sending: where.outbox === 'sending',
    queueDepth: context.queue.length + (context.current === null ? 0 : 1),
    sent: context.sent,
    failed: context.failed,
    unknown: context.unknown,
    last: context.last,
    createdAt: isoTime(context.createdAt),
    updatedAt: isoTime(context.updatedAt),
  };
}
