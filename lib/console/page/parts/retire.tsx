import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useAction } from '../../../page/action.js';
import { ask, said } from '../../../page/ask.js';
import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { linkTo } from '../place.js';
import type { Session } from '../session.js';
import { Answered, Fault } from './answered.js';

interface Someone {
  readonly name: string;
  readonly displayName: string;
}

/** Out of the company, after one has seen what hangs on an employee and what becomes of it. The file is kept. */
export function Retire({
  employee,
  reports,
  others,
}: {
  readonly employee: Someone;
  /** Who reports to this one. */
  readonly reports: readonly string[];
  readonly others: readonly Someone[];
}) {
  const isOpen = useSignal(false);
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-label={`Retire ${employee.name}`}
        onClick={() => {
          isOpen.value = true;
        }}
      >
        Retire …
      </button>
      {isOpen.value && (
        <RetireDialog
          employee={employee}
          reports={reports}
          others={others}
          close={() => {
            isOpen.value = false;
          }}
        />
      )}
    </>
  );
}

function RetireDialog({
  employee: { name, displayName },
  reports,
  others,
  close,
}: Parameters<typeof Retire>[0] & { readonly close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heir = useSignal('');
  const { message, busy, attempt } = useAction();
  const loaded = useLoaded(`hangs-on/${name}`, (signal) => read(name, signal), {
    touches: named(/^(?:session|sessions|company|cron):/),
  });
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="retire" aria-labelledby="retire-title" onClose={close}>
      <h2 id="retire-title">Retire {displayName}</h2>
      <Answered loaded={loaded}>
        {(ties) => (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void attempt(() => retire(name, ties, heir.value));
            }}
          >
            <Ties name={name} reports={reports} ties={ties} heir={heir.value} />
            {ties.jobs.length + ties.items.length > 0 && others.length > 0 && (
              <label>
                Give work items and cron jobs to
                <select
                  value={heir.value}
                  onChange={(event) => {
                    heir.value = event.currentTarget.value;
                  }}
                >
                  <option value="">no one</option>
                  {others.map((other) => (
                    <option key={other.name} value={other.name}>
                      {other.displayName}
                    </option>
                  ))}
                </select>
              </label>
            )}
            <p class="ways">
              <button type="submit" class="primary" disabled={busy || reports.length > 0}>
                Retire {name}
              </button>
              <button type="button" onClick={() => dialog.current?.close()}>
                Keep {name}
              </button>
            </p>
          </form>
        )}
      </Answered>
      <Fault message={message} />
    </dialog>
  );
}

/** What hangs on an employee, and what becomes of each. */
function Ties({
  name,
  reports,
  ties: { jobs, sessions, items },
  heir,
}: {
  readonly name: string;
  readonly reports: readonly string[];
  readonly ties: Ties;
  readonly heir: string;
}) {
  const working = sessions.filter(isWorking).length;
  return (
    <ul class="ties">
      {reports.length > 0 && (
        <li class="bad" data-tie="reports">
          {list(reports)} {reports.length === 1 ? 'reports' : 'report'} to {name}: name another manager there
          first.
        </li>
      )}
      {jobs.length > 0 && (
        <li data-tie="jobs">
          <b>{count(jobs.length, 'cron job')}</b>{' '}
          {heir === '' ? 'will be switched off, and kept' : `will go on as ${heir}`}:{' '}
          {list(jobs.map((job) => job.name))}
        </li>
      )}
      {items.length > 0 && (
        <li data-tie="items">
          <b>{count(items.length, 'open work item')}</b>{' '}
          {heir === '' ? `will stay on the board under ${name}, and wait` : `will go to ${heir}`}:{' '}
          <a href={linkTo({ view: 'board', assignee: name })}>{list(items.map(({ id }) => id))}</a>
        </li>
      )}
      {sessions.length > 0 && (
        <li data-tie="sessions">
          <b>{count(sessions.length, 'session')}</b>
          {working > 0 && `, ${working} at work,`} will be {working > 0 && 'stopped and '}archived:{' '}
          {sessions.length === 1 ? 'it' : 'they'} can be read, and taken up again
        </li>
      )}
      <li data-tie="file">
        The file of {name} will be kept in <code>org/.retired</code>: moved back, it is in use again.
      </li>
    </ul>
  );
}

