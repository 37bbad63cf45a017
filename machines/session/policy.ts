import { fromKernel, isTrusted, type Caller } from '../caller.js';
import { jsonBytes } from '../json-bytes.js';
import { refuse, type Refusal } from '../refusals.js';
import { checkShape } from '../shape.js';
import { limits, type SessionContext, type SessionEvent, type SessionInput } from './context.js';
import { pending, pendingPermission } from './permissions.js';
import { mayFind } from './transcript.js';

/** Who may do what with a session, and when. The kernel asks before the step; the machine's guards ask the same function. */
export function sessionPolicy(context: SessionContext, event: SessionEvent): Refusal | undefined {
  switch (event.type) {
    case 'message.post': return event.step !== undefined && event.by.type === 'session' ? refuse('FORBIDDEN', {}, 'Only a run of a workflow posts its steps.') : mayPost(context, event.message, event.by);
    case 'media.insert': return isTrusted(event.by) || (event.by.type === 'session' && event.by.id === context.id)
      ? fitMessage(event.message) : refuse('FORBIDDEN', {}, 'Only people and the session itself attach files to it.');
    case 'transcript.found': return isTrusted(event.by) ? mayFind(context, event) : refuse('FORBIDDEN', {}, 'Only the gateway reads the records of agents.');
    case 'session.stop': return mayStop(context, event.by);
    case 'queue.cancel':
      return trustedOnly(event.by, 'edit the queue') ?? (context.queue.some((item) => item.id === event.messageId)
        ? undefined : refuse('CONFLICT', { messageId: event.messageId }, 'This message is not in the queue, or is already running.'));
    case 'queue.clear':
    case 'queue.pause':
    case 'queue.resume': return trustedOnly(event.by, 'edit the queue');
    case 'session.patch': return trustedOnly(event.by, 'edit a session') ?? fitPatch(event);
    case 'session.unarchive': return trustedOnly(event.by, 'archive sessions');
    case 'session.archive': return trustedOnly(event.by, 'archive sessions') ?? atRest(context, 'archived');
    case 'session.reset': return trustedOnly(event.by, 'reset sessions') ?? atRest(context, 'reset', { mayWait: true });
    case 'session.delete': return trustedOnly(event.by, 'delete sessions') ?? linked(context) ?? atRest(context, 'deleted');
    case 'permission.asked': return isTrusted(event.by) ? fitPermission(context, event) : refuse('FORBIDDEN', {}, 'Only the engine\'s own hand asks for permissions.');
    case 'permission.decided': return mayDecide(context, event);
    case 'permission.expired': return event.by.type === 'system' ? undefined : refuse('UNKNOWN_EVENT', { type: event.type }, 'Only the session itself sends this.');
    case 'turn.began':
    case 'turn.native':
    case 'turn.partial': return isTrusted(event.by) ? undefined : refuse('FORBIDDEN', {}, 'Only the engine\'s own hand reports on a turn.');
    case 'child.finished':
      return isTrusted(event.by) || (event.by.type === 'session' && event.by.id === event.childId)
        ? undefined : refuse('FORBIDDEN', {}, 'Only the child itself reports its end.');
    default: return fromKernel(event) ? undefined : refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

/** May a session be created like this? Bounds only; employee, engine and working folder are judged at the door. */
export function admitSession(input: SessionInput): Refusal | undefined {
  const wrong = checkInput(input);
  if (wrong !== undefined) return refuse('BAD_REQUEST', {}, `A session cannot be created so: ${wrong.replace('the context', 'the input').replace('context.', '')}.`);
  if (input.engine === '') return refuse('UNKNOWN_ENGINE');
  if (jsonBytes(input.cwd) > 4096) return refuse('BAD_REQUEST', { path: 'cwd' }, 'The working folder\'s path is longer than 4096 bytes.');
  if (input.ancestors.length > limits.ancestorsMax) return refuse('BAD_REQUEST', { path: 'ancestors' }, `Sessions nest at most ${limits.ancestorsMax} deep.`);
  return input.message && fitMessage(input.message);
}

const checkInput = checkShape({
  engine: 'string', model: 'string?', effort: 'string?', employee: 'string?', parentSessionId: 'string?', ancestors: 'array', workItemId: 'string?',
  title: 'string?', cwd: 'string', source: 'string', sourceRef: 'string?', interruptOnNewMessage: 'boolean', turnDeadlineMs: 'number',
});

/** People and ancestors interrupt a running user turn; other agents' messages queue. */
export function interrupts(context: SessionContext, event: SessionEvent): boolean {
  return event.type === 'message.post'
    && context.interruptOnNewMessage
    && event.message.kind === 'user'
    && context.turn !== null
    && context.turn.items.some((item) => item.kind === 'user')
    && (isTrusted(event.by) || isAncestor(context, event.by));
}

function mayPost(context: SessionContext, message: { id: string; content: string }, by: Caller): Refusal | undefined {
  if (by.type === 'session' && by.id === context.id) return refuse('SELF_MESSAGE', { sessionId: context.id });
  if (context.queue.length + (context.turn?.items.length ?? 0) >= limits.queueMax) {
    return refuse('QUEUE_FULL', { queueDepth: context.queue.length, queueMax: limits.queueMax });
  }
  return fitMessage(message);
}

function fitMessage(message: { id: string; content: string }): Refusal | undefined {
  if (typeof message.id !== 'string' || !/^[A-Za-z0-9._:-]{1,64}$/.test(message.id)) {
    return refuse('BAD_REQUEST', { path: 'message.id' }, 'A message id is 1 to 64 letters, digits, dots, colons, dashes or underscores.');
  }
  if (typeof message.content !== 'string') return refuse('BAD_REQUEST', { path: 'message.content' }, 'A message needs content.');
  return undefined;
}

function mayStop(context: SessionContext, by: Caller): Refusal | undefined {
  if (isTrusted(by) || isAncestor(context, by)) return undefined;
  return refuse('NOT_DESCENDANT', { sessionId: context.id },
    `Session ${context.id} is not a descendant of your session: agents may only stop sessions that they spawned.`);
}

function fitPatch(patch: { title?: string; engine?: string }): Refusal | undefined {
  if (patch.title !== undefined && (patch.title.trim() === '' || patch.title.length > limits.titleCharsMax)) {
    return refuse('BAD_REQUEST', { path: 'title' }, `A title has 1 to ${limits.titleCharsMax} characters.`);
  }
  return patch.engine === '' ? refuse('UNKNOWN_ENGINE') : undefined;
}

/** What is done with a whole session is done while nothing runs and nothing waits. */
function atRest(context: SessionContext, deed: string, options: { mayWait?: boolean } = {}): Refusal | undefined {
  if (context.turn === null && (options.mayWait || context.resetAt === null)) return undefined;
  return refuse('CONFLICT', { sessionId: context.id }, `A session at work cannot be ${deed}. Stop it first.`);
}

/** Evidence of a work item stays. */
const linked = (context: SessionContext): Refusal | undefined => (context.workItemId === null ? undefined
  : refuse('CONFLICT', { preserved: true, workItemId: context.workItemId }, `This session is an attempt at ${context.workItemId} and is kept as evidence. Archive it instead.`));

function fitPermission(context: SessionContext, event: Extract<SessionEvent, { type: 'permission.asked' }>): Refusal | undefined {
  if (context.turn?.id !== event.turnId) return refuse('CONFLICT', { turnId: event.turnId }, 'This turn is over.');
  if (pending(context).length >= limits.permissionsMax) return refuse('QUEUE_FULL', { permissionsMax: limits.permissionsMax }, 'Too many tools wait for a person already.');
  if (!/^[A-Za-z0-9._:-]{1,200}$/.test(event.permissionId) || pendingPermission(context, event.permissionId)) return refuse('BAD_REQUEST', { path: 'permissionId' });
  return Number.isFinite(event.waitMs) && event.waitMs > 0 ? undefined : refuse('BAD_REQUEST', { path: 'waitMs' });
}

/** Tools are a person's to allow: an agent that could allow its child's could allow its own. */
function mayDecide(context: SessionContext, event: Extract<SessionEvent, { type: 'permission.decided' }>): Refusal | undefined {
  if (!isTrusted(event.by)) return refuse('PERSON_REQUIRED', {}, 'Only a person may allow a tool.');
  if (pendingPermission(context, event.permissionId)) return undefined;
  return refuse('CONFLICT', { permissionId: event.permissionId }, 'This permission is not pending: it was decided, it expired, or its turn is over.');
}

const trustedOnly = (by: Caller, deed: string): Refusal | undefined =>
  isTrusted(by) ? undefined : refuse('FORBIDDEN', {}, `Agents may not ${deed}; ask a person.`);

const isAncestor = (context: SessionContext, by: Caller): boolean => by.type === 'session' && context.ancestors.includes(by.id);
