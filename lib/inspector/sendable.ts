import type { Kind } from '../../actors/contracts.js';
import { refuse, type Refusal } from '../../machines/refusals.js';

/**
 * Events that a kind opens to people, by name, with the members that each takes (`?`: may be absent or null).
 * Nothing else is ever sent.
 */
export const sendableOf = (kind: Kind): readonly string[] => Object.keys(kind.operatorEvents ?? {});

/** What is wrong with such an event, before the kind's own policy judges it. */
export function judgeSendable(
  kind: Kind,
  event: { readonly type: string } & Readonly<Record<string, unknown>>,
): Refusal | undefined {
  const shape = Object.hasOwn(kind.operatorEvents ?? {}, event.type)
    ? kind.operatorEvents?.[event.type]
    : undefined;
  if (shape === undefined) {
    return refuse(
      'UNKNOWN_EVENT',
      { event: event.type, known: sendableOf(kind) },
      `The kind ${kind.kind} does not accept "${event.type}" from people.`,
    );
  }
  const { type: _type, ...members } = event;
  const stray = Object.keys(members).find((member) => !Object.hasOwn(shape, member));
  if (stray !== undefined)
    return refuse('BAD_REQUEST', { path: stray }, `"${event.type}" has no member "${stray}".`);
  for (const [member, wanted] of Object.entries(shape)) {
    const value = members[member];
    const found = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    const absent = value === undefined || value === null;
    if (absent ? !wanted.endsWith('?') : found !== wanted.replace('?', ''))
      return refuse(
        'BAD_REQUEST',
        { path: member },
        `${member}: must be ${wanted.replace('?', ' or absent')}`,
      );
  }
  return undefined;
}
