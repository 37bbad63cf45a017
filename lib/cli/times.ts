import type { Command } from 'commander';
import type { Layout } from '../home/layout.js';
import { localTime, timeOfDay } from './print.js';

/** How a command shows times to a person; `--json` answers in UTC whatever is asked. */
export interface Times {
  /** `2026-11-23 09:17:00 +01:00` */
  dateAndTime(at: number | string): string;
  /** `2026-11-23` */
  date(at: number | string): string;
  /** `09:17:00.120` */
  timeOfDay(at: number): string;
}

export interface TimeOptions {
  readonly utc?: boolean;
}

/** `--utc`, the same words in every command that prints times. */
export const withTimes = (command: Command): Command =>
  command.option('--utc', 'show times in UTC (default: portal.timeZone, else the zone of this terminal)');

/** Goes by `portal.timeZone` of the home, else by this terminal (`TZ`): also where config.yaml has a fault. */
export async function timesOf({ config }: Layout, { utc }: TimeOptions = {}): Promise<Times> {
  const { readConfig } = await import('../home/read-config.js');
  const zone =
    utc === true ? 'UTC' : ((await readConfig(config).catch(() => undefined))?.portal.timeZone ?? undefined);
  return {
    dateAndTime: (at) => localTime(at, zone),
    date: (at) => localTime(at, zone).slice(0, 10),
    timeOfDay: (at) => timeOfDay(at, zone),
  };
}
