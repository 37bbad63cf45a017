/**
 * Reads bodies of model requests: whatever is not there is empty, for a spec must fail on what is said, not
 * on shapes.
 */
export type Body = Readonly<Record<string, unknown>>;

export const listOf = (value: unknown): readonly Body[] =>
  Array.isArray(value) ? value.filter((item): item is Body => typeof item === 'object' && item !== null) : [];
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The text of a content that is a string or a list of parts. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => textOf(part['text']))
    .filter((text) => text !== '')
    .join('\n');
}

/** What an agent adds for the model is not what its user said. */
export const isAside = (text: string): boolean =>
  /^\s*<(?:system-reminder|environment_context|user_instructions|session_context|permissions|skills|apps|plugins)|^This is the Qwen Code\./.test(
    text,
  );
