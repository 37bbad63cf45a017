import { contentHash } from '../../home/atomic-file.js';

/**
 * Under which row the home remembers what it made of a thing of another home. Ids are each home's own; an id and the
 * time of its making name a thing of any.
 * @example originKey('work-item', { id: 'TRP-12', createdAt: '2026-11-24T09:00:00.000Z' })
 */
export const originKey = (
  kind: 'work-item' | 'session' | 'file',
  { id, createdAt }: { readonly id: string; readonly createdAt: string },
): string => `imported/${kind}/${contentHash(`${id} ${createdAt}`).slice(0, 32)}`;
