import { isPerson, isTrusted } from '../caller.js';
import { refuse, type Refusal } from '../refusals.js';
import {
  parked,
  isAbove,
  isAttempt,
  isCreator,
  isOwner,
  ownsItem,
  type Asker,
  factsOf,
  ownerOf,
} from './authority.js';
import { limits, type WorkItemContext, type WorkItemEventOf } from './context.js';
import { agentTargets, closed, edges, isStatus, noted, sticky, type WorkStatus } from './edges.js';
import { fitEdit } from './fields.js';
import { blank, fitNote } from './ledger.js';
import { notOwner, personOnly, unknownEmployee } from './refusals.js';
import { mayVerify, mayJudge } from './review.js';

/**
 * Who may move, assign, archive and edit a work item, and whether what they ask for fits. Along which edges an
 * item moves at all is the chart's to say.
 */

export function mayMove(
  from: WorkStatus,
  context: WorkItemContext,
  event: WorkItemEventOf<'item.move'>,
  asker: Asker,
): Refusal | undefined {
  const { onBehalfOf: caller } = asker;
  const { status: to } = event;
  if (!isStatus(to)) return refuse('BAD_REQUEST', { path: 'status' }, 'Unknown status.');
  if (!ownsItem(context, asker) && !mayJudge(context, caller, from, to)) return notOwner(context);
  if (from === to) return undefined; // asked for what is
  if (to === 'cancelled') return refuse('CANCEL_BY_ARCHIVE', { workItemId: context.id });
  if (!edges[from].includes(to)) return undefined; // no such edge: the chart refuses it
  if (!isPerson(caller) && sticky.includes(from)) return personOnly(context, from, to);
  if (!isTrusted(caller) && !agentTargets.includes(to)) return personOnly(context, from, to);
  if (to === 'done' && isAttempt(context, caller)) return refuse('SELF_REVIEW', { workItemId: context.id });
  if (to === 'executing' && mayJudge(context, caller, from, to) && blank(event.note))
    return refuse(
      'NOTE_REQUIRED',
      { status: to },
      'A note is required when a reviewer sends work back: say what is missing.',
    );
  if (noted.includes(to) && blank(event.note))
    return refuse(
      'NOTE_REQUIRED',
      { status: to },
      `A note is required when moving a work item to ${to}: say why.`,
    );
  return fitNote(event.note);
}

export function mayAssign(
  from: WorkStatus,
  context: WorkItemContext,
  event: WorkItemEventOf<'item.assign'>,
  asker: Asker,
): Refusal | undefined {
  const { onBehalfOf: caller } = asker;
  const facts = factsOf(asker);
  if (
    typeof event.assignee !== 'string' ||
    event.assignee.trim() === '' ||
    event.assignee.length > limits.wordCharsMax
  ) {
    return refuse('BAD_REQUEST', { path: 'assignee' }, 'An assignee is required.');
  }
  if (!isTrusted(caller)) {
    const claims =
      ownerOf(context) === null &&
      from === 'backlog' &&
      caller.type === 'session' &&
      caller.employee === event.assignee;
    if (!claims && !isOwner(context, caller) && !isAbove(facts, caller)) return notOwner(context);
  }
  if (facts.named?.known === false) return unknownEmployee(event.assignee, facts.named.suggestion);
  return mayVerify({ ...context, assignee: event.assignee }, {});
}

export function mayArchive(
  from: WorkStatus,
  context: WorkItemContext,
  event: WorkItemEventOf<'item.archive'>,
  asker: Asker,
): Refusal | undefined {
  const { onBehalfOf: caller } = asker;
  const may =
    isTrusted(caller) ||
    isOwner(context, caller) ||
    isCreator(context, caller) ||
    isAbove(factsOf(asker), caller);
  if (!may) return notOwner(context);
  if (from === 'escalated' && !isPerson(caller)) return personOnly(context, from, 'cancelled');
  return fitNote(event.note) ?? (closed.includes(from) ? undefined : parked(context));
}

export function mayEdit(
  context: WorkItemContext,
  event: WorkItemEventOf<'item.edit'>,
  asker: Asker,
): Refusal | undefined {
  if (!isTrusted(asker.onBehalfOf))
    return refuse(
      'PERSON_REQUIRED',
      { workItemId: context.id },
      "Agents cannot edit a work item's fields; comment, or ask a person.",
    );
  if (typeof event.expectedVersion !== 'number')
    return refuse('PRECONDITION_REQUIRED', { currentVersion: context.version });
  if (event.expectedVersion !== context.version)
    return refuse('VERSION_CONFLICT', { currentVersion: context.version });
  const unfit = fitEdit(event.patch);
  if (unfit) return unfit;
  const { assignee } = event.patch;
  const named = factsOf(asker).named;
  if (typeof assignee === 'string' && named?.known === false)
    return unknownEmployee(assignee, named.suggestion);
  const names = assignee !== undefined || event.patch.verifyPolicy != null;
  return names ? mayVerify({ ...context, ...event.patch }, factsOf(asker), context.attempts) : undefined;
}
