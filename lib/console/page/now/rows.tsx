import type { ActorKey } from '../../../../machines/outputs.js';
import { whole } from '../../../page/clock.js';
import { inspectorLink, linkTo } from '../place.js';

/*
 * What the lists of *Now* share: each says how many there are of all, shows the first few, and leads to the others.
 */

/** How many there are, beside the heading of a list; nothing where there are none. */
export const Count = ({ of }: { readonly of: number | undefined }) =>
  of === undefined || of === 0 ? null : <span class="soft num">{whole(of)}</span>;

/** A list of *Now* shows so many rows: what else there is, is a click away. */
export const rowsMax = 12;

/** Below a list: how many more there are than it shows. */
export const More = ({ count, href }: { readonly count: number; readonly href: string }) =>
  count > 0 ? (
    <p class="small">
      <a href={href} data-more>
        {whole(count)} more
      </a>
    </p>
  ) : null;

/** Where an actor is shown: in the console where that has a view of its kind, else in the inspector. */
export const linkOf = ({ kind, id }: ActorKey): string =>
  kind === 'session'
    ? linkTo({ view: 'chat', id })
    : kind === 'work-item'
      ? linkTo({ view: 'item', id })
      : inspectorLink(kind, id);
