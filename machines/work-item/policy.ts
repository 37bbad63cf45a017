import { fromKernel, isPerson, isTrusted, type Caller } from '../caller.js';
import { jsonBytes } from '../json-bytes.js';
import { refuse, type Refusal } from '../refusals.js';
import { isAbove, isAttempt, isCreator, isOwner, mayDecide, mayEscalate, type ApprovalState } from './authority.js';
import { isLinked, labelsAfter } from './annotations.js';
import { factsOf, limits, ownerOf, type WorkItemContext, type WorkItemEvent, type WorkItemEventOf, type WorkItemFacts, type WorkItemInput } from './context.js';
import { agentTargets, edges, isStatus, noted, sticky, type WorkStatus } from './edges.js';
import { fitEdit, fitFields, fitLabels } from './fields.js';
import { decider } from './ledger.js';
import { linkRelations } from './links.js';
import { hasWorkedOn, isDue, isReviewer, mayJudge } from './review.js';

/** Where an item stands: one word per region. A rule looks only at the word of the region that takes its event. */
export interface Standpoint { readonly work: WorkStatus; readonly approval: ApprovalState }

/** Who may do what with a work item, and when: the only place that knows. Kernel, guards, "why" and documentation ask here. */
export function workItemPolicy(where: Standpoint, context: WorkItemContext, event: WorkItemEvent): Refusal | undefined {
  switch (event.type) {
    case 'item.move': return mayMove(where.work, context, event);
    case 'item.assign': return mayAssign(where.work, context, event);
    case 'item.archive': return mayArchive(where.work, context, event);
    case 'item.edit': return mayEdit(where.work, context, event);
    case 'item.comment': return mayComment(context, event);
    case 'comment.edit':
    case 'comment.delete': return mayChangeComment(context, event);
    case 'item.label': return mayLabel(context, event);
    case 'relation.add':
    case 'relation.remove': return mayLink(context, event);
    case 'child.created': return ownsItem(context, event) ? (context.archived ? closedItem(context) : undefined) : notOwner(context);
    case 'attempt.reported': return mayHandOver(context, event);
    case 'approval.request': return mayRequest(context, event);
    case 'approval.decide': return mayDecide(context, where.approval, event) ?? fitDecision(event) ?? parked(context, event.resolves) ?? foreign(context, event);
    case 'approval.escalate': return mayEscalate(context, where.approval, event);
    case 'attempt.started':
    case 'attempt.ended': return mayReport(event);
    case 'review.opened':
    case 'review.refused': return mayReview(where.work, context, event);
    case 'item.due':
    case 'approval.expired':
    case 'approval.given':
    case 'approval.refused':
    case 'item.archived':
      return event.by.type === 'system' ? undefined : refuse('UNKNOWN_EVENT', { type: event.type }, 'Only the work item itself sends this.');
    default: return fromKernel(event) ? undefined : refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

/** May an item be created like this? */
export function admitWorkItem(input: WorkItemInput): Refusal | undefined {
  if (typeof input.title !== 'string' || input.title.trim() === '') return refuse('BAD_REQUEST', { path: 'title' }, 'A title is required.');
  const named = input.facts?.named;
  if (input.assignee !== null && named?.known === false) return unknownEmployee(input.assignee, named.suggestion);
  if ((input.depth ?? 0) > limits.depthMax) return refuse('BAD_REQUEST', { path: 'parentId', depthMax: limits.depthMax }, `Sub-tasks nest at most ${limits.depthMax} deep.`);
  return fitFields(input) ?? fitLabels(input.labels);
}

/** Owner, attempt, creator, or a manager above: an agent's item. People and the kernel may always. */
function ownsItem(context: WorkItemContext, event: { readonly by: Caller; readonly facts?: WorkItemFacts }): boolean {
  const { by } = event;
  return isTrusted(by) || isOwner(context, by) || isAttempt(context, by) || isCreator(context, by) || isAbove(factsOf(event), by);
}

function mayMove(from: WorkStatus, context: WorkItemContext, event: WorkItemEventOf<'item.move'>): Refusal | undefined {
  const { by, status: to } = event;
  if (!isStatus(to)) return refuse('BAD_REQUEST', { path: 'status' }, 'There is no such status.');
  if (!ownsItem(context, event) && !mayJudge(context, by, from, to)) return notOwner(context);
  if (from === to) return undefined; // asked for what is: no change, no event, no refusal
  if (to === 'cancelled') return refuse('CANCEL_BY_ARCHIVE', { workItemId: context.id });
  if (!edges[from].includes(to)) return illegal(context, from, to);
  if (!isPerson(by) && sticky.includes(from)) return personOnly(context, from, to);
  if (!isTrusted(by) && !agentTargets.includes(to)) return personOnly(context, from, to);
  if (to === 'done' && isAttempt(context, by)) return refuse('SELF_REVIEW', { workItemId: context.id });
  if (to === 'executing' && mayJudge(context, by, from, to) && blank(event.note)) return refuse('NOTE_REQUIRED', { status: to }, 'A note is required when a reviewer sends work back: say what is missing.');
  if (to === 'assigned' && context.assignee === null) return refuse('ASSIGNEE_REQUIRED', { workItemId: context.id });
  if (noted.includes(to) && blank(event.note)) return refuse('NOTE_REQUIRED', { status: to }, `A note is required when moving a work item to ${to}: say why.`);
  return fitNote(event.note);
}

function mayAssign(from: WorkStatus, context: WorkItemContext, event: WorkItemEventOf<'item.assign'>): Refusal | undefined {
  const { by } = event;
  const facts = factsOf(event);
  if (typeof event.assignee !== 'string' || event.assignee.trim() === '' || event.assignee.length > limits.wordCharsMax) {
    return refuse('BAD_REQUEST', { path: 'assignee' }, 'An assignee is required.');
  }
  if (!isTrusted(by)) {
    const claims = ownerOf(context) === null && from === 'backlog' && by.type === 'session' && by.employee === event.assignee;
    if (!claims && !isOwner(context, by) && !isAbove(facts, by)) return notOwner(context);
  }
  if (facts.named?.known === false) return unknownEmployee(event.assignee, facts.named.suggestion);
  if (from === 'done' || from === 'cancelled') return refuse('TERMINAL', { workItemId: context.id, status: from });
  if (from === 'escalated') return refuse('CONFLICT', { workItemId: context.id, status: from }, 'The work item is escalated: a person must move it first.');
  return undefined;
}

function mayArchive(from: WorkStatus, context: WorkItemContext, event: WorkItemEventOf<'item.archive'>): Refusal | undefined {
  const { by } = event;
  const may = isTrusted(by) || isOwner(context, by) || isCreator(context, by) || isAbove(factsOf(event), by);
  if (!may) return notOwner(context);
  if (from === 'done') return refuse('TERMINAL', { workItemId: context.id, status: from }, 'The work item is done and stays as evidence; it cannot be archived.');
  if (from === 'escalated' && !isPerson(by)) return personOnly(context, from, 'cancelled');
  return fitNote(event.note) ?? (from === 'cancelled' ? undefined : parked(context));
}

function mayEdit(from: WorkStatus, context: WorkItemContext, event: WorkItemEventOf<'item.edit'>): Refusal | undefined {
  if (!isTrusted(event.by)) return refuse('PERSON_REQUIRED', { workItemId: context.id }, 'Agents cannot edit a work item\'s fields; comment, or ask a person.');
  if (typeof event.expectedVersion !== 'number') return refuse('PRECONDITION_REQUIRED', { currentVersion: context.version });
  if (event.expectedVersion !== context.version) return refuse('VERSION_CONFLICT', { currentVersion: context.version });
  const unfit = fitEdit(event.patch);
  if (unfit) return unfit;
  const { assignee } = event.patch;
  const named = factsOf(event).named;
  if (typeof assignee === 'string' && named?.known === false) return unknownEmployee(assignee, named.suggestion);
  if (assignee === null && from === 'assigned') return refuse('ASSIGNEE_REQUIRED', { workItemId: context.id });
  return undefined;
}

function mayComment(context: WorkItemContext, event: WorkItemEventOf<'item.comment' | 'comment.edit'>): Refusal | undefined {
  if (!ownsItem(context, event) && !isReviewer(context, event.by)) return notOwner(context);
  if (blank(event.text)) return refuse('BAD_REQUEST', { path: 'text' }, 'A comment needs text.');
  return jsonBytes(event.text) > limits.commentBytesMax ? refuse('PAYLOAD_TOO_LARGE', { path: 'text', bytesMax: limits.commentBytesMax }) : undefined;
}

/** Their author, or a person. Whoever changes one must have seen it as it is. */
function mayChangeComment(context: WorkItemContext, event: WorkItemEventOf<'comment.edit' | 'comment.delete'>): Refusal | undefined {
  if (!ownsItem(context, event) && !isReviewer(context, event.by)) return notOwner(context);
  if (!isTrusted(event.by) && decider(event.by) !== event.author) return refuse('FORBIDDEN', { commentId: event.commentId, author: event.author }, 'Only its author, or a person, changes a comment.');
  if (event.edition !== (context.commentEdition ?? 0)) return refuse('VERSION_CONFLICT', { currentVersion: context.version });
  return event.type === 'comment.edit' ? mayComment(context, event) : undefined;
}

function mayLabel(context: WorkItemContext, event: WorkItemEventOf<'item.label'>): Refusal | undefined {
  if (!ownsItem(context, event)) return notOwner(context);
  return fitLabels(event.add, 'add') ?? fitLabels(event.remove, 'remove') ?? fitLabels(labelsAfter(context, event));
}

function mayLink(context: WorkItemContext, event: WorkItemEventOf<'relation.add' | 'relation.remove'>): Refusal | undefined {
  if (event.far !== true && !ownsItem(context, event)) return notOwner(context);
  if (!linkRelations.includes(event.relation)) return refuse('BAD_REQUEST', { path: 'relation' }, `The relation is one of: ${linkRelations.join(', ')}.`);
  if (event.other === context.id) return refuse('BAD_REQUEST', { path: 'other' }, 'A work item is not linked to itself.');
  const full = event.type === 'relation.add' && (context.links?.length ?? 0) >= limits.linksMax && !isLinked(context, event.relation, event.other);
  return full ? refuse('CONFLICT', { workItemId: context.id, linksMax: limits.linksMax }, `A work item has at most ${limits.linksMax} links.`) : undefined;
}

function mayHandOver(context: WorkItemContext, event: WorkItemEventOf<'attempt.reported'>): Refusal | undefined {
  const self = event.by.type === 'session' && event.by.id === event.sessionId;
  if (!self && !isTrusted(event.by)) return refuse('FORBIDDEN', { sessionId: event.sessionId }, 'Only the session itself reports on its attempt.');
  if (!context.attempts.some(({ sessionId }) => sessionId === event.sessionId)) return refuse('CONFLICT', { sessionId: event.sessionId }, 'This session has made no attempt at the work item.');
  const { summary, changedFiles, verification, retryNotes } = event;
  const bytes = jsonBytes(JSON.stringify({ summary, changedFiles, verification, retryNotes }));
  return bytes > limits.handoffBytesMax ? refuse('PAYLOAD_TOO_LARGE', { bytesMax: limits.handoffBytesMax }) : undefined;
}

/** A pending request that mirrors the parked gate of a run is decided with the gate, in one transaction, or not at all. */
function parked(context: WorkItemContext, resolves?: string): Refusal | undefined {
  const { approval } = context;
  if (!approval?.gate || approval.decidedAt !== null || approval.gate.runId === resolves) return undefined;
  return refuse('GATE_PARKED', { workItemId: context.id, runId: approval.gate.runId, gateKey: approval.gate.gateKey }, `Work item ${context.id} mirrors a gate at which run ${approval.gate.runId} is parked. Resolve the gate, or cancel the run.`);
}

/** What a run decides is what mirrors its gate, and nothing else that may be pending here. */
function foreign({ id, approval }: WorkItemContext, { resolves, gateKey }: WorkItemEventOf<'approval.decide'>): Refusal | undefined {
  if (resolves === undefined || (approval?.gate?.runId === resolves && (gateKey === undefined || gateKey === approval.gate.gateKey))) return undefined;
  return refuse('NO_PENDING_APPROVAL', { workItemId: id }, `Work item ${id} shows no such gate of run ${resolves}.`);
}

const closedItem = (context: WorkItemContext): Refusal => refuse('TERMINAL', { workItemId: context.id, status: 'cancelled' });

function mayRequest(context: WorkItemContext, event: WorkItemEventOf<'approval.request'>): Refusal | undefined {
  if (!ownsItem(context, event)) return notOwner(context);
  if (blank(event.request)) return refuse('BAD_REQUEST', { path: 'request' }, 'Say what is to be approved.');
  if (jsonBytes(event.request) > limits.requestBytesMax) return refuse('PAYLOAD_TOO_LARGE', { path: 'request', bytesMax: limits.requestBytesMax }, `request is larger than ${limits.requestBytesMax} bytes.`);
  if (event.expiresAt != null && event.expiresAt <= event.at) return refuse('BAD_REQUEST', { path: 'expiresAt' }, 'expiresAt lies in the past: nobody could decide in time.');
  if (context.archived) return refuse('TERMINAL', { workItemId: context.id, status: 'cancelled' });
  const named = factsOf(event).named;
  if (event.target !== null && event.targetKind !== 'virtual' && named?.known === false) return unknownEmployee(event.target, named.suggestion);
  if (event.target !== null && event.target === ownerOf(context)) return refuse('OWN_APPROVAL', { workItemId: context.id }, 'An approval cannot be routed to the owner of the work item.');
  return parked(context, event.gate?.runId);
}

function mayReport(event: WorkItemEventOf<'attempt.started' | 'attempt.ended'>): Refusal | undefined {
  const self = event.by.type === 'session' && event.by.id === event.sessionId;
  return isTrusted(event.by) || self ? undefined : refuse('FORBIDDEN', { sessionId: event.sessionId }, 'Only the session itself reports on its attempt.');
}

function mayReview(work: WorkStatus, context: WorkItemContext, event: WorkItemEventOf<'review.opened' | 'review.refused'>): Refusal | undefined {
  if (event.by.type !== 'system') return refuse('UNKNOWN_EVENT', { type: event.type }, 'Only the gateway itself opens reviews.');
  if (!isDue(work, context, event.round)) return refuse('CONFLICT', { workItemId: context.id }, `Work item ${context.id} waits for no review.`);
  const own = event.type === 'review.opened' && hasWorkedOn(context, context.review?.employee ?? '');
  return own ? refuse('SELF_REVIEW', { workItemId: context.id }, `${context.review?.employee ?? ''} has worked on ${context.id}, and nobody reviews their own work.`) : undefined;
}

const fitDecision = (event: WorkItemEventOf<'approval.decide'>): Refusal | undefined =>
  (['approve', 'reject'].includes(event.decision) ? fitNote(event.note) : refuse('BAD_REQUEST', { path: 'decision' }, 'The decision is approve or reject.'));

const fitNote = (note: string | undefined): Refusal | undefined =>
  (note !== undefined && note.length > limits.noteCharsMax ? refuse('PAYLOAD_TOO_LARGE', { path: 'note', charsMax: limits.noteCharsMax }, `note is longer than ${limits.noteCharsMax} characters.`) : undefined);

const blank = (text: unknown): boolean => typeof text !== 'string' || text.trim() === '';

const notOwner = (context: WorkItemContext): Refusal => refuse('NOT_OWNER', { workItemId: context.id },
  `Work item ${context.id} is not yours: only its owner, its attempts, its creator and the managers above may do this.`);

const illegal = (context: WorkItemContext, from: WorkStatus, to: WorkStatus): Refusal =>
  refuse('ILLEGAL_TRANSITION', { workItemId: context.id, from, to, legal: edges[from] }, `Work item ${context.id} cannot go from ${from} to ${to}.`);

const personOnly = (context: WorkItemContext, from: WorkStatus, to: WorkStatus): Refusal =>
  refuse('PERSON_REQUIRED', { workItemId: context.id, from, to }, `Only a person may move ${context.id} from ${from} to ${to}. Ask for an approval, or comment.`);

const unknownEmployee = (name: string, suggestion: string | null): Refusal => refuse('UNKNOWN_EMPLOYEE', { employee: name, suggestion },
  `There is no employee "${name}".${suggestion === null ? '' : ` Did you mean "${suggestion}"?`} GET /api/org lists them.`);
