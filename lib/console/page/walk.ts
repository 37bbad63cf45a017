import { useKeys } from '../../page/keys.js';
import { place } from './place.js';

/** `j` and `k` in any list: the focus goes to the link of the next row or of the one before, which Enter opens. */
export function useWalk(): void {
  // The inbox has a cursor of its own, by which its keys decide
  useKeys(
    (key) => place.value.view !== 'inbox' && (key === 'j' || key === 'k') && walk(key === 'j' ? 1 : -1),
  );
}

function walk(by: 1 | -1): boolean {
  const links = [...document.querySelectorAll<HTMLElement>(rows)].flatMap((row) => {
    const link = row.querySelector<HTMLElement>('a[href]');
    return link?.checkVisibility() === true ? [{ row, link }] : [];
  });
  const at = links.findIndex(({ row }) => row.contains(document.activeElement));
  const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by];
  next?.link.focus();
  return links.length > 0;
}

/** What an agent wrote may hold links in lists, and is none. */
const rows = 'main :is(li, tbody tr):not(.messages *)';
