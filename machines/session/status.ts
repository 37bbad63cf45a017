/**
 * The words of the API for where a session stands: the innermost state of its chart. Entries of the log from
 * before there was a state around the resting ones hold the bare word.
 */
export type SessionStatus = 'running' | RestingStatus | 'waiting' | 'deleted';
export type RestingStatus = 'idle' | 'error' | 'interrupted' | 'stopped';

/**
 * The status in the words of the API, of a state of the chart. Never throws.
 * @example sessionStatusOf({ resting: 'idle' }) // 'idle'
 */
export const statusOf = (value: SessionStatus | { readonly resting: RestingStatus }): SessionStatus =>
  typeof value === 'string' ? value : value.resting;

export const isResting = (status: string): status is RestingStatus =>
  ['idle', 'error', 'interrupted', 'stopped'].includes(status);
