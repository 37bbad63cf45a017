import os from 'node:os';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Preloaded (`node --import`) into a gateway that is to believe in another time: its wall clock runs as fast as
 * ever, so many milliseconds ahead of this machine's. Homes age; a spec of an old one must not.
 */
const aheadMs = Number(process.env['TROUPE_SPEC_CLOCK_AHEAD_MS'] ?? 0);
const RealDate = Date;

class ShiftedDate extends RealDate {
  constructor(...values: readonly unknown[]) {
    if (values.length === 0) super(RealDate.now() + aheadMs);
    else super(...(values as [number]));
  }
  static override now(): number {
    return RealDate.now() + aheadMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;

// On the boot of the machine that made a home, the time since boot would prove that it has aged since
const bootAgoMs = Number(process.env['TROUPE_SPEC_BOOT_AGO_MS'] ?? 0);
const { uptime } = os;
os.uptime = () => uptime() - bootAgoMs / 1_000;
syncBuiltinESMExports();
