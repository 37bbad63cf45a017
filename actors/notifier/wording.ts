import type { Job, NoticeRow } from '../../machines/notifier/context.js';

/** What a notice says: to people in a channel, and to a program. */
export interface NoticeRead extends NoticeRow {
  /** How it ended; undefined: it waits. */
  readonly outcome?: string | undefined;
}

/**
 * The text of a message: one thing with all that is asked, or a list of several.
 * @example textOf([notice]) // 'Waits for you: permission\nBash: git push …'
 */
export function textOf(notices: readonly NoticeRead[]): string {
  const [one, ...more] = notices;
  if (one === undefined) return '';
  if (more.length > 0) {
    const open = notices.filter(({ outcome }) => outcome === undefined).length;
    return [
      open === 0 ? 'All of these are over:' : `${open} things wait for a decision:`,
      ...notices.map(({ what, title, outcome }) =>
        outcome === undefined ? `• ${what}: ${line(title)}` : `✓ ${what}: ${line(title)} (${outcome})`,
      ),
      ...(open === 0 ? [] : [inboxOf(one.link)]),
    ].join('\n');
  }
  const { what, title, text, link, outcome } = one;
  if (outcome !== undefined) return `${what}: ${line(title)}\n${outcome}`;
  return [
    `Waits for a decision: ${what}`,
    title,
    ...(text === '' || text === title ? [] : [text]),
    link,
  ].join('\n');
}

const line = (title: string): string => title.replaceAll(/\s+/g, ' ');

/** The list in which all of them are. */
const inboxOf = (link: string): string => link.replace(/#.*$/, '#/inbox');

/** What the program reads on its standard input, one line of JSON. */
export function jsonOf(job: Job, key: string, notices: readonly NoticeRead[]): string {
  const things = notices.map(({ n: _n, digest: _digest, choices: _choices, since, until, ...thing }) => ({
    ...thing,
    since: new Date(since).toISOString(),
    until: until === null ? null : new Date(until).toISOString(),
  }));
  return `${JSON.stringify({ event: job.type === 'send' ? 'waiting' : 'over', key, text: textOf(notices), things })}\n`;
}
