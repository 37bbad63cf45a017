import type { Json } from './outputs.js';

/**
 * Takes secrets out of what is about to be stored or sent, wherever they stand in it. An agent that could read
 * the operator's token had it in its answer, and so in the store, its copy and every backup.
 * @example redactor(['s3cret'])({ said: 'it is s3cret' }) // { said: 'it is [secret]' }
 */
export function redactor(secrets: readonly string[]): <Value>(value: Value) => Value {
  const known = secrets.filter((secret) => secret.length >= secretCharsMin);
  const clean = (text: string): string =>
    known.reduce(
      (rest, secret) => (rest.includes(secret) ? rest.replaceAll(secret, '[secret]') : rest),
      text,
    );
  const walk = (value: Json): Json => {
    if (typeof value === 'string') return clean(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(walk);
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [clean(name), walk(member ?? null)]),
    );
  };
  const holds = (value: unknown): boolean => {
    const text = JSON.stringify(value) ?? '';
    return known.some((secret) => text.includes(secret));
  };
  // what holds none is handed on as it is; what holds one is plain data, for it could be written as JSON
  return <Value>(value: Value): Value => (holds(value) ? (walk(value as Json) as Value) : value);
}

/** A short one would be found in ordinary words. */
const secretCharsMin = 16;
