import * as z from 'zod';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import { judged } from '../judged.js';
import { parsePlainYaml } from '../plain-yaml.js';

/**
 * The text of a skill: YAML frontmatter between two lines of three dashes, then instructions. The frontmatter
 * is plain data only: nothing in it is ever run, whatever language it claims to be in.
 */
export interface Frontmatter {
  readonly name: string;
  readonly description: string;
}

/** `frontmatterOf(text)` → name and description, or what is wrong with the text. */
export function frontmatterOf(text: string): Partial<Frontmatter> | { readonly fault: string } {
  const [, yaml] =
    /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:\r?\n)?^---[ \t]*\r?$/m.exec(
      text.slice(0, frontmatterCharsMax + 100),
    ) ?? [];
  if (yaml === undefined || !/^\uFEFF?---[ \t]*\r?\n/.test(text))
    return { fault: 'SKILL.md must start with YAML frontmatter between lines of ---' };
  const parsed = parsePlainYaml(yaml, frontmatterCharsMax);
  if ('fault' in parsed) return { fault: `SKILL.md frontmatter cannot be read: ${parsed.fault}` };
  const checked = judged(shape, parsed.value ?? {});
  if (!checked.success)
    return {
      fault:
        `SKILL.md frontmatter ${checked.error.issues[0]?.path.join('.') ?? ''} ` +
        `${checked.error.issues[0]?.message ?? 'cannot be used'}`,
    };
  const { name, description } = checked.data;
  return { ...(name != null && { name }), ...(description != null && { description }) };
}

/** May this text stand in the skill of that name? */
export function judgeSkillText(name: string, text: string): Refusal | undefined {
  if (Buffer.byteLength(text) > skillBytesMax)
    return refuse('PAYLOAD_TOO_LARGE', { bytesMax: skillBytesMax }, 'A skill may have at most 2 MiB.');
  const found = frontmatterOf(text);
  const wrong = (sentence: string): Refusal => refuse('BAD_REQUEST', { path: 'content' }, sentence);
  if ('fault' in found) return wrong(found.fault);
  if (found.name !== name)
    return wrong(`SKILL.md frontmatter name must match skill directory ${JSON.stringify(name)}`);
  if ((found.description ?? '').trim() === '')
    return wrong('SKILL.md frontmatter requires a non-empty description');
  return undefined;
}

export const skillBytesMax = 2 * 2 ** 20;
const frontmatterCharsMax = 65_536;
const shape = z.looseObject({
  name: z.string().max(200).nullish(),
  description: z.string().max(16_384).nullish(),
});
