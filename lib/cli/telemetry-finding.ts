import type { Config } from '../home/config.js';
import type { Finding } from './finding.js';

/** Whether what telemetry needs is installed, in versions that it is made for. */
export async function telemetry({ telemetry: { to } }: Config): Promise<Finding | undefined> {
  if (to === null) return undefined;
  const about = 'telemetry';
  const { unfitTelemetry } = await import('../telemetry/sdk.js');
  const unfit = unfitTelemetry();
  return unfit === undefined
    ? { grade: 'good', about, what: `goes to ${to}` }
    : { grade: 'bad', about, what: `is not sent: ${unfit.what}`, remedy: unfit.install };
}
