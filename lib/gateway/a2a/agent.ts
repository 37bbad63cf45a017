import type { Artifact, Message, StreamResponse, Task as WireTask, TaskStatus } from '@a2a-js/sdk';
import type * as A2aErrors from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import type { App } from '../../commands/app.js';
import type { Offered } from '../../commands/a2a/credentials.js';
import { isEnded, readTask, type Task, type TaskState } from '../../commands/a2a/read-task.js';
import { cancelTask, noTask, sendTask, type OutsideMessage } from '../../commands/a2a/tasks.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import { isoTime } from '../../../machines/sortable.js';
import { cardOf } from './card.js';
import { followTask } from './follow.js';

type Errors = typeof A2aErrors;

/** An employee as the official SDK's transport sees an agent. */
export interface EmployeeAgent extends A2ARequestHandler {
  /** What went wrong that the protocol has no word for: a limit, or a fault of ours. */
  readonly trouble: { readonly refusal: Refusal } | { readonly fault: unknown } | undefined;
}

/** Made for one request; `signal` ends what it follows. */
export function employeeAgent(
  app: App,
  to: Offered,
  {
    errors,
    signal,
    version,
  }: { readonly errors: Errors; readonly signal: AbortSignal; readonly version: string },
): EmployeeAgent {
  let trouble: EmployeeAgent['trouble'];

  /** The value, or the refusal as an error of the protocol. */
  async function given<Value>(asked: Promise<Value | Refusal>): Promise<Value> {
    const answer = await asked.catch((fault: unknown) => {
      trouble = { fault };
      throw fault;
    });
    if (!isRefusal(answer)) return answer;
    const { code, message, status } = answer;
    if (status === 404) throw new errors.TaskNotFoundError(message);
    if (code === 'CONFLICT') throw new errors.UnsupportedOperationError(message);
    if (status < 429) throw new errors.RequestMalformedError(message);
    trouble = { refusal: answer };
    throw new Error(message);
  }
  const found = (id: string): Promise<Task> =>
    given(readTask(app, to.name, id).then((task) => task ?? noTask(id)));
  const unsupported = (what: string) => async (): Promise<never> => {
    throw new errors.UnsupportedOperationError(what);
  };
  const noPush = async (): Promise<never> => {
    throw new errors.PushNotificationNotSupportedError(
      'It does not call back. Stream the task, or ask for it.',
    );
  };

  function read(message: Message | undefined): OutsideMessage {
    if (message === undefined || message.messageId === '' || message.messageId.length > idCharsMax)
      throw new errors.RequestMalformedError(
        `A message needs a messageId of at most ${idCharsMax} characters.`,
      );
    const parts = message.parts.map(({ content }) => {
      if (content?.$case === 'text') return content.value;
      throw new errors.ContentTypeNotSupportedError('It takes text only: no files, no addresses, no data.');
    });
    const { messageId, contextId, taskId } = message;
    return { messageId, contextId, taskId, text: parts.join('\n\n') };
  }

  async function* follow(task: Task): AsyncGenerator<StreamResponse, void, undefined> {
    yield { payload: { $case: 'task', value: wireTask(task) } };
    if (isEnded(task)) return;
    let { state } = task;
    let said = '';
    const artifact = (text: string, append: boolean, lastChunk: boolean): StreamResponse => ({
      payload: {
        $case: 'artifactUpdate',
        value: { ...placeOf(task), artifact: answerOf(text), append, lastChunk, metadata: undefined },
      },
    });
    for await (const news of followTask(app, to.name, task, signal)) {
      if ('words' in news) {
        yield artifact(news.words, said !== '', false);
        said += news.words;
        continue;
      }
      const now = news.task;
      // The answer counts, whatever came through of it before
      if (isEnded(now) && now.answer !== '') {
        const isWhole = said !== '' && now.answer.startsWith(said);
        if (!isWhole || now.answer !== said)
          yield artifact(isWhole ? now.answer.slice(said.length) : now.answer, isWhole, true);
      }
      if (now.state === state) continue;
      state = now.state;
      yield {
        payload: {
          $case: 'statusUpdate',
          value: { ...placeOf(now), status: statusOf(now), metadata: undefined },
        },
      };
    }
  }

  return {
    get trouble() {
      return trouble;
    },
    getAgentCard: async () => cardOf(to, '', version),
    getAuthenticatedExtendedAgentCard: unsupported('There is one card, and you have it.'),
    async sendMessage({ message, configuration }) {
      const task = await given(sendTask(app, to, read(message)));
      if (configuration?.returnImmediately === true) return wireTask(task, configuration.historyLength);
      let last = task;
      const waited = AbortSignal.any([signal, AbortSignal.timeout(waitMsMax)]);
      if (!isEnded(task))
        for await (const news of followTask(app, to.name, task, waited)) if ('task' in news) last = news.task;
      return wireTask(last, configuration?.historyLength);
    },
    async *sendMessageStream({ message }) {
      yield* follow(await given(sendTask(app, to, read(message))));
    },
    async *resubscribe({ id }) {
      const task = await found(id);
      if (isEnded(task))
        throw new errors.UnsupportedOperationError('The task has ended. Ask for it (GetTask).');
      yield* follow(task);
    },
    getTask: async ({ id, historyLength }) => wireTask(await found(id), historyLength),
    async cancelTask({ id }) {
      const task = await found(id);
      if (isEnded(task)) throw new errors.TaskNotCancelableError(`The task has ended (${task.state}).`);
      return wireTask(await given(cancelTask(app, to, id)));
    },
    listTasks: unsupported('It lists no tasks. Ask for one by its id.'),
    createTaskPushNotificationConfig: noPush,
    getTaskPushNotificationConfig: noPush,
    listTaskPushNotificationConfigs: noPush,
    deleteTaskPushNotificationConfig: noPush,
  };
}

/** By the numbers of the protocol's definition. */
const stateNumbers: Readonly<Record<TaskState, number>> = {
  submitted: 1,
  working: 2,
  completed: 3,
  failed: 4,
  canceled: 5,
};
const roles = { user: 1, agent: 2 } as const;

function wireTask(task: Task, historyLength = Infinity): WireTask {
  const history = task.asked.map(({ id, text }) => messageOf(task, id, text, roles.user));
  return {
    id: task.id,
    contextId: task.contextId,
    status: statusOf(task),
    artifacts: isEnded(task) && task.answer !== '' ? [answerOf(task.answer)] : [],
    history: historyLength > 0 ? history.slice(-historyLength) : [],
    metadata: undefined,
  };
}

/** Why it failed is the house's business: errors name folders, programs and keys. */
const statusOf = (task: Task): TaskStatus => ({
  state: stateNumbers[task.state],
  message:
    task.state === 'failed'
      ? messageOf(
          task,
          `${task.id}-end`,
          'It could not be done. The people of its house see why.',
          roles.agent,
        )
      : undefined,
  timestamp: isoTime(task.at),
});

const placeOf = ({ id, contextId }: Task) => ({ taskId: id, contextId });

const answerOf = (text: string): Artifact => ({
  artifactId: 'answer',
  name: '',
  description: '',
  parts: [partOf(text)],
  metadata: undefined,
  extensions: [],
});

const messageOf = (task: Task, messageId: string, text: string, role: 1 | 2): Message => ({
  messageId,
  ...placeOf(task),
  role,
  parts: [partOf(text)],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});

const partOf = (text: string) => ({
  content: { $case: 'text' as const, value: text },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
});

const idCharsMax = 200;
/** A message that waits for its task is answered after so long with the task as it is. */
const waitMsMax = 60_000;
