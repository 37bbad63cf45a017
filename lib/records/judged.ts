import * as z from 'zod';

/**
 * What a schema makes of a value that anybody may have written. Zod measures whatever has a `length`, before
 * it is known to be a text or a list, and throws where that length cannot be compared (`{"length":
 * {"toString": 1, "valueOf": 1}}`): here that is a fault of the value like any other.
 * @example const result = judged(schema, JSON.parse(text)); if (!result.success) …
 */
export function judged<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.ZodSafeParseResult<z.output<Schema>> {
  try {
    return schema.safeParse(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return z.custom<z.output<Schema>>(() => false, 'its member "length" is not a number').safeParse(value);
  }
}
