import { thingOfKey, type Notice } from '../../../machines/notifier/context.js';
import type { LogEntry } from '../../supervisor/contract.js';
import type { App } from '../app.js';

/** How a thing ended that waited, in a sentence for those who were asked elsewhere. */
export async function outcomeOf(app: App, { key, at }: Pick<Notice, 'key' | 'at'>): Promise<string> {
  const { kind, id, waitingId } = thingOfKey(key);
  const entries = await app.supervisor.history({ kind, id }, { limit: entriesMax });
  for (const entry of entries) {
    if (entry.at < at) break;
    const decided = decisionIn(entry, waitingId);
    if (decided !== undefined) return `${decided} by ${nameOf(app, entry.by)}.`;
  }
  return 'It waits no more.';
}

/** An actor that waits does little else; what lies further back is another story. */
const entriesMax = 20;

function decisionIn({ event }: LogEntry, waitingId: string): string | undefined {
  const { decision, permissionId, gateKey } = (event ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof decision !== 'string' || !Object.hasOwn(past, decision)) return undefined;
  const named = permissionId ?? gateKey;
  return named !== undefined && named !== waitingId ? undefined : past[decision as keyof typeof past];
}

const past = { allow: 'Allowed', deny: 'Denied', approve: 'Approved', reject: 'Rejected' } as const;

function nameOf(app: App, by: string): string {
  if (by === 'operator') return 'the operator';
  const [type, id = ''] = by.split(/:(.*)/s, 2);
  if (type === 'session') return 'an agent';
  return type === 'device'
    ? (app.records?.devices.personOf(id) ?? (id.includes(':') ? id : 'a paired browser'))
    : by;
}
