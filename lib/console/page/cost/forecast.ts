/** What a day has cost: `{ day: '2026-11-23', usd: 1.2 }`, in UTC as the report counts. */
export interface DayCost {
  readonly day: string;
  readonly usd: number;
}

export interface Forecast {
  readonly spentUsd: number;
  /** Of the last seven days, or of those since the first turn where these are fewer. */
  readonly usdPerDay: number;
  /** At the end of the month, if it goes on like this. */
  readonly endUsd: number;
}

/**
 * What the month will have cost. A day without a turn counts as one that was free.
 * @example forecastOf([{ day: '2026-11-22', usd: 7 }], Date.UTC(2026, 10, 23)).endUsd // 7 + 3.5 * 7
 */
export function forecastOf(days: readonly DayCost[], at: number): Forecast {
  const today = dayOf(at);
  const [year = 0, month = 0, date = 0] = today.split('-').map(Number);
  const daysLeft = new Date(Date.UTC(year, month, 0)).getUTCDate() - date;
  const spentUsd = sum(days.filter(({ day }) => day.startsWith(today.slice(0, 7)) && day <= today));
  const first = days.map(({ day }) => day).sort()[0] ?? today;
  const known = Math.floor((Date.parse(today) - Date.parse(first)) / dayMs) + 1;
  const paceDays = Math.max(1, Math.min(7, known));
  const since = dayOf(at - (paceDays - 1) * dayMs);
  const usdPerDay = sum(days.filter(({ day }) => day >= since && day <= today)) / paceDays;
  return { spentUsd, usdPerDay, endUsd: spentUsd + usdPerDay * daysLeft };
}

const dayMs = 86_400_000;
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
const sum = (days: readonly DayCost[]): number => days.reduce((total, { usd }) => total + usd, 0);
