import { z } from 'zod';
import type { Records } from '../../records/records.js';
import { skillBytesMax } from '../../records/skills/skill-text.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import { route, type Call, type Reply, type Route } from '../route.js';

const row = z.object({ name: z.string(), description: z.string().optional() });
const skill = z.object({ name: z.string(), content: z.string().describe('The whole SKILL.md.') }).meta({ id: 'Skill' });
const putBody = z.object({ content: z.string({ error: 'must be a string' }) });
/** A text of that size in JSON, where every character may be an escape. */
const bodyBytesMax = 6 * skillBytesMax + 1_000;

/** Skills: everybody reads them, people replace and remove them. */
export function skillRoutes(records: Records | undefined): readonly Route[] {
  if (records === undefined) return [];
  const { skills } = records;
  return [
    route('GET', '/api/skills', 'skill.list', { about: 'The skills and what they are for.', answer: z.array(row) }, async () => ({ body: await skills.list() })),
    route('GET', '/api/skills/:name', 'skill.read', { about: 'A skill\'s text.', answer: skill, refusals: ['NOT_FOUND'] }, async (call) => {
      const found = await skills.read(nameOf(call));
      return isRefusal(found) ? found : { body: found };
    }),
    route('PUT', '/api/skills/:name', 'skill.edit', {
      about: 'Replace a skill\'s text; only of one that exists. At most 2 MiB, with frontmatter that names it and says what it is for.',
      body: putBody, bodyBytesMax, answer: skill.extend({ status: z.literal('updated') }), refusals: ['NOT_FOUND', 'CONFLICT'],
    }, async (call): Promise<Reply | Refusal> => {
      const done = await skills.replace(nameOf(call), call.body.content);
      return isRefusal(done) ? done : { body: { status: 'updated', ...done } };
    }),
    route('DELETE', '/api/skills/:name', 'skill.edit', { about: 'Remove a skill, its folder and its line in skills.json.', answer: z.object({ status: z.literal('removed'), name: z.string() }), refusals: ['NOT_FOUND'] }, async (call): Promise<Reply | Refusal> => {
      const done = await skills.remove(nameOf(call));
      return isRefusal(done) ? done : { body: { status: 'removed', name: nameOf(call) } };
    }),
  ];
}

const nameOf = (call: Call<unknown, unknown>): string => call.params['name'] ?? '';
