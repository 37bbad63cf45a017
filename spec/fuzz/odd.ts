import type { Random } from '../crash/random.js';

/**
 * Values that have broken other programs: too long, too deep, wrongly encoded, named like members that every
 * object has.
 */
export const oddTexts: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '../../../../etc/passwd',
  '..\\..\\',
  '/etc/passwd',
  'file:///etc/passwd',
  'C:\\',
  '.',
  '..',
  '-',
  '--help',
  '\ud800',
  'a\udc00',
  '\u202e\u2066abc',
  '\u2028\u2029',
  '\ufeff',
  'e\u0301'.repeat(50),
  '👩‍👩‍👧‍👦'.repeat(20),
  'ﬃ',
  'İ',
  'ß',
  '\uffff',
  '\u0085\u009b31m\u007f',
  'line\r\nInjected: yes\r\n\r\nHTTP/1.1 200 OK',
  '\u001b[31mred\u001b[0m\u001b]0;title\u0007',
  '{"level":60,"msg":"forged"}\n{"level":60}',
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  '${7*7}{{7*7}}',
  '$(id)`id`;id',
  '%00%0d%0a%2e%2e%2f',
  'null',
  'undefined',
  'NaN',
  'true',
  '-1',
  '0',
  '1e309',
  '9'.repeat(400),
  '0x10',
  '1_000',
  '٣',
  '999999999',
  '2026-02-30',
  '2026-13-01T99:99:99Z',
  '+275760-09-13T00:00:00Z',
  '0000-01-01',
  '9999-12-31T23:59:59.999Z',
  '2026-01-02T03:04:05+99:99',
  'a'.repeat(300),
  'a'.repeat(5_000),
  '\u0001'.repeat(500),
  '{'.repeat(3_000),
  '['.repeat(3_000),
  // What makes a backtracking pattern take for ever.
  `${'a'.repeat(8_000)}!`,
  `${'0'.repeat(8_000)}x`,
  `${' '.repeat(8_000)}x`,
  `${'-'.repeat(8_000)}x`,
  `${'a-'.repeat(4_000)}!`,
  `${'a.'.repeat(4_000)}!`,
  `${'* '.repeat(4_000)}`,
  `${'1,'.repeat(4_000)}x`,
  `${'/'.repeat(8_000)}x`,
  `${'(a+)+'.repeat(1_000)}$`,
  '(a+)+$',
  '.*.*.*.*.*.*.*.*=.*',
  '[',
  '\\',
  '0 0 31 2 *',
  '* * * * * *',
  '*/0 * * * *',
  '60 24 32 13 8',
  '1-59/1,'.repeat(500),
  '0 0 L * *',
  '@reboot',
  'Mars/Olympus',
  'UTC+25',
];

/** Frontmatter and other YAML that must be refused or read in no time. */
export const yamlTexts: readonly string[] = [
  `a: &a [${'x,'.repeat(9)}x]\n${'bcdefghi'
    .split('')
    .map((name, place) => `${name}: &${name} [${`*${'abcdefgh'[place]},`.repeat(9)}]`)
    .join('\n')}`,
  'name: !!js/function "function () {}"',
  '<<: *a',
  '&a [*a]',
  '['.repeat(10_000),
  '- '.repeat(20_000),
  '{'.repeat(10_000),
  '? '.repeat(10_000),
  `${'a: '.repeat(5_000)}`,
  'name: |\n' + ' x\n'.repeat(5_000),
  `"${'\\u0041'.repeat(5_000)}`,
  `${'&a '.repeat(3_000)}x`,
  `${'!'.repeat(5_000)} x`,
  '%YAML 9.9\n%TAG ! tag:x,2000:\n---',
  '__proto__: {polluted: true}\nconstructor: {prototype: {polluted: true}}',
  'name: 1e400',
  'a: b: c: d',
  '\t\tname: x',
  `${'#'.repeat(20_000)}`,
  `${' '.repeat(20_000)}x: y`,
  `a: ${'"'.repeat(9_999)}`,
  `${'x: 1\n'.repeat(8_000)}`,
];

const oddValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1e21,
  2 ** 53,
  -(2 ** 53),
  Number.MAX_VALUE,
  5e-324,
  0.1,
  [],
  {},
  [[]],
  [null],
  { length: -1 },
  { toString: 1 },
  { then: 1 },
  { refused: true, code: 'X', status: 200 },
  { toJSON: 'x' },
];

export const oddText = (random: Random): string => random.pick(oddTexts);
export const oddValue = (random: Random): unknown =>
  random.chance(0.5) ? oddText(random) : random.pick(oddValues);

/** Somewhere in the value, one thing is dropped, added, retyped, repeated or buried. */
export function spoiled(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null)
    return random.chance(0.85) ? oddValue(random) : buried(value, random.between(1, 40));
  if (random.chance(0.05)) return random.chance(0.5) ? [value] : oddValue(random);
  const keys = Object.keys(value);
  if (Array.isArray(value)) {
    if (keys.length === 0 || random.chance(0.3))
      return random.chance(0.5)
        ? [...value, oddValue(random)]
        : Array.from({ length: random.pick([2, 30, 600, 3_000]) }, () => value[0] ?? 'x');
    const at = random.between(0, keys.length - 1);
    return value.map((each, index) => (index === at ? spoiled(each, random) : each) as unknown);
  }
  const members = { ...value } as Record<string, unknown>;
  const key = keys.length === 0 ? undefined : random.pick(keys);
  const strays = key === undefined || random.chance(0.25);
  if (strays) {
    const name = random.pick(strayNames);
    Object.defineProperty(members, name, {
      value: oddValue(random),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else if (random.chance(0.25)) delete members[key];
  else members[key] = spoiled(members[key], random);
  return members;
}

const strayNames: readonly string[] = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'toJSON',
  'then',
  'length',
  'id',
  'refused',
  'status',
  'code',
  'createdBy',
  'source',
  'approvalState',
  'by',
  'at',
  'facts',
  'type',
  '',
  '\u0000',
  '\ud800',
  'a'.repeat(2_000),
  '👋',
  '$ref',
  'idempotencyKey',
  'expectedVersion',
  'dryRun',
];

function buried(value: unknown, depth: number): unknown {
  let made = value;
  for (let n = 0; n < depth; n++) made = n % 2 === 0 ? [made] : { a: made };
  return made;
}

/** JSON texts that no serialiser writes: cut off, doubled members, deep, huge, in the wrong encoding. */
export function brokenJson(text: string, random: Random): Buffer {
  const deep = random.pick([31, 33, 1_000, 100_000]);
  return random.pick<() => Buffer>([
    () => Buffer.from(text.slice(0, Math.floor(text.length * random.next()))),
    () => Buffer.from(`${text}${text}`),
    () => Buffer.from(`\ufeff${text}`),
    () => Buffer.from(`${text}\u0000`),
    () => Buffer.from(text, 'utf16le'),
    () => Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0xfe])]),
    () => Buffer.from(text.replace(/"/, '"\xed\xa0\x80'), 'latin1'),
    () => Buffer.from('['.repeat(deep) + ']'.repeat(deep)),
    () => Buffer.from(`${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`),
    () =>
      Buffer.from(
        text.replace(/^\{/, '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},'),
      ),
    () => Buffer.from(text.replace(/^\{/, '{"title":1,"title":2,')),
    () => Buffer.from(text.replaceAll('"', "'")),
    () => Buffer.from('{"a":1e999999,"b":-1e999999,"c":123456789012345678901234567890}'),
    () => Buffer.from(`{"a":${'9'.repeat(50_000)}}`),
    () => Buffer.from(`"${'x'.repeat(1_100_000)}"`),
    () =>
      Buffer.from(
        random.pick([
          'null',
          '1',
          '"x"',
          '[]',
          '[{}]',
          'NaN',
          'undefined',
          '',
          ' ',
          '{',
          '}',
          '{}}',
          '\ud800',
          '{"a":"\\ud800"}',
          '{"\\u0000":1}',
        ]),
      ),
    () => Buffer.from(`{${Array.from({ length: 5_000 }, (_, n) => `"k${n}":${n}`).join(',')}}`),
    () => Buffer.alloc(random.pick([1, 100, 70_000]), random.between(0, 255)),
  ])();
}
