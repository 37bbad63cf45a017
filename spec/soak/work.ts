import { setTimeout as wait } from 'node:timers/promises';
import type { GatewayWriter } from '../crash/gateway-writer.js';
import type { Journal } from '../crash/journal.js';
import { ask, type Answer, type Body } from '../crash/wire.js';
import { line } from '../golden/workflows.js';
import { noop } from '../machines/graph/graphs.js';

interface Place {
  readonly url: string;
  readonly token: string;
  readonly journal: Journal;
  /** Knows the sessions and what was said in them, for the audit. */
  readonly talker: GatewayWriter;
}

const gate = {
  id: 'gate',
  type: 'gate',
  gate: { kind: 'approval', approvalRef: 'go', description: 'Go on?' },
};
const runs = '/api/workflow-definitions/gated';

/** What stands before the soak begins: sessions, jobs that run every minute, a workflow with a gate. */
export async function prepare({ sessions, ...place }: Place & { readonly sessions: number }): Promise<void> {
  const post = poster(place);
  const definition = { ...line('gated', [noop('a'), gate, noop('b')]), concurrency: 8 };
  await post('/api/workflow-definitions/mutate', { operation: 'create', definition }, 'definition');
  for (let n = 1; n <= jobs; n += 1) {
    const job = { id: `minutely-${n}`, prompt: 'tick', engine: 'quick', schedule: '* * * * *' };
    await post('/api/cron', job, `job-${n}`);
  }
  for (let n = 1; n <= sessions; n += 1) {
    const tag = `opens${n}e`;
    const opened = await post('/api/sessions', { prompt: tag, engine: 'quick' }, tag);
    if (opened.type === 'done')
      place.talker.sessions.push({ id: String(opened.body['id']), parent: null, tags: new Set([tag]) });
  }
  place.journal.count('sessions at hand', place.talker.sessions.length);
}

/** Talks to one session after the other, starts runs and decides at their gates, until it is over or the gateway gone. */
export async function keepBusy({
  life,
  isOver,
  ...place
}: Place & { readonly life: number; isOver(): boolean }): Promise<void> {
  const { talker, journal } = place;
  const post = poster(place);
  const talk = async (): Promise<void> => {
    for (let n = 0; !isOver(); n += 1) {
      const session = talker.sessions[n % talker.sessions.length];
      if (session === undefined) return;
      const message = `says${life}x${n}e`;
      const { type } = await post(`/api/sessions/${session.id}/message`, { message }, message);
      if (type === 'unknown') return;
      if (type === 'done') {
        session.tags.add(message);
        journal.acknowledged('message to a session at hand', message, null);
      }
      await wait(200);
    }
  };
  const run = async (): Promise<void> => {
    for (let n = 0; !isOver(); n += 1) {
      const started = await post(`${runs}/run`, { input: { n } }, `run-${life}-${n}`);
      if (started.type === 'unknown') return;
      if (started.type === 'done') {
        journal.acknowledged('run', `run-${life}-${n}`, null);
        const path = `${runs}/runs/${String(started.body['runId'])}/resolve-gate`;
        const decided = await post(path, { decision: 'approve' }, `gate-${life}-${n}`);
        if (decided.type === 'done') journal.acknowledged('gate decision', `gate-${life}-${n}`, null);
      }
      await wait(1_000);
    }
  };
  await Promise.all([talk(), run()]);
}

/** Every due minute of every job is one run on record, whatever was killed when. */
export async function judgeJobs({ url, token, journal }: Place): Promise<void> {
  for (let n = 1; n <= jobs; n += 1) {
    const answer = await ask(url, token, { method: 'GET', path: `/api/cron/minutely-${n}/runs?limit=1000` });
    if (answer.type !== 'done') {
      journal.violated('lost', `the runs of the job minutely-${n}`);
      continue;
    }
    const keys = (answer.body as unknown as readonly { readonly sessionKey: string }[]).map(
      (run) => run.sessionKey,
    );
    journal.count('runs of jobs on record', keys.length);
    if (new Set(keys).size !== keys.length)
      journal.violated('doubled', `a minute of the job minutely-${n} is on record twice`);
  }
}

const jobs = 10;

const poster =
  ({ url, token }: Place) =>
  (path: string, body: Body, key: string): Promise<Answer> =>
    ask(url, token, { method: 'POST', path, body, key });
