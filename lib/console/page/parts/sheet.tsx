import type { ComponentChildren } from 'preact';

interface Column {
  readonly name: string;
  /** Numbers stand at the right; the column of buttons has a name for those only who do not see it. */
  readonly shown?: 'right' | 'unseen';
}

/** A table of records that scrolls by itself: `<Sheet label="Employees" columns={['Employee', 'Role']}>{rows}</Sheet>` */
export const Sheet = ({
  label,
  columns,
  children,
}: {
  readonly label: string;
  readonly columns: readonly (string | Column)[];
  readonly children: ComponentChildren;
}) => (
  <div class="panel sheet" tabIndex={0} role="group" aria-label={label}>
    <table>
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
      <tbody>{children}</tbody>
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
