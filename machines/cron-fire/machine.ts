import { assign, setup } from 'xstate';
import { fromKernel, type Authority } from '../caller.js';
import { fnv1a } from '../text.js';
import {
  publish,
  effect,
  writeRow,
  sendToActor,
  stampOf,
  decidesFor,
  type Stamp,
  type Output,
  type Decision,
} from '../outputs.js';
import { isoTime } from '../sortable.js';
import { refuse, type Refusal } from '../refusals.js';

/**
 * One run of a cron job.
 *
 * **What lives.** The record of the run, from before anything is done. Its name holds the instant, so there
 * is one per instant.
 *
 * **What can happen.** It launches: a work item and a session are opened (or a workflow is started) under the
 * run's own name, so that launching again after a crash finds what is there. It waits for the end of that
 * work, however long it takes, and then writes the record to the job's file and sends the result where the
 * job says.
 *
 * **What can never happen.** A run without a record. A run that is called a success because it could not
 * begin.
 */
export type FireJob = {
  readonly name: string;
  readonly engine: string | null;
  readonly model: string | null;
  readonly effortLevel: string | null;
  readonly employee: string | null;
  readonly prompt: string;
  readonly delivery: { readonly connector: string; readonly channel: string } | null;
  readonly workflowId: string | null;
  /** Who wrote the job last. */
  readonly writtenBy?: string;
};
export type RunStatus = 'started' | 'success' | 'error' | 'interrupted' | 'missed';

export interface FireContext {
  readonly id: string;
  readonly jobId: string;
  readonly dueAt: number;
  readonly why: string;
  readonly job: FireJob;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly status: RunStatus;
  readonly sessionId: string | null;
  readonly workItemId: string | null;
  readonly workflowRunId: string | null;
  readonly error: string | null;
  readonly resultPreview: string | null;
}

export interface FireInput {
  readonly id: string;
  readonly at: number;
  readonly jobId: string;
  readonly dueAt: number;
  readonly why: string;
  readonly missed: string | null;
  readonly job: FireJob;
}

/** What a launch opened. */
export interface Launched {
  readonly sessionId?: string;
  readonly workItemId?: string;
  readonly workflowRunId?: string;
}
export interface LaunchInput {
  readonly fireId: string;
  readonly jobId: string;
  readonly dueAt: number;
  readonly job: FireJob;
}

/** A line of the job's runs file. */
export type RunLine = {
  readonly timestamp: string;
  readonly sessionKey: string;
  readonly sessionId: string | null;
  readonly status: RunStatus;
  readonly durationMs: number;
  readonly error: string | null;
  readonly resultPreview: string | null;
  readonly workItemId?: string;
  readonly workflowRunId?: string;
  readonly why?: string;
};

export type FireEvent = Stamp &
  /** The session, or the run of a workflow, has come to its end. */
  {
    readonly type: 'work.ended';
    readonly sessionId?: string;
    readonly outcome: 'succeeded' | 'failed' | 'interrupted';
    readonly text: string;
    readonly error: string | null;
  };

export const firePolicy = (event: FireEvent, { by }: Authority): Refusal | undefined =>
  (event.type === 'work.ended' && by.type === 'system') || fromKernel(event)
    ? undefined
    : refuse('UNKNOWN_EVENT', { type: event.type }, 'Only the work that this run launched may report to it.');

export const runLine = (context: FireContext): RunLine => ({
  timestamp: isoTime(context.startedAt),
  sessionKey: context.id,
  sessionId: context.sessionId,
  status: context.status,
  durationMs: Math.max(0, (context.endedAt ?? context.startedAt) - context.startedAt),
  error: context.error,
  resultPreview: context.resultPreview,
  ...(context.workItemId === null ? {} : { workItemId: context.workItemId }),
  ...(context.workflowRunId === null ? {} : { workflowRunId: context.workflowRunId }),
  ...(context.why === 'schedule' ? {} : { why: context.why }),
});

const previewCharsMax = 500;
const deliveryCharsMax = 16_000;

function close(
  context: FireContext,
  at: number,
  status: RunStatus,
  text: string,
  error: string | null,
): Decision<FireContext> {
  const { job } = context;
  const outputs: Output[] = [statusFrame(context, status)];
  if (job.delivery !== null && status !== 'missed') {
    const words =
      text.trim() === ''
        ? `${job.name}: ${error ?? 'there was no answer.'}`
        : text.slice(0, deliveryCharsMax);
    outputs.push(
      sendToActor(
        { kind: 'connector', id: job.delivery.connector },
        {
          type: 'delivery.request',
          deliveryId: deliveryId(context.id),
          channel: job.delivery.channel,
          thread: null,
          text: words,
        },
      ),
    );
  }
  return {
    set: { status, endedAt: at, error, resultPreview: text === '' ? null : text.slice(0, previewCharsMax) },
    outputs,
  };
}

