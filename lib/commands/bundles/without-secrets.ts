/**
 * Takes out of a value what looks like a key: known shapes anywhere in a text, and whatever stands under a name like
 * `apiKey` or `authorization`. An export is sent to others; a false alarm costs its reader a line.
 * @example withoutSecrets({ token: 'abcdefghijklmnop' }) // { value: { token: '[secret]' }, removed: 1 }
 */
export function withoutSecrets<Value>(value: Value): { readonly value: Value; readonly removed: number } {
  let removed = 0;
  const hide = (): string => {
    removed += 1;
    return mark;
  };
  const clean = (text: string): string =>
    text
      .replace(pem, hide)
      .replace(known, hide)
      .replace(bearer, (_all, scheme: string) => `${scheme} ${hide()}`)
      .replace(assigned, (all: string, name: string, rest: string) =>
        rest.startsWith(mark) || /^\$\{?\w+\}?$/.test(rest) ? all : `${name}${hide()}`,
      );
  const walk = (member: unknown, name = ''): unknown => {
    if (typeof member === 'string')
      return secretName.test(name) && member.length >= 8 ? hide() : clean(member);
    if (Array.isArray(member)) return member.map((one: unknown) => walk(one));
    if (typeof member !== 'object' || member === null) return member;
    return Object.fromEntries(Object.entries(member).map(([key, one]) => [key, walk(one, key)]));
  };
  return { value: walk(value) as Value, removed };
}

const mark = '[secret]';
const secretName = /(?:api[-_]?key|secret|passw(?:or)?d|credential|^authorization|^cookie|token)$/i;
/** Up to its end or to the next one: a search for the end from each of many beginnings takes the square of their number. */
const pem =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----)[^])*(?:-----END [A-Z ]*PRIVATE KEY-----|(?=-----BEGIN ))/g;
const known =
  /\b(?:sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|xox[abposr]-[\w-]{10,}|AKIA[A-Z0-9]{16}|AIza[\w-]{30,}|glpat-[\w-]{16,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,})/g;
const bearer = /\b(Bearer|Basic) [\w.~+/-]{12,}=*/g;
/** `--api-key=…`, `API_KEY: …`, as they stand in flags and in YAML. */
const assigned =
  /((?:api[-_]?key|secret|passw(?:or)?d|credential|token)["']?\s*[:=]\s*["']?)([^\s"',}]{12,})/gi;
