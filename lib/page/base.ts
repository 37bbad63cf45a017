/**
 * Where the page's API begins: nowhere in a gateway, which has the address for itself; the prefix where an
 * application serves the inspector among pages of its own.
 */
export const base = document.documentElement.dataset['base'] ?? '';
/** The application has judged the viewer already, by its own session: there is no token to ask for. */
export const isMounted = base !== '';
/** Why nothing can be done from this page, as a sentence; undefined where it may be. The gateway judges all the same. */
export const readOnly = document.documentElement.dataset['readOnly'];
/** What is shown is a home as its gateway left it: nothing of it moves, however well the page is connected. */
export const isStopped = document.documentElement.dataset['stopped'] !== undefined;
