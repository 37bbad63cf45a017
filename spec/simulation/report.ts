import { cells, Coverage } from './coverage.js';
import type { Outcome } from './history.js';

/** What many histories came to, as figures. Time is that of the processors, so that neighbours do not count. */
export class Report {
  failed = 0;
  /** Processor time that the histories took, seconds. */
  seconds = 0;
  readonly coverage = new Coverage();
  private readonly outcomes: Omit<Outcome, 'coverage'>[] = [];

  add({ coverage, ...outcome }: Outcome): void {
    this.outcomes.push(outcome);
    this.coverage.add(coverage);
    if (outcome.problem !== undefined) this.failed += 1;
  }

  text(withTable: boolean): string {
    const { outcomes, coverage, seconds } = this;
    const sum = (of: (outcome: (typeof outcomes)[number]) => number): number =>
      outcomes.reduce((all, one) => all + of(one), 0);
    const round = (value: number): number => Number(value.toPrecision(3));
    const spread = (of: (outcome: (typeof outcomes)[number]) => number): object => {
      const sorted = outcomes.map(of).sort((a, b) => a - b);
      const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
      return {
        mean: round(sum(of) / outcomes.length),
        p5: at(0.05),
        p50: at(0.5),
        p95: at(0.95),
        max: at(1),
      };
    };
    const empty = coverage.empty();
    const figures = {
      histories: outcomes.length,
      failed: this.failed,
      processorSeconds: round(seconds),
      historiesPerSecond: round(outcomes.length / seconds),
      committedEventsAndFaultsPerSecond: round(
        (sum((one) => one.events) + sum((one) => one.faults)) / seconds,
      ),
      timesRealTime: round(sum((one) => one.simulatedMs) / 1000 / seconds),
      events: spread((one) => one.events),
      lives: spread((one) => one.lives),
      faults: spread((one) => one.faults),
      kindsOfFault: spread((one) => one.faultKinds.length),
      operationsOfTheDisk: spread((one) => one.operations),
      acknowledged: spread((one) => one.acknowledged),
      coverage: { cells: cells.length, empty: empty.length },
    };
    const table = withTable
      ? `\n${[...coverage.met]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, times]) => `${name}: ${times}`)
          .join('\n')}\nempty: ${empty.join(', ')}`
      : '';
    return `${JSON.stringify(figures, null, 1)}${table}`;
  }
}
