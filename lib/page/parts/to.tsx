/** An arrow between what was and what became of it, as a word for who hears the page. */
export const To = ({ says = 'to' }: { readonly says?: string }) => (
  <span role="img" aria-label={says}>
    →
  </span>
);
