import { authorityOf, fromKernel, isTrusted, type Authority, type Caller } from '../caller.js';
import { jsonBytes } from '../text.js';
import { refuse, type NotInState, type Refusal } from '../refusals.js';
import { checkShape } from '../shape.js';
import { fitActivity } from './activity.js';
import {
  excerpt,
  limits,
  type SessionContext,
  type SessionEvent,
  type SessionEventOf,
  type SessionInput,
} from './context.js';
import { fitSwept } from './sweep-output.js';
import { pending, pendingPermission } from './permissions.js';
import type { ToolPolicy } from './tool-policy.js';
import { anchoredRuleCharsMax, isWholesale, toolRule } from './tool-rule.js';
import { fitFound, fitHistory } from './transcript.js';

/**
 * Who may do what with a session, and whether what an event names is there and fits. When it may happen is
 * the statechart's to say. Answers the refusal, or undefined for yes; never throws.
 * @example
 *   const policy = (context: SessionContext, event: SessionEvent & Stamp) =>
 *     sessionPolicy(context, event, authorityOf(event));
 */
export function sessionPolicy(
  context: SessionContext,
  event: SessionEvent,
  { by, onBehalfOf }: Authority,
): Refusal | undefined {
  switch (event.type) {
    case 'message.post':
      return event.step !== undefined && by.type === 'session'
        ? refuse('FORBIDDEN', {}, 'Only a workflow run may post its steps.')
        : mayPost(context, event.message, by);
    case 'media.insert':
      return isTrusted(onBehalfOf) || isSelf(by, context.id)
        ? fitMessage(event.message)
        : refuse('FORBIDDEN', {}, 'Only people and the session itself may attach files to it.');
    case 'delegation.dispatched':
      return isTrusted(onBehalfOf) || isSelf(by, context.id) || isAncestor(context, onBehalfOf)
        ? fitMessage(event.message)
        : refuse('FORBIDDEN', {}, 'Only who may delegate beneath a session leaves a card in it.');
    case 'transcript.found':
      return isTrusted(onBehalfOf)
        ? fitFound(context, event)
        : refuse('FORBIDDEN', {}, 'Only the gateway reads the records of agents.');
    case 'history.imported':
      return trustedOnly(onBehalfOf, 'import sessions') ?? fitHistory(context, event);
    case 'session.stop':
      return mayStop(context, onBehalfOf);
    case 'queue.cancel':
      return trustedOnly(onBehalfOf, 'edit the queue') ?? isQueued(context, event.messageId);
    case 'queue.move':
      return (
        trustedOnly(onBehalfOf, 'edit the queue') ?? fitPlace(event) ?? isQueued(context, event.messageId)
      );
    case 'queue.clear':
    case 'queue.pause':
    case 'queue.resume':
      return trustedOnly(onBehalfOf, 'edit the queue');
    case 'settings.judged':
      return trustedOnly(onBehalfOf, 'trust settings of a project');
    case 'session.resume':
      return trustedOnly(onBehalfOf, 'resume sessions') ?? isUnpaused(context);
    case 'session.patch':
      return trustedOnly(onBehalfOf, 'edit a session') ?? fitPatch(event);
    case 'session.archive':
    case 'session.unarchive':
      return trustedOnly(onBehalfOf, 'archive sessions');
    case 'session.reset':
      return trustedOnly(onBehalfOf, 'reset sessions');
    case 'session.erase':
      return trustedOnly(onBehalfOf, 'erase what sessions hold');
    case 'session.delete':
      return trustedOnly(onBehalfOf, 'delete sessions') ?? isEvidence(context);
    case 'permission.asked':
      return isTrusted(by)
        ? fitPermission(context, event)
        : refuse('FORBIDDEN', {}, "Only the engine's own effect asks for permissions.");
    case 'permission.decided':
      return mayDecide(context, event, onBehalfOf);
    case 'permissions.set':
      return trustedOnly(onBehalfOf, 'change what a session may do') ?? fitRules(event.toolPolicy);
    case 'permission.expired':
    case 'turn.silent':
      return by.type === 'system'
        ? undefined
        : refuse('UNKNOWN_EVENT', { type: event.type }, 'Only the session itself sends this.');
    case 'turn.began':
    case 'turn.heard':
    case 'turn.native':
    case 'turn.partial':
      return isTrusted(by)
        ? undefined
        : refuse('FORBIDDEN', {}, "Only the engine's own effect reports on a turn.");
    case 'turn.recorded':
      return isTrusted(by)
        ? fitActivity(event)
        : refuse('FORBIDDEN', {}, "Only the engine's own effect reports on a turn.");
    case 'output.swept':
      return by.type === 'system'
        ? fitSwept(event)
        : refuse('FORBIDDEN', {}, 'Only the gateway drops results of tools.');
    case 'child.finished':
      return isTrusted(by) || isSelf(by, event.childId)
        ? undefined
        : refuse('FORBIDDEN', {}, 'Only the child itself reports its end.');
    default:
      return fromKernel(event)
        ? undefined
        : refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

/**
 * What is done with a whole session only while it rests: in which states that is, the chart says. Never throws.
 * @example
 *   const notInState = ({ context }: SnapshotFrom<typeof sessionMachine>, event: SessionEvent) =>
 *     sessionNotInState(context, event);
 */
export function sessionNotInState({ id }: SessionContext, { type }: SessionEvent): NotInState | undefined {
  const action = wholly[type];
  if (action === undefined) return undefined;
  const details = { sessionId: id };
  return type === 'session.resume' ? { details, action } : { details, action, remedy: 'Stop it first.' };
}

const wholly: Readonly<Record<string, string | undefined>> = {
  'session.resume': 'be resumed',
  'session.archive': 'be archived',
  'session.reset': 'be reset',
  'session.delete': 'be deleted',
  'session.erase': 'be erased',
};

/**
 * May a session be created like this? Bounds only; employee, engine and working folder are judged by the
 * command. Answers the refusal, or undefined for yes; never throws.
 * @example const validateInput = (input: SessionInput) => admitSession(input);
 */
export function admitSession(input: SessionInput): Refusal | undefined {
  const wrong = checkInput(input);
  if (wrong !== undefined)
    return refuse(
      'BAD_REQUEST',
      {},
      `Invalid session: ${wrong.replace('the context', 'the input').replace('context.', '')}.`,
    );
  if (input.engine === '') return refuse('UNKNOWN_ENGINE');
  if (jsonBytes(input.cwd) > 4096)
    return refuse('BAD_REQUEST', { path: 'cwd' }, "The working folder's path is longer than 4096 bytes.");
  if (input.ancestors.length > limits.ancestorsMax)
    return refuse('BAD_REQUEST', { path: 'ancestors' }, `Sessions nest at most ${limits.ancestorsMax} deep.`);
  return input.message && fitMessage(input.message);
}

const checkInput = checkShape({
  engine: 'string',
  model: 'string?',
  effort: 'string?',
  employee: 'string?',
  parentSessionId: 'string?',
  ancestors: 'array',
  workItemId: 'string?',
  title: 'string?',
  cwd: 'string',
  source: 'string',
  sourceRef: 'string?',
  interruptOnNewMessage: 'boolean',
  turnDeadlineMs: 'number',
});

/** People and ancestors interrupt a running user turn; other agents' messages queue. */
export function interrupts(context: SessionContext, event: SessionEvent): boolean {
  const { onBehalfOf } = authorityOf(event);
  return (
    event.type === 'message.post' &&
    context.interruptOnNewMessage &&
    event.message.kind === 'user' &&
    context.turn !== null &&
    context.turn.items.some((item) => item.kind === 'user') &&
    (isTrusted(onBehalfOf) || isAncestor(context, onBehalfOf))
  );
}

function mayPost(
  context: SessionContext,
  message: { id: string; content: string },
  by: Caller,
): Refusal | undefined {
  if (isSelf(by, context.id)) return refuse('SELF_MESSAGE', { sessionId: context.id });
  if (context.queue.length + (context.turn?.items.length ?? 0) >= limits.queueMax) {
    return refuse('QUEUE_FULL', { queueDepth: context.queue.length, queueMax: limits.queueMax });
  }
  return fitMessage(message);
}

function fitMessage(message: { id: string; content: string }): Refusal | undefined {
  if (typeof message.id !== 'string' || !/^[A-Za-z0-9._:-]{1,64}$/.test(message.id)) {
    return refuse(
      'BAD_REQUEST',
      { path: 'message.id' },
      'A message id is 1 to 64 letters, digits, dots, colons, dashes or underscores.',
    );
  }
  if (typeof message.content !== 'string')
    return refuse('BAD_REQUEST', { path: 'message.content' }, 'A message needs content.');
  return undefined;
}

function mayStop(context: SessionContext, by: Caller): Refusal | undefined {
  if (isTrusted(by) || isAncestor(context, by)) return undefined;
  return refuse(
    'NOT_DESCENDANT',
    { sessionId: context.id },
    `Session ${context.id} is not a descendant of your session: agents may only stop sessions that they spawned.`,
  );
}

function fitPatch(patch: { title?: string; engine?: string }): Refusal | undefined {
  if (patch.title !== undefined && (patch.title.trim() === '' || patch.title.length > limits.titleCharsMax)) {
    return refuse('BAD_REQUEST', { path: 'title' }, `A title has 1 to ${limits.titleCharsMax} characters.`);
  }
  return patch.engine === '' ? refuse('UNKNOWN_ENGINE') : undefined;
}

const isQueued = (context: SessionContext, messageId: string): Refusal | undefined =>
  context.queue.some((item) => item.id === messageId)
    ? undefined
    : refuse('CONFLICT', { messageId }, 'This message is not in the queue, or is already running.');

const fitPlace = ({ place }: SessionEventOf<'queue.move'>): Refusal | undefined =>
  Number.isSafeInteger(place) && place >= 1
    ? undefined
    : refuse('BAD_REQUEST', { path: 'place' }, 'A place in the queue is a whole number from 1 on.');

/** A queue that stands still has a reason, which a person looks at first. */
const isUnpaused = ({ id, queuePaused, lastError }: SessionContext): Refusal | undefined =>
  queuePaused
    ? refuse('CONFLICT', { sessionId: id }, `${lastError ?? 'Its queue is paused.'} Resume its queue first.`)
    : undefined;

/** Evidence of a work item stays. */
const isEvidence = (context: SessionContext): Refusal | undefined =>
  context.workItemId === null
    ? undefined
    : refuse(
        'CONFLICT',
        { preserved: true, workItemId: context.workItemId },
        `This session is an attempt at ${context.workItemId} and is kept as evidence. Archive it instead.`,
      );

function fitPermission(
  context: SessionContext,
  event: SessionEventOf<'permission.asked'>,
): Refusal | undefined {
  if (context.turn?.id !== event.turnId)
    return refuse('CONFLICT', { turnId: event.turnId }, 'This turn is over.');
  if (pending(context).length >= limits.permissionsMax)
    return refuse(
      'QUEUE_FULL',
      { permissionsMax: limits.permissionsMax },
      'Too many tools are already waiting for a person.',
    );
  if (!/^[A-Za-z0-9._:-]{1,200}$/.test(event.permissionId) || pendingPermission(context, event.permissionId))
    return refuse('BAD_REQUEST', { path: 'permissionId' });
  return Number.isFinite(event.waitMs) && event.waitMs > 0
    ? undefined
    : refuse('BAD_REQUEST', { path: 'waitMs' });
}

/** Tools are a person's to allow: an agent that could allow its child's could allow its own. */
function mayDecide(
  context: SessionContext,
  event: SessionEventOf<'permission.decided'>,
  onBehalfOf: Caller,
): Refusal | undefined {
  if (!isTrusted(onBehalfOf)) return refuse('PERSON_REQUIRED', {}, 'Only a person may allow a tool.');
  const asked = pendingPermission(context, event.permissionId);
  if (asked !== undefined)
    return event.decision === 'allow' && event.always === true
      ? fitAlways(asked.rule ?? undefined, event.rule)
      : undefined;
  return refuse(
    'CONFLICT',
    { permissionId: event.permissionId },
    'This permission is not pending: it was decided, it expired, or its turn is over.',
  );
}

/** "Always" never means whatever a shell can do: that is a mode, which a person chooses as such. */
function fitAlways(offered: string | undefined, given = offered): Refusal | undefined {
  if (given === undefined)
    return refuse('BAD_REQUEST', { path: 'always' }, 'No rule fits this request: allow it this once.');
  const rule = toolRule(given);
  if (given === offered || (rule !== undefined && !isWholesale(rule))) return undefined;
  return refuse(
    'BAD_REQUEST',
    { path: 'rule' },
    `"${excerpt(given, 100)}" is not a rule for part of a tool, such as Bash(git status *) or Edit(src/**).`,
  );
}

function fitRules({ mode, allow }: ToolPolicy): Refusal | undefined {
  const wrong = allow.find((rule) => rule.length > anchoredRuleCharsMax || toolRule(rule) === undefined);
  if (wrong !== undefined)
    return refuse('BAD_REQUEST', { path: 'allow' }, `Invalid permission rule "${excerpt(wrong, 100)}".`);
  return modes.has(mode) && allow.length <= limits.rulesMax
    ? undefined
    : refuse('BAD_REQUEST', { path: 'allow', rulesMax: limits.rulesMax });
}

const modes: ReadonlySet<string> = new Set(['ask', 'allow-list', 'full']);

const trustedOnly = (caller: Caller, action: string): Refusal | undefined =>
  isTrusted(caller) ? undefined : refuse('FORBIDDEN', {}, `Agents may not ${action}; ask a person.`);

const isSelf = (by: Caller, id: string): boolean => by.type === 'session' && by.id === id;

const isAncestor = (context: SessionContext, by: Caller): boolean =>
  by.type === 'session' && context.ancestors.includes(by.id);
