import { expect } from 'chai';
import { z } from 'zod';
import { parse } from '../../../lib/gateway/parse.js';
import { isRefusal } from '../../../machines/refusals.js';

/**
 * Refusals are read by people and by agents: they say what would be right, in words, and not in those of a
 * library.
 */
describe('a body that does not fit its schema', () => {
  const schema = z
    .object({
      title: z.string().min(1).max(5),
      count: z.int().min(0).max(3),
      mode: z.enum(['fast', 'slow']),
      when: z.iso.datetime(),
      tags: z.array(z.string()).max(1),
      on: z.boolean(),
      own: z.string().min(1, 'must be yours'),
    })
    .partial();
  const said = (body: unknown): unknown => {
    const parsed = parse(schema, body, 'body');
    return isRefusal(parsed) ? parsed.message : parsed;
  };

  for (const [body, sentence] of [
    [{ title: 5 }, 'title: must be text, not a number'],
    [{ title: null }, 'title: must be text, not null'],
    [{ title: '' }, 'title: must not be empty'],
    [{ title: 'too long' }, 'title: must have at most 5 characters'],
    [{ count: 4 }, 'count: must be at most 3'],
    [{ count: -1 }, 'count: must be at least 0'],
    [{ count: 1.5 }, 'count: must be a whole number, not 1.5'],
    [{ mode: 'medium' }, 'mode: must be one of fast, slow'],
    [{ when: 'soon' }, 'when: must be a time like 2026-01-31T09:00:00.000Z'],
    [{ tags: ['a', 'b'] }, 'tags: must have at most 1 element'],
    [{ tags: {} }, 'tags: must be a list, not an object'],
    [{ on: 'yes' }, 'on: must be true or false, not text'],
    [{ own: '' }, 'own: must be yours'],
    [[], 'body: must be an object, not a list'],
    [null, 'body: must be an object, not null'],
  ] as const) {
    it(`is told "${sentence}"`, () => expect(said(body)).to.equal(sentence));
  }
});
