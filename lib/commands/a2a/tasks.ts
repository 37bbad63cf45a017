import { createHash } from 'node:crypto';
import { operator, system } from '../../../machines/caller.js';
import { excerpt } from '../../../machines/text.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { MessageIn } from '../../../machines/session/input.js';
import { employeeNamed, type App, type GatewayTransaction } from '../app.js';
import { rightsOf } from '../authority/session-rights.js';
import { ownRow } from '../iterate.js';
import { inTurn } from '../request.js';
import { openWithin, selectFor } from '../sessions/open-session.js';
import { ownPlace } from '../workers.js';
import type { Offered } from './credentials.js';
import { cancelRowOf, isEnded, keptMessage, label, messageRowOf, readTask, type Task } from './read-task.js';

/** What an agent of another house says to an employee. */
export interface OutsideMessage {
  /** The sender's own: the same id is the same message, also after any restart. */
  readonly messageId: string;
  /** Empty: a new context. */
  readonly contextId: string;
  /** Of a task that is at work, to which it is added. Empty: a new task. */
  readonly taskId: string;
  readonly text: string;
}

/**
 * A message becomes a task, in the commit that hands it to a session of the employee, with the employee's rights and an
 * empty folder of its own. A message that came before answers its task. What stands against it is refused in words for
 * the other side, which is told nothing of this house.
 */
export function sendTask(app: App, to: Offered, message: OutsideMessage): Promise<Task | Refusal> {
  return inTurn(app.supervisor, `a2a/${to.name}`, async () => {
    const known = await keptMessage(app, idFor(to.name, 'message', message.messageId));
    if (known !== undefined) return (await readTask(app, to.name, known.task)) ?? noTask(known.task);
    const { messageCharsMax } = to.offer;
    if (message.text.trim() === '') return refuse('BAD_REQUEST', {}, 'The message has no text.');
    if (message.text.length > messageCharsMax)
      return refuse('BAD_REQUEST', {}, `A message has at most ${messageCharsMax} characters.`);
    return message.taskId === '' ? begin(app, to, message) : add(app, to, message);
  });
}

/** More words for a task that is at work; its agent reads them when it has ended what it does. */
async function add(app: App, to: Offered, message: OutsideMessage): Promise<Task | Refusal> {
  const task = await readTask(app, to.name, message.taskId);
  if (task === undefined) return noTask(message.taskId);
  if (message.contextId !== '' && message.contextId !== task.contextId)
    return refuse('BAD_REQUEST', {}, 'The task belongs to another context.');
  if (isEnded(task))
    return refuse('CONFLICT', {}, `The task has ended (${task.state}). Go on in its context with a new one.`);
  const id = idFor(to.name, 'message', message.messageId);
  const session = { kind: 'session', id: task.sessionId } as const;
  const row = { employee: to.name, session: task.sessionId, contextId: task.contextId, task: task.id };
  return committed(app, to, task.id, {
    actors: [session],
    run(turns) {
      turns.send(session, { type: 'message.post', message: messageFor(id, task.id, message.text) });
      turns.put(messageRowOf(id), row);
    },
  });
}

async function begin(app: App, to: Offered, message: OutsideMessage): Promise<Task | Refusal> {
  const id = idFor(to.name, 'message', message.messageId);
  const contextId = message.contextId === '' ? id : message.contextId;
  if (contextId.length > contextCharsMax)
    return refuse('BAD_REQUEST', {}, `A contextId has at most ${contextCharsMax} characters.`);
  const sessionId = `a2a-${idFor(to.name, 'context', contextId)}`;
  const open = await openTasks(app, to.name);
  const busy = open.find((task) => task.contextId === contextId);
  if (busy !== undefined)
    return refuse(
      'CONFLICT',
      {},
      `Task ${busy.id} of this context is at work. Wait for its end, or cancel it.`,
    );
  if (open.length >= to.offer.tasksMax)
    return refuse(
      'TOO_MANY',
      { resetAt: app.supervisor.environment.clock.now() + busySeconds * 1_000 },
      `${to.displayName} works on ${open.length} tasks already. Try again when one has ended.`,
    );
  const known = await app.supervisor.get('session', sessionId);
  if (known?.view.status === 'deleted')
    return refuse('CONFLICT', {}, 'This context was closed. Begin another one, without a contextId.');
  const session = { kind: 'session', id: sessionId } as const;
  const words = messageFor(id, id, message.text);
  const create = known === undefined ? await opener(app, to, sessionId, message.text, words) : undefined;
  if (isRefusal(create)) {
    app.supervisor.environment.log.error(
      { employee: to.name, code: create.code, reason: create.message },
      'a task of an outsider could not be taken',
    );
    return refuse('BUSY', {}, `${to.displayName} can take no work now. Try again later.`);
  }
  return committed(app, to, id, {
    actors: known === undefined ? [] : [session],
    run(turns) {
      if (create !== undefined) create(turns);
      else turns.send(session, { type: 'message.post', message: words });
      turns.put(messageRowOf(id), { employee: to.name, session: sessionId, contextId, task: id });
      turns.put(openRowOf(to.name), [...open.map((task) => task.id), id]);
    },
  });
}

