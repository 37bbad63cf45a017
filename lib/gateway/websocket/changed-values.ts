import type { Json } from '../../../machines/outputs.js';
import type { LogEntry, Supervisor } from '../../supervisor/contract.js';

/**
 * Work items come whole with `company:changed`, as they stand when the commit is handed on: clients show them
 * without asking again. The log itself keeps only what changed.
 */
export async function addValues(supervisor: Supervisor, entries: readonly LogEntry[]): Promise<void> {
  for (const entry of entries) {
    if (entry.kind !== 'work-item' || !entry.frames.some(({ event }) => event === 'company:changed'))
      continue;
    const item = await supervisor.get('work-item', entry.id);
    if (item !== undefined) values.set(entry, item.view);
  }
}

const values = new WeakMap<LogEntry, Json>();

/** The work item that changed with an entry; undefined: it is gone, or another kind of actor. */
export const valueOf = (entry: LogEntry): Json | undefined => values.get(entry);
