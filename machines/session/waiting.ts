import { excerpt } from '../excerpt.js';
import { titleCharsMax, type Waiting } from '../waiting.js';
import type { SessionContext } from './context.js';
import { pending } from './permissions.js';
import type { SessionStatus } from './status.js';

/**
 * Tools that it may use only after a person said so; and a conversation of a person that was cut and waits to
 * be taken up again. Sessions that work for another session or a run are taken up by those.
 */
export function sessionWaiting(status: SessionStatus, context: SessionContext): readonly Waiting[] {
  if (status === 'deleted' || (context.archivedAt ?? null) !== null) return [];
  const permissions = pending(context).map(({ id, tool, title, askedAt, expiresAt }): Waiting => ({
    id,
    what: 'permission',
    title: excerpt(title === '' || title === tool ? tool : `${tool}: ${title}`, titleCharsMax),
    on: 'operator',
    since: askedAt,
    until: expiresAt,
  }));
  if (status !== 'interrupted' || context.parentSessionId !== null || context.source === 'workflow')
    return permissions;
  const title = excerpt(context.title, titleCharsMax);
  return [
    ...permissions,
    { id: 'resume', what: 'resume', title, on: 'operator', since: context.lastActivity, until: null },
  ];
}