/** As a connector opens one: the employee's rights, and a folder that holds nothing of the house. */
async function opener(
  app: App,
  to: Offered,
  sessionId: string,
  text: string,
  message: MessageIn,
): Promise<((turns: GatewayTransaction) => void) | Refusal> {
  const employee = employeeNamed(app, to.name);
  if (isRefusal(employee)) return employee;
  const input = { prompt: message.content, employee: to.name, title: excerpt(text.trim(), titleChars) };
  const selection = await selectFor(app, input, employee);
  if (isRefusal(selection)) return selection;
  const place = await ownPlace(app, sessionId, employee);
  if (isRefusal(place)) return place;
  const rights = await rightsOf(app, { causes: [operator], parentSessionId: null, employee });
  if (isRefusal(rights)) return rights;
  return (turns) =>
    openWithin(app, turns, sessionId, {
      input,
      employee,
      selection,
      rights,
      ...place,
      lineage: { parentSessionId: null, ancestors: [] },
      workItemId: null,
      source: 'a2a',
      sourceRef: `a2a:${to.name}`,
      message,
    });
}

/**
 * Ends its work, and no one else's: what waits is taken back, and a turn is stopped only where it is its own.
 * NOT_FOUND, or CONFLICT where it has ended.
 */
export function cancelTask(app: App, to: Offered, taskId: string): Promise<Task | Refusal> {
  return inTurn(app.supervisor, `a2a/${to.name}`, async () => {
    const task = await readTask(app, to.name, taskId);
    if (task === undefined) return noTask(taskId);
    if (isEnded(task)) return refuse('CONFLICT', {}, `The task has ended (${task.state}).`);
    const session = { kind: 'session', id: task.sessionId } as const;
    return committed(app, to, taskId, {
      actors: [session],
      run(turns) {
        const running = turns.read(session)?.view.messageId;
        for (const { id } of task.asked)
          if (id !== running) turns.send(session, { type: 'queue.cancel', messageId: id }, { soft: true });
        if (task.asked.some(({ id }) => id === running))
          turns.send(session, {
            type: 'session.stop',
            reason: 'The outsider who asked for it cancelled it.',
          });
        turns.put(cancelRowOf(taskId), turns.at);
      },
    });
  });
}

async function committed(
  app: App,
  { name }: Offered,
  taskId: string,
  plan: {
    readonly actors: readonly { readonly kind: 'session'; readonly id: string }[];
    readonly run: (turns: GatewayTransaction) => void;
  },
): Promise<Task | Refusal> {
  const done = await app.supervisor.transact<null>({
    name: 'a2a-task',
    startsWork: true,
    by: system(`a2a:${name}`),
    onBehalfOf: [operator], // who offers the employee, and gave the credential away
    actors: plan.actors,
    run(turns) {
      plan.run(turns);
      return null;
    },
  });
  if (isRefusal(done)) return done;
  return (await readTask(app, name, taskId)) ?? noTask(taskId);
}

/** Those of this employee that have not ended. */
async function openTasks(app: App, name: string): Promise<readonly Task[]> {
  const ids = ((await ownRow(app.supervisor, openRowOf(name))) ?? []) as readonly string[];
  const tasks = await Promise.all(ids.map((id) => readTask(app, name, id)));
  return tasks.filter((task) => task !== undefined && !isEnded(task)).filter((task) => task !== undefined);
}

const messageFor = (id: string, task: string, text: string): MessageIn => ({
  id,
  content: `${label}${text}`,
  role: 'notification',
  kind: 'agent',
  meta: { kind: 'a2a', task },
});

/** For outsiders a task of someone else is as absent as one that never was. */
export const noTask = (id: string): Refusal =>
  refuse('NOT_FOUND', {}, `There is no task ${JSON.stringify(id)}.`);

/** Whatever the other side calls it: of one length, and never that of another employee. */
const idFor = (...parts: readonly [employee: string, what: 'message' | 'context', name: string]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 32);

const openRowOf = (name: string): string => `a2a/open/${name}`;
const contextCharsMax = 200;
const titleChars = 100;
const busySeconds = 10;
