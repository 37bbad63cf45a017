import { setTimeout as wait } from 'node:timers/promises';
import { lateness, type Life } from './campaign.js';
import type { GatewayWriter, ItemKnown, SessionKnown } from './gateway-writer.js';
import type { Journal } from './journal.js';
import { agentsOf } from './victim.js';
import { ask, type Body } from './wire.js';

/**
 * What a gateway must still know when everything has come to rest: every acknowledged action once and no action
 * twice, both halves of each delegation, every deadline met, and no process left behind.
 */
export interface Audit {
  readonly life: Life;
  readonly lives: readonly Life[];
  readonly token: string;
  readonly home: string;
  readonly journal: Journal;
  readonly writers: readonly GatewayWriter[];
}

export async function auditGateway(audit: Audit): Promise<void> {
  const { journal, writers, home } = audit;
  const sessions = await atRest(audit);
  const left = await agentsOf(home);
  if (left.length > 0)
    journal.violated('orphan', `processes ${left.join(', ')} still run though no session does`);
  for (const pid of left) process.kill(pid, 'SIGKILL'); // found and told: this harness leaves none behind
  const items = await allItems(audit, highest(writers, sessions));
  journal.count('work items found', items.size);
  journal.count('sessions found', sessions.length);
  titles(audit, items);
  for (const writer of writers) {
    for (const item of [...writer.items, ...writer.resting]) judgeItem(audit, item, items.get(item.id));
    for (const { workItemId, sessionId, tag } of writer.delegations) {
      if (!items.has(workItemId))
        journal.violated('lost', `the work item ${workItemId} of delegation ${tag}`);
      if (!sessions.some((session) => session['id'] === sessionId))
        journal.violated('lost', `the session ${sessionId} of delegation ${tag}`);
    }
  }
  judgeDelegations(audit, items, sessions);
  await judgeTranscripts(audit, sessions);
  await judgeTotals(audit, items.size);
}

/** Sources of what the gateway opens by itself: no one was told its name. */
const byItself = ['cron', 'workflow'];

/** Nothing runs, nothing waits: all sessions as they then are. */
async function atRest({ life, token, journal, writers }: Audit): Promise<readonly Body[]> {
  const dues = writers.flatMap((writer) => writer.resting.flatMap((item) => [...item.approvals.values()]));
  await wait(Math.max(0, Math.max(0, ...dues) - Date.now()) + 1_500);
  for (const began = Date.now(); ;) {
    const answer = await ask(life.url, token, { method: 'GET', path: '/api/sessions?limit=0' });
    if (answer.type !== 'done') throw new Error('the sessions cannot be listed');
    const sessions = (Array.isArray(answer.body) ? answer.body : answer.body['sessions']) as readonly Body[];
    const busy = sessions.filter(
      (session) =>
        session['status'] === 'running' ||
        session['status'] === 'waiting' ||
        Number(session['queueDepth']) > 0,
    );
    if (busy.length === 0) return sessions;
    if (Date.now() > began + restMsMin + sessions.length * restMsEach) {
      for (const session of busy.slice(0, 5))
        journal.violated(
          'lost',
          `session ${String(session['id'])} never comes to rest: ${String(session['status'])}, ${String(session['queueDepth'])} in its queue, paused ${String(session['queuePaused'])}, ${String(session['lastError'])}`,
        );
      return sessions;
    }
    await wait(250);
  }
}

/** Their turns go through a handful of processes, one after the other. */
const restMsMin = 60_000;
const restMsEach = 500;

interface Whole {
  readonly item: Body;
  readonly events: readonly Body[];
}

/** By number, so that nothing depends on any list. */
async function allItems({ life, token, journal }: Audit, last: number): Promise<ReadonlyMap<string, Whole>> {
  const found = new Map<string, Whole>();
  let next = 1;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (next <= last) {
        const id = `TRP-${next++}`;
        const answer = await ask(life.url, token, { method: 'GET', path: `/api/work-items/${id}` });
        if (answer.type === 'done')
          found.set(id, {
            item: answer.body['workItem'] as Body,
            events: answer.body['events'] as readonly Body[],
          });
        else if (answer.type === 'unknown' || answer.status !== 404)
          journal.violated('unexpected', `work item ${id} cannot be read: ${JSON.stringify(answer)}`);
      }
    }),
  );
  return found;
}

