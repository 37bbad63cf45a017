/** Stands for the view. */
export function SupervisionPage(_props: object) { return null; }
