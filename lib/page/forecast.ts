/** What a day has cost: `{ day: '2026-11-23', usd: 1.2 }`, in the time zone in which months of budgets begin. */
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
 * @example forecastOf([{ day: '2026-11-22', usd: 7 }], '2026-11-23').endUsd // 7 + 3.5 * 7
 */
export function forecastOf(days: readonly DayCost[], today: string): Forecast {
  const [year = 0, month = 0, date = 0] = today.split('-').map(Number);
  const daysLeft = new Date(Date.UTC(year, month, 0)).getUTCDate() - date;
  const spentUsd = sum(days.filter(({ day }) => day.startsWith(today.slice(0, 7)) && day <= today));
  const first = days.map(({ day }) => day).sort()[0] ?? today;
  const known = Math.floor((Date.parse(today) - Date.parse(first)) / dayMs) + 1;
  const paceDays = Math.max(1, Math.min(7, known));
  const since = new Date(Date.parse(today) - (paceDays - 1) * dayMs).toISOString().slice(0, 10);
  const usdPerDay = sum(days.filter(({ day }) => day >= since && day <= today)) / paceDays;
  return { spentUsd, usdPerDay, endUsd: spentUsd + usdPerDay * daysLeft };
}

const dayMs = 86_400_000;

/** `dayOf(Date.UTC(2026, 10, 30, 16), 'Asia/Tokyo') // '2026-12-01'`; in UTC where this browser knows no such zone. */
export function dayOf(at: number, timeZone: string): string {
  try {
    return new Date(at).toLocaleDateString('sv', { timeZone }); // the one that writes days as ISO does
  } catch {
    return new Date(at).toISOString().slice(0, 10);
  }
}

const sum = (days: readonly DayCost[]): number => days.reduce((total, { usd }) => total + usd, 0);
