import { openAudit } from '../../../../lib/records/audit/audit.js';
import { shipAudit } from '../../../../lib/records/audit/ship-audit.js';
import { auditTargets } from '../../../../lib/records/audit/targets.js';
import { systemEnvironment } from '../../../../lib/environment.js';

/** Decides without end, and says after each write how often it wrote: to be killed at any moment. */
const [, , folder = '', file = ''] = process.argv;
const environment = systemEnvironment();
const audit = await openAudit({ folder, environment });
shipAudit({
  folder,
  targets: auditTargets({ file, syslog: null, command: null }),
  clock: environment.clock,
  onWritten: (listener) => audit.onWritten(listener),
  failed: (error) => {
    console.error(error);
    process.exitCode = 1;
  },
});
for (let round = 0; ; round += 1) {
  for (let n = 0; n < 20; n += 1)
    audit.decided({ by: 'operator', address: undefined, authority: 'a', method: 'POST', verdict: 'allowed' });
  await audit.flush();
  process.stdout.write(`${round}\n`);
}
