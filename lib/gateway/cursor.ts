import { z } from 'zod';
import { placeOf } from '../commands/page-after.js';

/** Behind the last of a page that was read. Empty: the first page, answered as one that is followed by others. */
export const cursor = z
  .string()
  .max(2_000)
  .transform((value, context) => {
    const place = value === '' ? undefined : placeOf(value);
    if (place !== undefined || value === '') return { place };
    context.addIssue({ code: 'custom', message: 'must be nextCursor of an answer' });
    return z.NEVER;
  })
  .optional()
  .describe('`nextCursor` of the page before, instead of an offset: what did not move is shown once.');

/** Of rows that are numbered as they are written: the number of the last one that was shown. */
export const rowCursor = z
  .string()
  .regex(/^\d{0,15}$/, 'must be nextCursor of an answer')
  .transform((number) => (number === '' ? undefined : Number(number)))
  .optional()
  .describe('`nextCursor` of the page before.');

export const nextCursor = z.string().nullable().describe('`cursor` of the next page; null at the end.');

/** The same for lists whose pages always say where the next one begins. */
export const place = cursor.transform((given) => given?.place);
