import { limits, type RunError, type RunStatus } from './context.js';
import { unmirror } from './mirror.js';
import { isActive, timeText, type Pass } from './pass.js';
import { release, writeReceipt } from './receipts.js';

/** How a run ends. Whatever is still under way is stopped in the same commit; nothing of it can bring the run back. */
export function complete(pass: Pass): void {
  end(pass, 'completed', 'The run has completed.');
}

export function fail(pass: Pass, error: RunError): void {
  if (pass.over) return;
  pass.set({ errors: [...pass.now.errors, { ...error, message: error.message.slice(0, limits.errorCharsMax) }].slice(-limits.errorsKept) });
  end(pass, 'failed', error.message);
}

export function cancel(pass: Pass, by: string, reason: string | null): void {
  if (pass.over) return;
  pass.set({ cancellation: { requestedAt: pass.at, requestedBy: by, reason } });
  end(pass, 'cancelled', reason ?? `Cancelled by ${by}.`);
}

function end(pass: Pass, status: RunStatus, why: string): void {
  for (const key of Object.keys(pass.now.gates)) unmirror(pass, key, 'reject', why.slice(0, 300));
  for (const [id, spot] of Object.entries(pass.spots)) {
    if (!isActive(spot)) continue;
    const place = pass.ways.place.get(id) ?? -1;
    const node = pass.nodes[place];
    if (node === undefined) continue;
    if (spot.status === 'running') release(pass, place, spot, why);
    pass.cancels.push(`wait:${place}`, `retry:${place}`, `gate:${place}`, `answer:${place}`);
    pass.move(id, { status: 'skipped', round: spot.round, attempt: spot.attempt, row: spot.row, at: spot.at });
    writeReceipt(pass, node, spot, { status: 'skipped', settledAt: timeText(pass.at), detail: `left: ${why}`.slice(0, 300) });
  }
  pass.candidates.length = 0;
  pass.set({ status, endedAt: pass.at, gates: {}, queued: false });
}
