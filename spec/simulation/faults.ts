import { Coverage, type Phase } from './coverage.js';
import type { Disk, Verdict } from './disk.js';
import { verdictOf, type Fault } from './plan.js';

/** Judges each operation of the disk by the faults that a life has in store. */
export class Faults {
  phase: Phase = 'opening';
  readonly coverage = new Coverage();
  /** Kinds of faults that were met. */
  readonly kinds = new Set<string>();
  met = 0;
  /** When the last of them was over, microseconds of the machine. */
  lastAt = 0;
  private armed: { readonly fault: Fault; left: number }[] = [];
  private lasting: { readonly until: number; readonly verdict: Verdict; readonly fault: Fault } | undefined;

  constructor(
    private readonly disk: Disk,
    /** A power cut would take what only the other copy holds: then the process is only killed. */
    private readonly spare: () => boolean,
  ) {
    disk.gate = (operation) => this.judge(operation);
  }

  arm(faults: readonly Fault[]): void {
    this.armed = faults.map((fault) => ({ fault, left: fault.nth }));
    this.lasting = undefined;
    this.disk.full = false;
  }

  /** Something that is not of the disk. */
  note(kind: string): void {
    this.met += 1;
    this.lastAt = this.disk.machine.now;
    this.kinds.add(kind);
  }

  private judge(operation: string): Verdict | undefined {
    const { phase, disk } = this;
    if (this.armed.length > 0)
      for (const one of this.armed) {
        const { fault } = one;
        if (fault.phase !== phase || fault.operation !== operation || (one.left -= 1) > 0) continue;
        this.armed = this.armed.filter((other) => other !== one);
        return this.strike(fault);
      }
    if (this.lasting === undefined) return undefined;
    if (this.lasting.until < disk.machine.now) {
      this.lasting = undefined;
      disk.full = false;
      return undefined;
    }
    const { verdict, fault } = this.lasting;
    const spared = fault.fault === 'full disk' && !takesRoom.test(operation);
    if (spared || (fault.fault === 'error' && operation.split('.')[0] !== fault.operation.split('.')[0]))
      return undefined;
    this.met += 1;
    this.lastAt = disk.machine.now;
    return verdict;
  }

  private strike(fault: Fault): Verdict {
    this.note(fault.fault);
    this.coverage.hit(fault);
    this.disk.machine.note(fault.fault);
    const verdict = verdictOf(fault);
    if (verdict.type === 'slow') this.lastAt += verdict.ms * 1000;
    if (verdict.type === 'crash' && verdict.power && this.spare()) return { ...verdict, power: false };
    if (verdict.type === 'error' && fault.forMs > 0) {
      this.lasting = { until: this.disk.machine.now + fault.forMs * 1000, verdict, fault };
      this.disk.full = fault.fault === 'full disk';
    }
    return verdict;
  }
}

const takesRoom = /\.(?:create|write|mkdir|sync-names|flush)$/;
