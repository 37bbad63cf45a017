import { useSignal } from '@preact/signals';
import { useAction } from '../../../page/action.js';
import { now, span, withUtc } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { cronWords } from '../cron/cron-words.js';
import { JobForm } from '../cron/job-form.js';
import { DayStrip, runTone } from '../cron/day-strip.js';
import { named, useLoaded } from '../live.js';
import { Answered } from '../parts/answered.js';
import { NoRecords, Sheet } from '../parts/sheet.js';
import { linkTo } from '../place.js';

/** What runs by the clock: when next, how it went last, and now if one wants. */
export function Cron() {
  const loaded = useLoaded('cron', () => must(client.get('/api/cron')), { touches: named(/^cron:/) });
  /** The id of a job; empty: a new one. */
  const edited = useSignal<string | undefined>(undefined);
  const close = (): void => {
    edited.value = undefined;
  };
  return (
    <Answered loaded={loaded}>
      {(jobs) => (
        <>
          {edited.value === undefined ? (
            <p class="ways">
              <button
                type="button"
                class="primary"
                onClick={() => {
                  edited.value = '';
                }}
              >
                New job …
              </button>
            </p>
          ) : (
            <JobForm key={edited.value} id={edited.value} close={close} />
          )}
          {jobs.length === 0 ? (
            <NoRecords title="Nothing is scheduled." guide={{ href: '/docs/cron', label: 'How it works' }}>
              A cron job opens a session at fixed times, and catches up on what it missed where it is set so.
            </NoRecords>
          ) : (
            <>
              <DayStrip jobs={jobs} />
              <Sheet
                label="Cron jobs"
                columns={['Job', 'Schedule', 'Next', 'Last', { name: 'Run', shown: 'unseen' }]}
                items={jobs}
                keyOf={({ id }) => id}
                row={(job, at) => (
                  <tr key={job.id} data-job={job.id} {...at}>
                    <th scope="row">
                      {job.name}
                      {!job.enabled && <b class="state rest">off</b>}
                      {job.employee !== null && <small class="soft"> {job.employee}</small>}
                    </th>
                    <td>
                      {cronWords(job.schedule)}
                      <small class="soft five">
                        <code>{job.schedule}</code> {job.timezone}
                      </small>
                    </td>
                    <td class="num" title={job.nextRunAt === null ? '' : withUtc(Date.parse(job.nextRunAt))}>
                      {job.nextRunAt === null ? 'never' : `in ${span(Date.parse(job.nextRunAt) - now.value)}`}
                    </td>
                    <td class="num">
                      {job.running > 0 && (
                        <b class="state busy">{job.running === 1 ? 'running' : `${job.running} running`}</b>
                      )}{' '}
                      {job.lastRun === null ? (
                        <span class="soft">{job.running > 0 ? 'for the first time' : 'not yet'}</span>
                      ) : (
                        <>
                          <b class={`state ${runTone(job.lastRun.status)}`}>{job.lastRun.status}</b>{' '}
                          {span(now.value - Date.parse(job.lastRun.timestamp))} ago
                        </>
                      )}
                    </td>
                    <td class="right">
                      <RunNow id={job.id} name={job.name} />{' '}
                      {job.workflowId == null ? (
                        <button
                          type="button"
                          class="quiet"
                          aria-label={`Edit ${job.name}`}
                          onClick={() => {
                            edited.value = job.id;
                          }}
                        >
                          Edit
                        </button>
                      ) : (
                        <a class="quiet" href={linkTo({ view: 'workflow', id: job.workflowId })}>
                          Workflow
                        </a>
                      )}
                    </td>
                  </tr>
                )}
              />
            </>
          )}
        </>
      )}
    </Answered>
  );
}

function RunNow({ id, name }: { readonly id: string; readonly name: string }) {
  const { message, busy, attempt } = useAction();
  return (
    <>
      {message !== '' && (
        <small class="soft" role="status">
          {message}{' '}
        </small>
      )}
      <button
        type="button"
        disabled={busy}
        aria-label={`Run now: ${name}`}
        onClick={() =>
          void attempt(async () => {
            await must(client.post('/api/cron/{id}/trigger', { params: { path: { id } }, body: {} }));
            return 'Started.';
          })
        }
      >
        Run now
      </button>
    </>
  );
}
