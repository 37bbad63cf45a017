/** Epoch milliseconds as the API writes times: ISO-8601, UTC, with milliseconds. Never reads the clock. */
export function isoTime(at: number): string {
  const day = Math.floor(at / dayMs);
  if (day !== knownDay) {
    knownDate = new Date(at).toISOString().slice(0, -13); // throws what Date throws for a time it cannot hold
    knownDay = day;
  }
  const ms = Math.floor(at) - day * dayMs;
  return (
    `${knownDate}${two(Math.floor(ms / 3_600_000))}:${two(Math.floor(ms / 60_000) % 60)}:` +
    `${two(Math.floor(ms / 1_000) % 60)}.${String(ms % 1_000).padStart(3, '0')}Z`
  );
}

// Nearly all times of a day's work lie within that day, and making the date is four fifths of the cost.
let knownDay = NaN;
let knownDate = '';
const dayMs = 86_400_000;
const pairs = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
const two = (n: number): string => pairs[n] as string;

/** The same for a time that may be absent. */
export const isoTimeOrNull = (at: number | null): string | null => (at === null ? null : isoTime(at));
