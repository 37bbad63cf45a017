/** A row that keeps its place. `isGone`: what it shows is no longer in the list. */
export interface Kept<Item> {
  readonly item: Item;
  readonly key: string;
  readonly isGone: boolean;
}

/**
 * Rows that do not move under the pointer: while it is over the list (`isHeld`), what goes stays in its place and what
 * comes is put at the end; what was dealt with stays for as long as it `lingers`.
 */
export function keptRows<Item>(
  before: readonly Kept<Item>[],
  items: readonly Item[],
  keyOf: (item: Item) => string,
  { isHeld, lingers }: { readonly isHeld: boolean; readonly lingers: (key: string) => boolean },
): readonly Kept<Item>[] {
  const present = new Map(items.map((item) => [keyOf(item), item]));
  if (isHeld) {
    const shown = new Set(before.map(({ key }) => key));
    const kept = before.map(({ key, item }): Kept<Item> => {
      const found = present.get(key);
      return { key, item: found ?? item, isGone: found === undefined };
    });
    const come = [...present].filter(([key]) => !shown.has(key));
    return [...kept, ...come.map(([key, item]): Kept<Item> => ({ key, item, isGone: false }))];
  }
  const rows = [...present].map(([key, item]): Kept<Item> => ({ key, item, isGone: false }));
  before.forEach(({ key, item }, place) => {
    if (!present.has(key) && lingers(key))
      rows.splice(Math.min(place, rows.length), 0, { key, item, isGone: true });
  });
  return rows;
}
