/** Stands for the view. */
export function TimePage(_props: { readonly at: number | undefined }) { return null; }