/**
 * Numbers behind the highest that anybody was told are looked at too: a doubled create may have taken one.
 */
function highest(writers: readonly GatewayWriter[], sessions: readonly Body[]): number {
  const ids = [
    ...writers.flatMap((writer) => [...writer.items, ...writer.resting].map(({ id }) => id)),
    ...writers.flatMap((writer) => writer.delegations.map(({ workItemId }) => workItemId)),
    ...sessions.map((session) => String(session['workItemId'] ?? '')),
  ];
  return ids.reduce((most, id) => Math.max(most, Number(id.split('-')[1] ?? 0)), 0) + 500;
}

function titles({ journal }: Audit, items: ReadonlyMap<string, Whole>): void {
  const seen = new Map<string, string>();
  for (const [id, { item }] of items) {
    if (byItself.includes(String(item['source']))) continue;
    const title = String(item['title']);
    const other = seen.get(title);
    if (other !== undefined) journal.violated('doubled', `work items ${other} and ${id} are both "${title}"`);
    seen.set(title, id);
  }
}

function judgeItem({ journal, lives }: Audit, item: ItemKnown, found: Whole | undefined): void {
  if (found === undefined) return journal.violated('lost', `work item ${item.id} "${item.title}"`);
  const ledger = found.events.map((event) => ({ event, text: JSON.stringify(event['detail']) }));
  for (const [tag, sure] of item.tags) {
    const times = ledger.filter(({ text }) => text.includes(tag)).length;
    if (times > 1)
      journal.violated('doubled', `status change ${tag} of ${item.id} stands ${times} times in its ledger`);
    if (times === 0 && sure === 'once') journal.violated('lost', `status change ${tag} of ${item.id}`);
  }
  if (item.approvals.size === 0 && found.item['status'] !== item.status)
    journal.violated(
      'lost',
      `${item.id} is ${String(found.item['status'])} and was acknowledged as ${item.status}`,
    );
  if (item.approvals.size === 0 && found.item['version'] !== item.version)
    journal.violated(
      'lost',
      `${item.id} has version ${String(found.item['version'])} and was acknowledged with ${item.version}`,
    );
  for (const due of item.approvals.values()) judgeDeadline(journal, lives, item.id, due, found);
}

function judgeDeadline(
  journal: Journal,
  lives: readonly Life[],
  id: string,
  due: number,
  { events }: Whole,
): void {
  const requests = events
    .filter((event) => event['kind'] === 'approval_requested')
    .map((event) => (event['detail'] as Body)['requestId']);
  const ends = events.filter((event) => (event['detail'] as Body | null)?.['approval'] === 'expired');
  if (requests.length !== 1)
    return journal.violated(
      requests.length === 0 ? 'lost' : 'doubled',
      `${id} has ${requests.length} requests for approval instead of one`,
    );
  if (ends.length !== 1)
    return journal.violated(
      ends.length === 0 ? 'lost' : 'doubled',
      `the approval of ${id} ran out ${ends.length} times`,
    );
  const asked = Date.parse(
    String(events.find((event) => event['kind'] === 'approval_requested')?.['createdAt']),
  );
  const lateMs = lateness(Date.parse(String(ends[0]?.['createdAt'])), Math.max(due, asked), lives);
  journal.count('timers fired');
  if (lateMs > 1_000) journal.violated('late', `the approval of ${id} ran out ${lateMs} ms late`);
}

/** Item and session of a delegation are one commit; the attempt began once and ended once. */
function judgeDelegations(
  { journal }: Audit,
  items: ReadonlyMap<string, Whole>,
  sessions: readonly Body[],
): void {
  const attempts = sessions.filter((session) => typeof session['workItemId'] === 'string');
  for (const session of attempts) {
    const found = items.get(String(session['workItemId']));
    if (found === undefined) {
      journal.violated(
        'half-written',
        `session ${String(session['id'])} attempts ${String(session['workItemId'])}, which is not there`,
      );
      continue;
    }
    const about = (test: (event: Body) => boolean): number =>
      found.events.filter(
        (event) => (event['detail'] as Body | null)?.['sessionId'] === session['id'] && test(event),
      ).length;
    const linked = about((event) => event['kind'] === 'session_linked');
    const ended = about(
      (event) =>
        (event['detail'] as Body)['outcome'] !== undefined ||
        event['toStatus'] === 'in_review' ||
        event['toStatus'] === 'done' ||
        event['toStatus'] === 'blocked',
    );
    if (linked !== 1)
      journal.violated(
        linked === 0 ? 'lost' : 'doubled',
        `the start of attempt ${String(session['id'])} stands ${linked} times in ${String(session['workItemId'])}`,
      );
    if (ended !== 1)
      journal.violated(
        ended === 0 ? 'lost' : 'doubled',
        `the end of attempt ${String(session['id'])} stands ${ended} times in ${String(session['workItemId'])}`,
      );
  }
  for (const [id, { item }] of items) {
    if (item['source'] === 'delegation' && !attempts.some((session) => session['workItemId'] === id))
      journal.violated('half-written', `${id} was delegated, but no session attempts it`);
  }
}

