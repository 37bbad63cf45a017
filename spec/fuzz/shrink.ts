import type { Ask } from './ask.js';

/**
 * The least request that still shows the fault: parts are taken away for as long as it stays. At most 80
 * attempts.
 */
export async function shrink(
  ask: Ask,
  shows: (ask: Ask) => Promise<boolean>,
): Promise<{ readonly ask: Ask; readonly again: boolean }> {
  if (!(await shows(ask))) return { ask, again: false };
  let least = ask;
  let left = 80;
  for (let progress = true; progress && left > 0;) {
    progress = false;
    for (const candidate of smaller(least)) {
      if (left-- <= 0) break;
      if (!(await shows(candidate))) continue;
      least = candidate;
      progress = true;
      break;
    }
  }
  return { ask: least, again: true };
}

function* smaller(ask: Ask): Generator<Ask> {
  for (let at = 0; at < ask.headers.length; at++) yield { ...ask, headers: without(ask.headers, at) };
  for (let at = 0; at < ask.query.length; at++) yield { ...ask, query: without(ask.query, at) };
  if (ask.body === undefined) return;
  yield { ...ask, body: undefined };
  let value: unknown;
  try {
    value = JSON.parse(ask.body.toString('utf8'));
  } catch {
    for (const part of [ask.body.subarray(0, ask.body.length / 2), ask.body.subarray(ask.body.length / 2)])
      if (part.length < ask.body.length) yield { ...ask, body: part };
    return;
  }
  for (const less of lesser(value, 4)) yield { ...ask, body: Buffer.from(JSON.stringify(less)) };
}

function* lesser(value: unknown, depth: number): Generator<unknown> {
  if (typeof value === 'string' && value.length > 8) yield value.slice(0, Math.floor(value.length / 2));
  if (depth === 0 || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (value.length > 1) yield value.slice(0, Math.floor(value.length / 2));
    for (let at = 0; at < Math.min(value.length, 8); at++)
      for (const less of lesser(value[at], depth - 1))
        yield value.map((each, index) => (index === at ? less : each) as unknown);
    return;
  }
  const entries = Object.entries(value);
  for (let at = 0; at < entries.length; at++) yield Object.fromEntries(without(entries, at));
  for (const [name, inside] of entries)
    for (const less of lesser(inside, depth - 1)) yield { ...value, [name]: less };
}

const without = <Element>(list: readonly Element[], at: number): Element[] =>
  list.filter((_, index) => index !== at);
