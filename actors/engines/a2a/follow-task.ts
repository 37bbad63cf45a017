import type { Message, StreamResponse } from '@a2a-js/sdk';
import { pause } from '../remote/pause.js';
import { RefusedError, type RemoteAgent } from './agent.js';
import { isUnderWay, type TaskReader } from './task-reader.js';

export interface Following {
  readonly reader: TaskReader;
  readonly signal: AbortSignal;
  readonly retryMs: number;
  /** Something new was read. */
  readonly heard: () => void;
}

/** Sends a message and stays until what it asked for has ended, or the agent asks something itself. */
export function sendMessage(agent: RemoteAgent, message: Message, following: Following): Promise<void> {
  const configuration = {
    acceptedOutputModes: ['text/plain', 'text/markdown', 'application/json'],
    taskPushNotificationConfig: undefined,
    returnImmediately: true, // where it cannot stream it is asked again and again
  };
  const request = { tenant: '', message, configuration, metadata: undefined };
  return follow(agent, agent.client.sendMessageStream(request, { signal: following.signal }), following);
}

/** Stays with a task that the reader knows already. */
export const followTask = (agent: RemoteAgent, following: Following): Promise<void> =>
  follow(agent, undefined, following);

/**
 * A connection that breaks ends nothing: the task is asked for by its id, and followed again. Before the agent has
 * named one, nothing is tried twice: whether it got the message cannot be known. Rejects then, where the agent refuses,
 * and where it is not reached for long.
 */
async function follow(
  agent: RemoteAgent,
  first: AsyncIterable<StreamResponse> | undefined,
  { reader, signal, retryMs, heard }: Following,
): Promise<void> {
  const { client, card } = agent;
  const task = (): { readonly tenant: string; readonly id: string } => ({ tenant: '', id: reader.taskId });
  let stream = first;
  let waitMs = retryMs;
  let failures = 0;
  const take = (payload: StreamResponse['payload']): void => {
    const before = reader.news;
    reader.take(payload);
    failures = 0;
    if (before === reader.news) return;
    waitMs = retryMs;
    heard();
  };
  for (;;) {
    try {
      if (stream === undefined) take({ $case: 'task', value: await client.getTask(task(), { signal }) });
      else for await (const { payload } of stream) take(payload);
    } catch (error) {
      failures += 1;
      // Asked too often it still works on the task: given up, it would be told all of it once more
      const isRefused = error instanceof RefusedError && error.status !== 429;
      if (signal.aborted || isRefused || reader.taskId === '' || failures > failuresMax) throw error;
    }
    if (reader.isAnswered || !isUnderWay(reader.state)) return;
    if (reader.taskId === '') throw new Error('It ended its answer without a word.');
    const wasAsked = stream === undefined && failures === 0;
    if (wasAsked && card.capabilities?.streaming === true) {
      stream = client.resubscribeTask(task(), { signal });
      continue;
    }
    await pause(waitMs, signal);
    signal.throwIfAborted();
    waitMs = Math.min(waitMs * 2, waitMsMax);
    stream = undefined;
  }
}

/** Some ten minutes without an answer. */
const failuresMax = 60;
const waitMsMax = 10_000;

/** Tells the agent that no one waits any more, as long as it is not at its end. Never rejects. */
export async function cancelTask({ client }: RemoteAgent, reader: TaskReader): Promise<void> {
  if (reader.taskId === '' || !isUnderWay(reader.state)) return;
  const request = { tenant: '', id: reader.taskId, metadata: undefined };
  await client
    .cancelTask(request, { signal: AbortSignal.timeout(cancelMs) })
    .then((value) => reader.take({ $case: 'task', value }))
    .catch(() => undefined);
}

const cancelMs = 5_000;
