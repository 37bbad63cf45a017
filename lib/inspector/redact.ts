import type { Json } from '../../machines/outputs.js';

/**
 * Machines hold no secrets by design; what nevertheless looks like one, by the name of its member, is blacked
 * out before anybody sees it. Bounded in depth, so that no shape of data can exhaust it.
 */
export function redact(value: Json | undefined, depth = 0): Json {
  if (value === undefined || value === null || typeof value !== 'object') return value ?? null;
  if (depth > depthMax) return '…';
  if (Array.isArray(value)) return value.map((element: Json) => redact(element, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => [
      member,
      isSecretive(member) && typeof inner === 'string' && inner !== ''
        ? blackedOut
        : redact(inner as Json, depth + 1),
    ]),
  );
}

/** `isSecretive('apiKey')` */
export const isSecretive = (member: string): boolean => secretive.test(member);

/** Whether a text of JSON may have members that `redact` blacks out; where it has none, it can be shown as it is. */
export const mayHoldSecrets = (json: string): boolean => secretiveEnd.test(json);

export const blackedOut = '••••';
const depthMax = 40;
const secretWords =
  'tokens?|secret|password|passphrase|authorization|cookie|api[_-]?key|private[_-]?key|capability|credential';
const secretive = new RegExp(`(?:^|[a-z_-])(?:${secretWords})$`, 'i');
const secretiveEnd = new RegExp(`(?:${secretWords})":`, 'i');
