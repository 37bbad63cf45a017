import type { Tool as Listing } from '@modelcontextprotocol/sdk/types.js';

/** The two tools through which an agent reaches those that are not in its list. */
export const searchListings: readonly Listing[] = [
  {
    name: 'find_tools',
    description:
      'Find further tools by words of their name or purpose, with their arguments; without a query, the names ' +
      'of all. Call what you find with use_tool.',
    inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'use_tool',
    description: 'Call a tool that is not in your list, with its arguments as find_tools shows them.',
    inputSchema: {
      type: 'object',
      properties: { name: { type: 'string' }, arguments: { type: 'object' } },
      required: ['name'],
    },
  },
];

/** Whole descriptions of so many; of the others the names. */
const shownMax = 5;

/**
 * Tools whose name or purpose holds most of the words, best first, with their schemas; what is beyond the first
 * five by name.
 * @example findTools(listings, 'cron history') // { tools: [{ name: 'get_cron_run_history', … }], more: [] }
 */
export function findTools(
  listings: readonly Listing[],
  query: string,
): { readonly tools: readonly object[]; readonly more: readonly string[] } {
  const words = query
    .toLowerCase()
    .split(/[\s_,.]+/)
    .filter(Boolean)
    .slice(0, 20);
  if (words.length === 0) return { tools: [], more: listings.map(({ name }) => name) };
  const ranked = listings
    .map((listing) => ({ listing, score: scoreOf(listing, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ listing }) => listing);
  return {
    tools: ranked
      .slice(0, shownMax)
      .map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    more: ranked.slice(shownMax).map(({ name }) => name),
  };
}

/** A word in the name counts more than one in the purpose; plural and singular are one. */
function scoreOf({ name, description = '' }: Listing, words: readonly string[]): number {
  const about = description.toLowerCase();
  return words
    .map((word) => word.replace(/s$/, ''))
    .reduce((sum, word) => sum + (name.includes(word) ? 3 : 0) + (about.includes(word) ? 1 : 0), 0);
}
