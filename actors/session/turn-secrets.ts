/**
 * Values of keys in what a process was given: an agent can read its environment, and then they are in its
 * answer, in what its tools print and in what it writes.
 */
export const secretsIn = (env: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    secretName.test(name) &&
    !placeName.test(name) &&
    value.length >= secretCharsMin &&
    !/^https?:\/\//.test(value)
      ? [value]
      : [],
  );

const secretName = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|CAPABILITY|AUTH(?!OR)/i;
/** Where a key lies, and not the key: such paths stand in what tools print. */
const placeName = /(?:SOCK|FILE|PATH|DIR)$/i;
/** As `redactor` has it: a short one would be found in ordinary words. */
const secretCharsMin = 16;

/** Takes secrets out of a text that comes in pieces, wherever the pieces are cut. */
export interface TextMask {
  /** What of the text so far may be shown. */
  take(piece: string): string;
  /** What was held back, at the end. */
  rest(): string;
}

/** `const mask = createTextMask(new Set(['s3cret…'])); mask.take('it is s3c') // 'it is '` */
export function createTextMask(secrets: ReadonlySet<string>): TextMask {
  let held = '';
  const clean = (text: string): string =>
    [...secrets].reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
  return {
    take(piece) {
      const text = clean(held + piece);
      const from = text.length - beginningOf(secrets, text);
      held = text.slice(from);
      return text.slice(0, from);
    },
    rest() {
      const text = held;
      held = '';
      return text;
    },
  };
}

/** How many characters at the end of a text might be the beginning of a secret. */
function beginningOf(secrets: ReadonlySet<string>, text: string): number {
  let longest = 0;
  for (const secret of secrets)
    for (let length = Math.min(secret.length - 1, text.length); length > longest; length -= 1)
      if (text.endsWith(secret.slice(0, length))) longest = length;
  return longest;
}
