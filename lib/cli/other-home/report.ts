import type { Terminal } from '../command-line.js';
import { plainText } from '../print.js';

/** What an import took, found here already, changed, and left out, and why: counted, with some names of each. */
export type Area =
  | 'employee'
  | 'skill'
  | 'text'
  | 'work item'
  | 'file'
  | 'session'
  | 'cron job'
  | 'workflow'
  | 'other';

interface Remark {
  readonly area: Area;
  readonly why: string;
  count: number;
  readonly examples: string[];
}

export class ImportLedger {
  readonly taken: Partial<Record<Area, number>> = {};
  readonly here: Partial<Record<Area, number>> = {};
  changed: Remark[] = [];
  leftOut: Remark[] = [];

  take(area: Area, count = 1): void {
    this.taken[area] = (this.taken[area] ?? 0) + count;
  }

  /** It is here since an earlier import. */
  find(area: Area): void {
    this.here[area] = (this.here[area] ?? 0) + 1;
  }

  change(area: Area, what: string, why: string): void {
    remark(this.changed, area, what, why);
  }

  leave(area: Area, what: string, why: string, count = 1): void {
    remark(this.leftOut, area, what, why, count);
  }

  /** The same remarks, and no counts: for what has been counted. */
  without(): ImportLedger {
    const other = new ImportLedger();
    other.changed = this.changed;
    other.leftOut = this.leftOut;
    return other;
  }

  print(terminal: Terminal, applied: boolean): void {
    const counted = (counts: Partial<Record<Area, number>>): string =>
      Object.entries(counts)
        .map(([area, count]) => `${count} ${area}${count === 1 ? '' : 's'}`)
        .join(', ') || 'nothing';
    terminal.out(`${applied ? 'Taken' : 'Would be taken'}: ${counted(this.taken)}.`);
    if (Object.keys(this.here).length > 0) terminal.out(`Here already: ${counted(this.here)}.`);
    for (const [title, remarks] of [
      ['Changed', this.changed],
      ['Left out', this.leftOut],
    ] as const)
      for (const { area, why, count, examples } of remarks) {
        const more = count > examples.length ? ', …' : '';
        terminal.out(
          `${title}: ${count} × ${area} (${plainText(examples.join(', '))}${more}): ${plainText(why)}`,
        );
      }
    if (!applied) terminal.out('Nothing was changed. Add --apply to do it.');
  }
}

function remark(remarks: Remark[], area: Area, what: string, why: string, count = 1): void {
  const known = remarks.find((one) => one.area === area && one.why === why);
  const name = what.slice(0, 80);
  if (known === undefined) {
    if (remarks.length < remarksMax) remarks.push({ area, why, count, examples: [name] });
    return;
  }
  known.count += count;
  if (known.examples.length < examplesMax) known.examples.push(name);
}

const examplesMax = 5;
/** Sentences of refusals can name what they refuse: then each is another one. */
const remarksMax = 500;
