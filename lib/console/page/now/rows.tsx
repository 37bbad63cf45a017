import type { ActorKey } from '../../../../machines/outputs.js';
import { whole } from '../../../page/clock.js';
import { inspectorLink, linkTo } from '../place.js';

/** How many there are beside a heading, and below a list that there are more than it shows. */
export const Count = ({ of }: { readonly of: number | undefined }) =>
  of === undefined || of === 0 ? null : <span class="soft num">{whole(of)}</span>;

export const rowsMax = 12;

export const More = ({ count, href }: { readonly count: number; readonly href: string }) =>
  count > 0 ? (
    <p class="small">
      <a href={href} data-more>
        {whole(count)} more
      </a>
    </p>
  ) : null;

export const linkOf = ({ kind, id }: ActorKey): string =>
  kind === 'session'
    ? linkTo({ view: 'chat', id })
    : kind === 'work-item'
      ? linkTo({ view: 'item', id })
      : inspectorLink(kind, id);
