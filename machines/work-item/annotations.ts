import { afterwards, type Json, type Decision } from '../outputs.js';
import { callerName } from '../caller.js';
import { writeRow } from '../outputs.js';
import { isoTime } from '../sortable.js';
import type { WorkItemContext, WorkItemEventOf, LinkRelation } from './context.js';
import { decider, record } from './ledger.js';

/**
 * What people and agents write around an item without moving it: comments, labels, links to other items,
 * sub-tasks.
 */

/** A comment as its row keeps it. Times are ISO-8601. */
export interface Comment {
  readonly id: string;
  readonly author: string;
  readonly text: string;
  readonly createdAt: string;
  readonly editedAt: string | null;
}

/** The rows of a work item by collection. */
export interface WorkItemRows {
  readonly comments: Comment;
  readonly events: Json;
  readonly approvals: Json;
  readonly attempts: Json;
  readonly handoffs: Json;
}

type Item = Decision<WorkItemContext>;

export function comment(context: WorkItemContext, event: WorkItemEventOf<'item.comment'>): Item {
  const n = context.comments + 1;
  const author = decider(event.by);
  const said: Item = {
    set: { comments: n },
    outputs: [
      writeRow('comments', n, {
        id: event.commentId,
        author,
        text: event.text,
        createdAt: isoTime(event.at),
        editedAt: null,
      }),
    ],
  };
  return afterwards(context, said, (now) =>
    record(now, 'comment-added', event.at, [
      { kind: 'comment_added', at: event.at, actor: author, detail: { commentId: event.commentId } },
    ]),
  );
}

export function editComment(context: WorkItemContext, event: WorkItemEventOf<'comment.edit'>): Item {
  const { commentId, author, createdAt, text } = event;
  return changed(context, event, 'comment_edited', {
    id: commentId,
    author,
    text,
    createdAt,
    editedAt: isoTime(event.at),
  });
}

export const deleteComment = (context: WorkItemContext, event: WorkItemEventOf<'comment.delete'>): Item =>
  changed(context, event, 'comment_deleted', null);

function changed(
  context: WorkItemContext,
  event: WorkItemEventOf<'comment.edit' | 'comment.delete'>,
  kind: 'comment_edited' | 'comment_deleted',
  row: Comment | null,
): Item {
  const done: Item = {
    set: { commentEdition: (context.commentEdition ?? 0) + 1 },
    outputs: [writeRow('comments', event.n, row)],
  };
  const entry = { kind, at: event.at, actor: decider(event.by), detail: { commentId: event.commentId } };
  return afterwards(context, done, (now) => record(now, kind.replace('_', '-'), event.at, [entry]));
}

/** What is there already, or not there, changes nothing. */
export function label(context: WorkItemContext, event: WorkItemEventOf<'item.label'>): Item {
  const before = context.labels ?? [];
  const labels = labelsAfter(context, event);
  const added = labels.filter((word) => !before.includes(word));
  const removed = before.filter((word) => !labels.includes(word));
  if (added.length === 0 && removed.length === 0) return {};
  const { set, outputs } = record(context, 'label-changed', event.at, [
    { kind: 'label_changed', at: event.at, actor: callerName(event.by), detail: { added, removed } },
  ]);
  return { set: { ...set, labels }, outputs };
}

export function labelsAfter(
  context: WorkItemContext,
  event: { readonly add?: readonly string[]; readonly remove?: readonly string[] },
): readonly string[] {
  const kept = (context.labels ?? []).filter((word) => !event.remove?.includes(word));
  return [...new Set([...kept, ...(event.add ?? [])])];
}

export function relate(context: WorkItemContext, event: WorkItemEventOf<'relation.add'>): Item {
  const { relation, other } = event;
  if (isLinked(context, relation, other)) return {};
  const { set, outputs } = record(context, 'relation-added', event.at, [
    { kind: 'relation_added', at: event.at, actor: callerName(event.by), detail: { relation, other } },
  ]);
  return { set: { ...set, links: [...(context.links ?? []), { relation, id: other }] }, outputs };
}

export function unrelate(context: WorkItemContext, event: WorkItemEventOf<'relation.remove'>): Item {
  const { relation, other } = event;
  if (!isLinked(context, relation, other)) return {};
  const { set, outputs } = record(context, 'relation-removed', event.at, [
    { kind: 'relation_removed', at: event.at, actor: callerName(event.by), detail: { relation, other } },
  ]);
  return {
    set: {
      ...set,
      links: (context.links ?? []).filter((each) => each.relation !== relation || each.id !== other),
    },
    outputs,
  };
}

export const isLinked = (context: WorkItemContext, relation: LinkRelation, other: string): boolean =>
  (context.links ?? []).some((each) => each.relation === relation && each.id === other);

/** A sub-task was created beneath it, in the same commit. */
export function adopt(context: WorkItemContext, event: WorkItemEventOf<'child.created'>): Item {
  const { set, outputs } = record(context, 'child-created', event.at, [
    { kind: 'child_created', at: event.at, actor: callerName(event.by), detail: { childId: event.childId } },
  ]);
  return { set: { ...set, children: (context.children ?? 0) + 1 }, outputs };
}
