/** How two work items are linked: the words, and what the same link is called at its other end. */

/** `blocks` and `duplicates` have two ends with a word each; `relates` is the same from both. */
export const linkRelations = ['blocks', 'blocked_by', 'relates', 'duplicates', 'duplicated_by'] as const;
export type LinkRelation = (typeof linkRelations)[number];
export type Link = { readonly relation: LinkRelation; readonly id: string };

/** What the other end of a link is called. */
export const inverse: Readonly<Record<LinkRelation, LinkRelation>> = {
  blocks: 'blocked_by',
  blocked_by: 'blocks',
  relates: 'relates',
  duplicates: 'duplicated_by',
  duplicated_by: 'duplicates',
};
