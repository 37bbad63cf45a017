import type { ComponentChildren } from 'preact';

/**
 * A part of a page under its heading: what it is about, what can be done with all of it, and what went wrong when it
 * was read: `<Panel name="letters" title="Dead letters" error={error}>…</Panel>`.
 */
export function Panel({
  name,
  title,
  about,
  end,
  error,
  class: more = '',
  children,
}: {
  /** Of the heading, `letters-title`. */
  readonly name: string;
  readonly title: ComponentChildren;
  readonly about?: ComponentChildren;
  readonly end?: ComponentChildren;
  readonly error?: string | undefined;
  /** Further classes of the section. */
  readonly class?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <section class={`panel ${more}`} aria-labelledby={`${name}-title`}>
      <h2 id={`${name}-title`}>
        {title}
        {about !== undefined && <span class="soft">{about}</span>}
        {end}
      </h2>
      {error !== undefined && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
      {children}
    </section>
  );
}