async function judgeTranscripts(
  { life, token, journal, writers }: Audit,
  sessions: readonly Body[],
): Promise<void> {
  const known = writers.flatMap((writer) => writer.sessions);
  const children = new Map<string, SessionKnown[]>();
  for (const session of known)
    if (session.parent !== null)
      children.set(session.parent, [...(children.get(session.parent) ?? []), session]);
  const callbacks = new Map<string, number>();
  for (const session of known) callbacks.set(session.id, worksBelow(session, children));
  const tags = known.reduce((sum, session) => sum + session.tags.size, 0);
  journal.count('messages checked', tags);
  const queue = [...known];
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let session = queue.pop(); session !== undefined; session = queue.pop()) {
        const answer = await ask(life.url, token, { method: 'GET', path: `/api/sessions/${session.id}` });
        if (answer.type !== 'done') {
          journal.violated('lost', `session ${session.id}: ${JSON.stringify(answer)}`);
          continue;
        }
        judgeTranscript(
          journal,
          session,
          answer.body['messages'] as readonly Body[],
          children.get(session.id) ?? [],
          callbacks,
        );
      }
    }),
  );
  const delegated = new Set(
    writers.flatMap((writer) => writer.delegations.map(({ sessionId }) => sessionId)),
  );
  for (const session of sessions) {
    const id = String(session['id']);
    if (byItself.includes(String(session['source']))) continue;
    if (!delegated.has(id) && !known.some((one) => one.id === id))
      journal.violated(
        'doubled',
        `session ${id} was never acknowledged to anybody, though every create was asked until it was`,
      );
  }
}

function judgeTranscript(
  journal: Journal,
  session: SessionKnown,
  messages: readonly Body[],
  children: readonly SessionKnown[],
  grandchildren: ReadonlyMap<string, number>,
): void {
  for (const tag of session.tags) {
    const times = messages.filter(
      (message) => message['role'] === 'user' && message['content'] === tag,
    ).length;
    if (times !== 1)
      journal.violated(
        times === 0 ? 'lost' : 'doubled',
        `message ${tag} stands ${times} times in session ${session.id}`,
      );
  }
  const ids = messages.map((message) => message['id']);
  if (new Set(ids).size !== ids.length)
    journal.violated('doubled', `two messages of session ${session.id} have one id`);
  for (const child of children) {
    const times = messages.filter(
      (message) => (message['meta'] as Body | undefined)?.['childId'] === child.id,
    ).length;
    journal.count('callbacks of children checked');
    // Each message may be a piece of work of its own with an end of its own; none at all is a loss.
    if (times === 0)
      journal.violated('lost', `session ${session.id} never heard of the end of its child ${child.id}`);
    if (times > child.tags.size + (grandchildren.get(child.id) ?? 0))
      journal.violated(
        'doubled',
        `session ${session.id} heard ${times} times of its child ${child.id}, which had ${child.tags.size} messages`,
      );
  }
}

/** A child that has children works again whenever one of them ends. */
function worksBelow(session: SessionKnown, children: ReadonlyMap<string, readonly SessionKnown[]>): number {
  return (children.get(session.id) ?? []).reduce(
    (sum, child) => sum + child.tags.size + worksBelow(child, children),
    0,
  );
}

/** The list rows were written with the records: both count the same. */
async function judgeTotals({ life, token, journal }: Audit, found: number): Promise<void> {
  const answer = await ask(life.url, token, { method: 'GET', path: '/api/work-items?limit=1' });
  const total = answer.type === 'done' ? answer.body['total'] : undefined;
  if (total !== found)
    journal.violated('half-written', `the list counts ${String(total)} work items, ${found} can be read`);
}
