import type { ComponentChildren } from 'preact';
import { LongList, type LongListProps } from '../../../page/parts/long-list.js';

interface Column {
  readonly name: string;
  /** Numbers stand at the right; the column of buttons has a name for those only who do not see it. */
  readonly shown?: 'right' | 'unseen';
}

/**
 * A table of records, as many as there are, that scrolls sideways by itself:
 * `<Sheet label="Jobs" columns={['Job']} items={jobs} keyOf={({ id }) => id} row={(job, at) => <tr {...at}>…</tr>} />`
 */
export const Sheet = <Item,>({
  label,
  columns,
  ...rows
}: {
  readonly label: string;
  readonly columns: readonly (string | Column)[];
} & Pick<LongListProps<Item>, 'items' | 'keyOf' | 'row'>) => (
  <div class="panel sheet" tabIndex={0} role="group" aria-label={label}>
    <table aria-rowcount={rows.items.length + 1}>
      <thead>
        <tr>
          {columns
            .map((column): Column => (typeof column === 'string' ? { name: column } : column))
            .map(({ name, shown }) => (
              <th key={name} scope="col" class={shown === 'right' ? 'right' : undefined}>
                {shown === 'unseen' ? <span class="unseen">{name}</span> : name}
              </th>
            ))}
        </tr>
      </thead>
      <LongList of="table" heightPx={44} {...rows} />
    </table>
  </div>
);

/** What stands in place of records while there are none: what they would be, and where to read on. */
export const NoRecords = ({
  title,
  guide,
  children,
}: {
  readonly title: string;
  readonly guide?: { readonly href: string; readonly label: string };
  readonly children: ComponentChildren;
}) => (
  <div class="panel empty">
    <p>
      <b>{title}</b>
    </p>
    <p>{children}</p>
    {guide !== undefined && (
      <a class="button" href={guide.href}>
        {guide.label}
      </a>
    )}
  </div>
);
