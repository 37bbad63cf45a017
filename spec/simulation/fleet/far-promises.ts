import { must } from '../model.js';
import type { Operation } from './clients.js';
import type { Loft } from './loft.js';
import type { Shown } from './promises.js';

/** What lies outside of the gateway: a connector's far side, and the files in which cron jobs leave their runs. */
interface FarSide {
  readonly loft: Loft;
  /** Status in the last line of each run. */
  readonly lines: ReadonlyMap<string, string>;
}

/**
 * A job's run is there once for each instant, and once for each time that someone asked for one; it opens one session.
 * A message leaves once at the most, and what is said of it is true. What someone wrote is heard once.
 */
export function checkFarPromises(
  operations: readonly Operation[],
  { fires, sessions, deliveries }: Shown,
  { loft, lines }: FarSide,
  settled: boolean,
): void {
  const once = (what: string, names: readonly string[]): void => {
    const seen = new Set<string>();
    for (const name of names) {
      must(!seen.has(name), `${what} ${name} is there twice`);
      seen.add(name);
    }
  };
  once(
    'the run for',
    fires
      .filter(({ view }) => view.why !== 'trigger' && view.status !== 'missed')
      .map(({ view }) => `${view.jobId} at ${view.dueAt}`),
  );
  const opened = sessions.filter(({ view }) => view.source === 'cron');
  once(
    'the session of',
    opened.map(({ view }) => String(view.sourceRef)),
  );
  const triggers = operations.filter(({ operation }) => operation === 'trigger');
  for (const job of new Set(triggers.map(({ whom }) => whom))) {
    const asked = triggers.filter(({ whom }) => whom === job);
    const least = asked.filter(({ knowledge }) => knowledge === 'done').length;
    const most = asked.filter(({ knowledge }) => knowledge !== 'refused').length;
    const made = fires.filter(({ view }) => view.jobId === job && view.why === 'trigger').length;
    must(
      made >= least && made <= most,
      `${job} was triggered ${least} to ${most} times, and ran ${made} times`,
    );
  }
  for (const [key, times] of loft.arrived) must(times === 1, `the message ${key} was sent ${times} times`);
  once(
    'the delivery',
    deliveries.map(({ id }) => id),
  );
  for (const { id, status } of deliveries) {
    must(status !== 'sent' || loft.arrived.has(id), `the message ${id} is said to be sent, and is not`);
    must(
      status !== 'failed' || !loft.arrived.has(id),
      `the message ${id} is said to have failed, and was sent`,
    );
  }
  for (const { id, isHeard } of loft.letters) {
    const letter = operations.find((one) => one.id === id)!;
    if (isHeard) letter.knowledge = 'done';
  }
  if (!settled) return;
  for (const { id, status } of deliveries)
    must(status !== 'queued', `the message ${id} still waits, though its connector is well`);
  must(loft.unheard.length === 0, `${loft.unheard[0]} was written and never heard`);
  for (const { id, view } of fires) {
    if (view.status === 'started') {
      const session = sessions.find((one) => one.view.sourceRef === id)?.view;
      const isHeld = session !== undefined && (session.queuePaused || session.status === 'waiting');
      must(isHeld, `the run ${id} goes on, though its session is ${session?.status ?? 'not there'}`);
    } else
      must(lines.get(id) === view.status, `the run ${id} is ${view.status}, its file says ${lines.get(id)}`);
  }
}