/**
 * A connector's names of deliveries are short, and a job's own name may be long: then a number made of all of
 * it stands for its beginning.
 */
const deliveryId = (fireId: string): string =>
  fireId.length <= 64 ? fireId : `${fnv1a(fireId).toString(16).padStart(8, '0')}-${fireId.slice(-55)}`;

function open(context: FireContext): Decision<FireContext> {
  return {
    outputs: [
      writeRow('record', 1, runLine({ ...context, status: 'started' })),
      statusFrame(context, 'started'),
    ],
  };
}

function end(context: FireContext, event: FireEvent): Decision<FireContext> {
  const status =
    event.outcome === 'succeeded' ? 'success' : event.outcome === 'failed' ? 'error' : 'interrupted';
  const { set, outputs = [] } = close(context, event.at, status, event.text, event.error);
  return { set: { ...set, sessionId: event.sessionId ?? context.sessionId }, outputs };
}

/** `cron:completed` and `cron:error` are what clients of this API listen for. */
const statusFrame = ({ id, jobId }: FireContext, status: RunStatus): Output =>
  publish(frameOf[status], { id: jobId, sessionKey: id, status });
const frameOf: Readonly<Record<RunStatus, string>> = {
  started: 'cron:started',
  success: 'cron:completed',
  error: 'cron:error',
  interrupted: 'cron:error',
  missed: 'cron:missed',
};

const decides = decidesFor<FireContext, FireEvent>();

export const fireMachine = setup({
  types: {} as {
    context: FireContext;
    events: FireEvent;
    input: FireInput;
    emitted: Output;
    output: {
      readonly timestamp: string;
      readonly sessionKey: string;
      readonly status: string;
      readonly durationMs: number;
    };
  },
  actors: {
    /** Keyed by the run's name: opens the work, or finds it open. */
    launch: effect<Launched, LaunchInput>(),
    /** Keyed: writes the record to the job's file, once. */
    record: effect<void, { readonly jobId: string; readonly line: RunLine }>(),
  },
  guards: {
    missed: ({ context }) => context.status === 'missed',
  },
  actions: {
    open: decides(open),
    launched: assign((_, { output }: { output: Launched }) => ({
      sessionId: output.sessionId ?? null,
      workItemId: output.workItemId ?? null,
      workflowRunId: output.workflowRunId ?? null,
    })),
    failed: decides((context, _event, { at, reason }: { at: number; reason: string }) =>
      close(context, at, 'error', '', reason),
    ),
    ended: decides('work.ended', end),
  },
}).createMachine({
  id: 'cron-fire',
  context: ({ input: { id, at, jobId, dueAt, why, job, missed } }) => ({
    id,
    jobId,
    dueAt,
    why,
    job,
    startedAt: at,
    endedAt: missed === null ? null : at,
    status: missed === null ? 'started' : 'missed',
    sessionId: null,
    workItemId: null,
    workflowRunId: null,
    error: missed,
    resultPreview: null,
  }),
  initial: 'begun',
  output: ({ context }) => {
    const { timestamp, sessionKey, status, durationMs } = runLine(context);
    return { timestamp, sessionKey, status, durationMs };
  },
  states: {
    begun: { always: [{ guard: 'missed', target: 'recording' }, { target: 'launching' }] },
    launching: {
      entry: 'open',
      invoke: {
        id: 'launch',
        src: 'launch',
        input: ({ context }) => ({
          fireId: context.id,
          jobId: context.jobId,
          dueAt: context.dueAt,
          job: context.job,
        }),
        onDone: {
          target: 'working',
          actions: { type: 'launched', params: ({ event }) => ({ output: event.output }) },
        },
        onError: {
          target: 'recording',
          actions: {
            type: 'failed',
            params: ({ event }) => ({ at: stampOf(event).at, reason: reasonOf(event.error) }),
          },
        },
      },
      // It may be quicker than the news of its launch
      on: { 'work.ended': { target: 'recording', actions: 'ended' } },
    },
    working: { on: { 'work.ended': { target: 'recording', actions: 'ended' } } },
    recording: {
      invoke: {
        id: 'record',
        src: 'record',
        input: ({ context }) => ({ jobId: context.jobId, line: runLine(context) }),
        onDone: { target: 'ended' },
        onError: { target: 'ended' }, // the file is for people; this record is the truth and stays
      },
    },
    ended: { type: 'final' },
  },
});

function reasonOf(error: unknown): string {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === 'string' && message !== '' ? message.slice(0, 1_000) : 'It could not begin.';
}
