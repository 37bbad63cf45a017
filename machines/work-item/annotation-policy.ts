import { isTrusted } from '../caller.js';
import { jsonBytes } from '../text.js';
import { refuse, type Refusal } from '../refusals.js';
import { isLinked, labelsAfter } from './annotations.js';
import { ownsItem, type Asker } from './authority.js';
import { limits, type WorkItemContext, type WorkItemEventOf, linkRelations } from './context.js';
import { fitLabels } from './fields.js';
import { blank, decider } from './ledger.js';
import { notOwner } from './refusals.js';
import { isReviewer } from './review.js';

/** Who may write around a work item: comments, labels, links. */

export function mayComment(
  context: WorkItemContext,
  event: WorkItemEventOf<'item.comment' | 'comment.edit'>,
  asker: Asker,
): Refusal | undefined {
  if (!ownsItem(context, asker) && !isReviewer(context, asker.onBehalfOf)) return notOwner(context);
  if (blank(event.text)) return refuse('BAD_REQUEST', { path: 'text' }, 'A comment needs text.');
  return jsonBytes(event.text) > limits.commentBytesMax
    ? refuse('PAYLOAD_TOO_LARGE', { path: 'text', bytesMax: limits.commentBytesMax })
    : undefined;
}

/** Their author, or a person; and only who has seen the comment as it is. */
export function mayChangeComment(
  context: WorkItemContext,
  event: WorkItemEventOf<'comment.edit' | 'comment.delete'>,
  asker: Asker,
): Refusal | undefined {
  if (!ownsItem(context, asker) && !isReviewer(context, asker.onBehalfOf)) return notOwner(context);
  if (!isTrusted(asker.onBehalfOf) && decider(asker.onBehalfOf) !== event.author)
    return refuse(
      'FORBIDDEN',
      { commentId: event.commentId, author: event.author },
      'Only its author, or a person, may change a comment.',
    );
  if (event.edition !== (context.commentEdition ?? 0))
    return refuse('VERSION_CONFLICT', { currentVersion: context.version });
  return event.type === 'comment.edit' ? mayComment(context, event, asker) : undefined;
}

export function mayLabel(
  context: WorkItemContext,
  event: WorkItemEventOf<'item.label'>,
  asker: Asker,
): Refusal | undefined {
  if (!ownsItem(context, asker)) return notOwner(context);
  return (
    fitLabels(event.add, 'add') ?? fitLabels(event.remove, 'remove') ?? fitLabels(labelsAfter(context, event))
  );
}

export function mayLink(
  context: WorkItemContext,
  event: WorkItemEventOf<'relation.add' | 'relation.remove'>,
  asker: Asker,
): Refusal | undefined {
  if (event.far !== true && !ownsItem(context, asker)) return notOwner(context);
  if (!linkRelations.includes(event.relation))
    return refuse(
      'BAD_REQUEST',
      { path: 'relation' },
      `The relation must be one of: ${linkRelations.join(', ')}.`,
    );
  if (event.other === context.id)
    return refuse('BAD_REQUEST', { path: 'other' }, 'A work item cannot be linked to itself.');
  const full =
    event.type === 'relation.add' &&
    (context.links?.length ?? 0) >= limits.linksMax &&
    !isLinked(context, event.relation, event.other);
  return full
    ? refuse(
        'CONFLICT',
        { workItemId: context.id, linksMax: limits.linksMax },
        `A work item has at most ${limits.linksMax} links.`,
      )
    : undefined;
}
