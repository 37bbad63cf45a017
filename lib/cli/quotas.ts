import type { Command } from 'commander';
import { connect } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { bytes, duration, table } from './print.js';

const quotas = ['sessions', 'items', 'runs', 'bytes'] as const;

/** `troupe quotas`: what each agent has begun, of what it may begin in this hour and in all. */
export function quotasCommand(program: Command, terminal: Terminal): void {
  withHome(program.command('quotas').description('show what each agent has begun, and how much it may'))
    .option('--json', 'answer as JSON')
    .action(async (options: HomeOptions & { readonly json?: boolean }) => {
      const client = await connect(homeOf(options, terminal));
      const answer = await client.get('/api/inspect/quotas', {});
      if (options.json === true) return terminal.out(JSON.stringify(answer));
      const { limits, agents } = answer;
      const now = Date.now();
      const amount = (quota: string, count = 0): string => (quota === 'bytes' ? bytes(count) : String(count));
      const row = (quota: string, used: Counts, of: 'hour' | 'total'): string =>
        `${amount(quota, used[quota])} of ${amount(quota, limits[quota]?.[of])}`;
      terminal.out(
        table(
          ['AGENT', 'PER', 'RESETS IN', ...quotas.map((quota) => quota.toUpperCase()), 'MET'],
          agents.flatMap(({ agent, inHour, total, resetAt, met }) => {
            const metAt = (per: string): string =>
              met?.per === per ? `${met.quota}, ${duration(now - met.at)} ago` : '-';
            return [
              [
                ...[agent, 'hour', duration(resetAt - now)],
                ...quotas.map((quota) => row(quota, inHour, 'hour')),
                metAt('hour'),
              ],
              [agent, 'total', '-', ...quotas.map((quota) => row(quota, total, 'total')), metAt('total')],
            ];
          }),
          'No agent has begun anything yet.',
        ),
      );
    });
}

type Counts = Readonly<Record<string, number>>;
