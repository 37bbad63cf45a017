/**
 * A small structural check of a restored context. A snapshot of another shape must be refused before it
 * replaces a record: XState itself would silently go on with undefined members.
 */
export type Shape = Readonly<
  Record<string, 'string' | 'number' | 'boolean' | 'object' | 'array' | 'string?' | 'number?' | 'object?'>
>;

/**
 * `checkShape({id: 'string', model: 'string?'})(context)` → what is wrong, or undefined. `?` allows null;
 * further members are allowed.
 */
export const checkShape =
  (shape: Shape) =>
  (context: unknown): string | undefined => {
    if (typeof context !== 'object' || context === null) return 'the context is not an object';
    for (const [member, wanted] of Object.entries(shape)) {
      const value = (context as Record<string, unknown>)[member];
      const found = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
      const fits = wanted.endsWith('?')
        ? found === 'null' || found === wanted.slice(0, -1)
        : found === wanted;
      if (!fits) return `context.${member} is ${found}, not ${wanted.replace('?', ' or null')}`;
    }
    return undefined;
  };
