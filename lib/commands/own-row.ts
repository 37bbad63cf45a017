import type { Json } from '../../machines/ground.js';
import type { Supervisor } from '../supervisor/contract.js';

/** The row that plans keep under this key (`Turns.put`), as it is committed; undefined: there is none. */
export const ownRow = async (supervisor: Supervisor, key: string): Promise<Json | undefined> => (await supervisor.meta(key)).find(([name]) => name === key)?.[1];
