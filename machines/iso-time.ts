/** Epoch milliseconds as the API writes times: ISO-8601, UTC, with milliseconds. Never reads the clock. */
export const isoTime = (at: number): string => new Date(at).toISOString();

/** The same for a time that may be absent. */
export const isoTimeOrNull = (at: number | null): string | null => (at === null ? null : isoTime(at));