interface Ties {
  readonly jobs: readonly { readonly id: string; readonly name: string }[];
  readonly sessions: readonly Session[];
  readonly items: readonly { readonly id: string }[];
}

const isWorking = ({ status }: Session): boolean => !atRest.has(status);
const atRest: ReadonlySet<string> = new Set(['idle', 'error', 'interrupted', 'stopped']);

/**
 * The file goes last: whatever is refused or cut off before can be done once more. Where something is refused, what is
 * done by then is said: the dialog asks for the rest.
 */
async function retire(name: string, { jobs, sessions, items }: Ties, heir: string): Promise<void> {
  const done = new Map<string, number>();
  const step = async (what: string, answer: Promise<unknown>, outcome: string): Promise<void> => {
    await must(answer).catch((error: unknown) => {
      const before = [...done].map(([words, n]) => `${words}: ${n}`).join(', ');
      throw new Error(
        `${name} is not retired. Refused: ${what}: ${said(error)}${before === '' ? '' : ` Done already: ${before}.`}`,
      );
    });
    done.set(outcome, (done.get(outcome) ?? 0) + 1);
  };
  for (const { id, ...job } of jobs)
    await step(
      `the cron job ${job.name}`,
      client.put('/api/cron/{id}', {
        params: { path: { id } },
        body: heir === '' ? { enabled: false } : { employee: heir },
      }),
      heir === '' ? 'cron jobs switched off' : `cron jobs given to ${heir}`,
    );
  if (heir !== '')
    for (const { id } of items)
      await step(
        id,
        client.post('/api/work-items/{id}/assign', { params: { path: { id } }, body: { assignee: heir } }),
        `work items given to ${heir}`,
      );
  for (const session of sessions) {
    const params = { path: { id: session.id } };
    if (isWorking(session))
      await step(
        'to stop a session',
        client.post('/api/sessions/{id}/stop', { params, body: {} }),
        'sessions stopped',
      );
    await step(
      'to archive a session',
      client.post('/api/sessions/{id}/archive', { params, body: {} }),
      'sessions archived',
    );
  }
  await step('its file', client.delete('/api/org/employees/{name}', { params: { path: { name } } }), 'file');
}

async function read(name: string, signal: AbortSignal): Promise<Ties> {
  const [jobs, sessions, items] = await Promise.all([
    must(client.get('/api/cron', { signal })),
    Promise.all([sessionsIn(name, signal), sessionsIn('__cron__', signal)]),
    openItems(name, signal),
  ]);
  return {
    jobs: jobs.filter(
      ({ employee, enabled, managedBy }) => employee === name && enabled && managedBy === null,
    ),
    // A cron job's are in a group of their own, whichever employee works in them
    sessions: sessions.flat().filter(({ employee }) => employee === name),
    items,
  };
}

async function sessionsIn(group: string, signal: AbortSignal): Promise<readonly Session[]> {
  const found: Session[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = new URLSearchParams({ group, limit: '100', cursor }).toString();
    const page: { sessions: readonly Session[]; nextCursor: string | null } = await ask(
      `/api/sessions?${query}`,
      { signal },
    );
    found.push(...page.sessions);
    cursor = page.nextCursor;
  }
  return found;
}

async function openItems(assignee: string, signal: AbortSignal): Promise<Ties['items']> {
  const open: { readonly id: string }[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const query = { assignee, limit: '100', offset: String(offset) };
    const page: { workItems: readonly { id: string; status: string }[]; nextOffset: number | null } =
      await must(client.get('/api/work-items', { params: { query }, signal }));
    open.push(...page.workItems.filter(({ status }) => status !== 'done' && status !== 'cancelled'));
    offset = page.nextOffset;
  }
  return open;
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
const list = (names: readonly string[]): string =>
  names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');
