import { appendFileSync, writeFileSync } from 'node:fs';

/**
 * What the auditor knows: every acknowledgement is on its own disk before it counts, and every violation. The
 * file stays behind when something was violated.
 */
export class Journal {
  readonly violations: string[] = [];
  private readonly counts = new Map<string, number>();

  constructor(readonly file: string) {
    writeFileSync(file, '');
  }

  acknowledged(what: string, tag: string, detail: unknown): void {
    this.count('acknowledged');
    this.count(`acknowledged: ${what}`);
    this.write({ acknowledged: what, tag, detail });
  }

  violated(kind: Violation, sentence: string): void {
    this.violations.push(`${kind}: ${sentence}`);
    this.count(kind);
    this.write({ violation: kind, sentence });
  }

  note(what: object): void {
    this.write(what);
  }

  count(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by);
  }
  get figures(): ReadonlyMap<string, number> {
    return this.counts;
  }
  figure(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  private write(line: object): void {
    appendFileSync(this.file, `${JSON.stringify({ at: Date.now(), ...line })}\n`);
  }
}

export type Violation = 'lost' | 'doubled' | 'half-written' | 'late' | 'orphan' | 'unexpected' | 'unsound';
export const violationKinds: readonly Violation[] = [
  'lost',
  'doubled',
  'half-written',
  'late',
  'orphan',
  'unexpected',
  'unsound',
];
