import type { EngineRegistry } from '../../actors/engines/registry.js';
import { announceFact } from '../records/records.js';
import type { Supervisor } from '../supervisor/contract.js';

/**
 * Tells watchers that the engines are to be read again: one offers something else here, or was told other
 * limits. What changes meanwhile is told with the next frame.
 */
export function followEngines(
  supervisor: Supervisor,
  registry: Pick<EngineRegistry, 'onChange'>,
): { close(): void } {
  let owed = false;
  let announcing = false;
  let closed = false;
  const announce = async (): Promise<void> => {
    announcing = true;
    while (owed && !closed) {
      owed = false;
      await announceFact(supervisor, 'engines:updated', {});
    }
    announcing = false;
  };
  const forget = registry.onChange(() => {
    owed = true;
    if (!announcing) void announce();
  });
  return {
    close() {
      closed = true;
      forget();
    },
  };
}
