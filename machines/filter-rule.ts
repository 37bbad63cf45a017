/** What a payload must look like for a binding to start its workflow. `path`: members, with dots between them. */
export type FilterRule = { readonly path: string; readonly op: 'equals' | 'notEquals' | 'exists' | 'matches'; readonly value: string | number | boolean | null };
