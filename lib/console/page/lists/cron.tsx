import { useAction } from '../../../page/action.js';
import { now, span, withUtc } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { Answered } from '../parts/answered.js';
import { NoRecords, Sheet } from '../parts/sheet.js';

/** What runs by the clock: when next, how it went last, and now if one wants. */
export function Cron() {
  const loaded = useLoaded('cron', () => must(client.get('/api/cron')), { touches: named(/^cron:/) });
  return (
    <Answered loaded={loaded}>
      {(jobs) =>
        jobs.length === 0 ? (
          <NoRecords title="Nothing is scheduled." guide={{ href: '/docs/cron', label: 'How to make one' }}>
            A cron job opens a session at fixed times, and catches up on what it missed where it is set so.
          </NoRecords>
        ) : (
          <Sheet
            label="Cron jobs"
            columns={['Job', 'Schedule', 'Next', 'Last', { name: 'Run', shown: 'unseen' }]}
            items={jobs}
            keyOf={({ id }) => id}
            row={(job, at) => (
              <tr key={job.id} {...at}>
                <th scope="row">
                  {job.name}
                  {!job.enabled && <b class="state rest">off</b>}
                  {job.employee !== null && <small class="soft"> {job.employee}</small>}
                </th>
                <td>
                  <code>{job.schedule}</code> <small class="soft">{job.timezone}</small>
                </td>
                <td class="num" title={job.nextRunAt === null ? '' : withUtc(Date.parse(job.nextRunAt))}>
                  {job.nextRunAt === null ? 'never' : `in ${span(Date.parse(job.nextRunAt) - now.value)}`}
                </td>
                <td class="num">
                  {job.lastRun === null ? (
                    <span class="soft">not yet</span>
                  ) : (
                    <>
                      <b class={`state ${toneOf(job.lastRun.status)}`}>{job.lastRun.status}</b>{' '}
                      {span(now.value - Date.parse(job.lastRun.timestamp))} ago
                    </>
                  )}
                </td>
                <td class="right">
                  <RunNow id={job.id} name={job.name} />
                </td>
              </tr>
            )}
          />
        )
      }
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

const toneOf = (status: string): string => (/succe|complete/.test(status) ? 'done' : 'bad');
