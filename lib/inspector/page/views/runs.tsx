/** Stands for the view. */
export function RunsPage(_props: { readonly id: string | undefined }) { return null; }
