import type { Artifact, Message, Part, StreamResponse, Task, TaskStatus } from '@a2a-js/sdk';
import type { TurnReport } from '../turn-events.js';
import { RefusedError } from './agent.js';

/** States of a task, by the numbers of the protocol's definition. */
export const taskStates = {
  submitted: 1,
  working: 2,
  completed: 3,
  failed: 4,
  canceled: 5,
  inputRequired: 6,
  rejected: 7,
  authRequired: 8,
} as const;

/**
 * Reads what an agent tells of a task, in pieces, whole or twice, and reports each word once: after a broken
 * connection the same is told again.
 */
export interface TaskReader {
  /** Of the conversation; empty until the agent has named it. */
  readonly contextId: string;
  /** Of the task; empty where the agent answers by a message alone. */
  readonly taskId: string;
  readonly state: number;
  /** The agent answered without a task. */
  readonly isAnswered: boolean;
  /** Grows with everything that is new. */
  readonly news: number;
  /** Throws a `RefusedError` where it is told too much. */
  take(payload: StreamResponse['payload']): void;
  /** The answer so far: the artifacts, else the last message. */
  text(): string;
}

/** `const reader = createTaskReader((report) => io.report(report)); reader.take({ $case: 'task', value: task })` */
export function createTaskReader(report: (report: TurnReport) => void): TaskReader {
  let contextId = '';
  let taskId = '';
  let state = 0;
  let said = '';
  let isAnswered = false;
  /** Text by artifact, in the order in which they came. */
  const artifacts = new Map<string, string>();
  const heard = new Set<string>();
  let news = 0;
  let chars = 0;

  const publish = (piece: TurnReport & { readonly text: string }): void => {
    news += 1;
    chars += piece.text.length;
    if (chars > charsMax) throw new RefusedError(`It says more than ${charsMax} characters.`);
    report(piece);
  };
  const name = (context: string, task: string): void => {
    if (contextId === '' || taskId === '') news += 1;
    contextId ||= context;
    taskId ||= task;
  };
  const addArtifact = (artifact: Artifact | undefined, isMore: boolean): void => {
    if (artifact === undefined) return;
    const known = artifacts.get(artifact.artifactId);
    const before = known ?? '';
    const piece = textOf(artifact.parts);
    // What is added is not compared with what was there: an answer in many pieces would take ever longer
    const text = isMore ? before + piece : piece;
    const isGrown = isMore || text.startsWith(before);
    if (isGrown && text.length === before.length) return;
    artifacts.set(artifact.artifactId, text);
    const isBehind = artifacts.size > 1 && (known === undefined || !isGrown);
    const more = isMore || !isGrown ? piece : text.slice(before.length);
    publish({ type: 'text', text: (isBehind ? between : '') + more });
  };
  /** What a working agent says on its way is for who watches; what it ends or asks with is its answer. */
  const hear = (message: Message | undefined): void => {
    const text = message === undefined ? '' : textOf(message.parts);
    if (text === '' || heard.has(message?.messageId || text)) return;
    heard.add(message?.messageId || text);
    if (isUnderWay(state)) publish({ type: 'notice', text });
    else said = text;
  };
  const rest = (status: TaskStatus | undefined): void => {
    const next = status?.state ?? state;
    if (next !== state) news += 1;
    state = next;
    hear(status?.message);
  };
  const whole = (task: Task): void => {
    name(task.contextId, task.id);
    for (const artifact of task.artifacts) addArtifact(artifact, false);
    rest(task.status);
    const last = task.history.findLast(({ role }) => role === agentRole);
    if (!isUnderWay(state) && said === '' && artifacts.size === 0 && last !== undefined)
      said = textOf(last.parts);
  };

  return {
    get contextId() {
      return contextId;
    },
    get taskId() {
      return taskId;
    },
    get state() {
      return state;
    },
    get isAnswered() {
      return isAnswered;
    },
    get news() {
      return news;
    },
    take(payload) {
      switch (payload?.$case) {
        case 'task':
          return whole(payload.value);
        case 'statusUpdate':
          name(payload.value.contextId, payload.value.taskId);
          return rest(payload.value.status);
        case 'artifactUpdate':
          name(payload.value.contextId, payload.value.taskId);
          return addArtifact(payload.value.artifact, payload.value.append);
        case 'message':
          name(payload.value.contextId, '');
          isAnswered = true;
          said = textOf(payload.value.parts);
          return publish({ type: 'text', text: said });
        default:
          return undefined;
      }
    },
    text: () => [...artifacts.values(), said].filter((part) => part !== '').join(between),
  };
}

const between = '\n\n';
/** Four times as much as a session keeps of a turn. */
const charsMax = 2 ** 20;
/** ROLE_AGENT */
const agentRole = 2;

/** Neither ended nor waiting for an answer. */
export const isUnderWay = (state: number): boolean => state <= taskStates.working;

/** Files are named and not fetched: their addresses are an outsider's. */
function textOf(parts: readonly Part[]): string {
  return parts
    .flatMap(({ content, filename, mediaType }) => {
      const called = [filename, mediaType].filter(Boolean).join(', ');
      switch (content?.$case) {
        case 'text':
          return [content.value];
        case 'url':
          return [`[${called || 'file'}: ${content.value}]`];
        case 'raw':
          return [`[${called || 'file'}: ${content.value.length} bytes, not kept]`];
        case 'data':
          return [`\`\`\`json\n${JSON.stringify(content.value, null, 2)}\n\`\`\``];
        default:
          return [];
      }
    })
    .join('');
}
