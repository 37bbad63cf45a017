import { seeded, type Random } from '../crash/random.js';
import type { Ask, CallerName } from './ask.js';
import type { Document, Operation, Schema } from './document.js';
import { brokenJson, oddText, spoiled, yamlTexts } from './odd.js';
import { sampler } from './sample.js';
import { skillText } from './victim.js';
import type { World } from './world.js';

/**
 * Request number `n` of a run: made valid by its schema, then mostly spoiled. Seed and number decide it, and
 * the ids that are there.
 */
export function makeAsk(document: Document, world: World, seed: number, n: number): Ask {
  const random = seeded(Math.imul(seed, 0x9e3779b1) ^ Math.imul(n + 1, 0x85ebca6b));
  const operation = random.pick(document.operations);
  const draft = valid(document, world, operation, random, n);
  const times = random.chance(0.3) ? 0 : random.chance(0.65) ? 1 : random.between(2, 4);
  for (let time = 0; time < times; time++) spoil(draft, operation, world, random);
  guard(draft, world);
  return draft;
}

type Draft = {
  -readonly [Member in keyof Ask]: Ask[Member] extends readonly (infer Element)[] ? Element[] : Ask[Member];
} & { json?: unknown };

function valid(document: Document, world: World, operation: Operation, random: Random, n: number): Draft {
  const { key, path } = operation;
  const samples = sampler(random, document.resolve, (name) => world.word(key, name, random));
  world.toolArguments = (schema, chance) =>
    sampler(chance, document.resolve, (name) => world.word('', name, chance)).value(schema as Schema);
  const caller = callerOf(random);
  const params: Record<string, string> = {};
  const target = path.replace(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(
      (params[name] =
        caller === 'agent' && path.startsWith('/api/sessions/{id}') && random.chance(0.5)
          ? (world.agent?.id ?? '')
          : world.param(path, name, random)),
    ),
  );
  const query: string[] = [];
  for (const { name, required, schema } of operation.query) {
    if (!required && !random.chance(name === 'dryRun' ? 0.1 : 0.3)) continue;
    const value = samples.value(schema, name);
    if (value != null)
      query.push(
        `${name}=${encodeURIComponent(typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean))}`,
      );
  }
  const draft: Draft = {
    n,
    operation: key,
    caller,
    method: operation.method,
    path: target,
    query,
    headers: credentials(caller, world, random),
    body: undefined,
    framing: 'length',
    rude: false,
    spoiled: [],
  };
  if (operation.uploads && random.chance(0.3)) multipart(draft, random, false);
  else if (operation.body) write(draft, world.body(key, params, random) ?? samples.value(operation.body));
  if (random.chance(0.05)) draft.headers.push(['Idempotency-Key', `key-${random.between(1, 50)}`]);
  return draft;
}

function write(draft: Draft, json: unknown): void {
  draft.json = json;
  draft.body = Buffer.from(JSON.stringify(json) ?? '');
  if (!draft.headers.some(([name]) => name === 'Content-Type'))
    draft.headers.push(['Content-Type', 'application/json']);
}

const callerOf = (random: Random): CallerName =>
  random.pick<CallerName>([
    'operator',
    'operator',
    'operator',
    'operator',
    'operator',
    'operator',
    'operator',
    'agent',
    'agent',
    'tool',
    'browser',
    'none',
    'bad',
    'odd',
  ]);

function credentials(caller: CallerName, world: World, random: Random): [string, string][] {
  const bearer = (token: string): [string, string] => ['Authorization', `Bearer ${token}`];
  const { token } = world.victim;
  const agent = world.agent ?? { id: 'none', token: 'none' };
  switch (caller) {
    case 'operator':
      return [bearer(token)];
    case 'agent':
      return [bearer(agent.token)];
    case 'tool':
      return [
        bearer(random.chance(0.5) ? token : agent.token),
        ['x-svc-tool-call', '1'],
        ['x-svc-caller-session', agent.id],
        ['x-svc-session-capability', agent.token],
      ];
    case 'browser':
      return [
        ['Cookie', world.browser?.cookies ?? 'svc_auth=x'],
        ['Origin', `http://127.0.0.1:${world.victim.port}`],
      ];
    case 'bad':
      return [bearer('wrong-token-wrong-token-wrong-token-wrong-tok')];
    case 'odd':
      return random.pick<() => [string, string][]>([
        () => [['Authorization', token]],
        () => [['Authorization', `bearer ${token}`]],
        () => [['Authorization', `Bearer  ${token}`]],
        () => [['Authorization', `Basic ${Buffer.from(`operator:${token}`).toString('base64')}`]],
        () => [['Authorization', '']],
        () => [['Authorization', 'Bearer ']],
        () => [['Authorization', `Bearer ${token.slice(0, -1)}`]],
        () => [['Authorization', `Bearer ${token}x`]],
        () => [['Authorization', `Bearer ${'x'.repeat(9_000)}`]],
        () => [['Authorization', 'Bearer \xff\xfe']],
        () => [bearer('a'), bearer(token)],
        () => [['x-svc-tool-call', '1']],
        () => [['x-svc-caller-session', agent.id]],
        () => [['x-svc-session-capability', agent.token]],
        () => [['Cookie', 'svc_auth=x; svc_device=y']],
        () => [['Cookie', `${'a=b; '.repeat(500)}svc_auth="`]],
        () => [['Cookie', 'svc_auth=%ff%zz; svc_auth=..; __proto__=1']],
        () => [['Cookie', ';;;=;=x;']],
        () => [['Authorization', 'Bearer __proto__']],
        () => [
          ['X-Forwarded-For', '127.0.0.1'],
          ['Forwarded', 'for=127.0.0.1'],
        ],
      ])();
    case 'none':
      return [];
  }
}

function spoil(draft: Draft, operation: Operation, world: World, random: Random): void {
  const ways: (() => string | undefined)[] = [
    () => spoilPath(draft, random),
    () => spoilQuery(draft, operation, random),
    () => spoilHeaders(draft, random),
  ];
  if (random.chance(0.15)) ways.push(() => spoilMethod(draft, random));
  if (draft.json !== undefined) {
    for (let weight = 0; weight < 5; weight++)
      ways.push(() => {
        write(draft, spoiled(draft.json, random));
        return 'member';
      });
    ways.push(() => {
      draft.body = brokenJson(draft.body?.toString('utf8') ?? '', random);
      delete draft.json;
      return 'broken JSON';
    });
  }
  if (operation.uploads)
    ways.push(() => {
      multipart(draft, random, true);
      return 'multipart';
    });
  if (operation.key === 'PUT /api/skills/{name}')
    ways.push(() => {
      write(draft, {
        content: random.pick([
          `---\n${random.pick(yamlTexts)}\n---\n`,
          `${skillText('x')}${random.pick(yamlTexts)}`,
          `---\nname: ${decodeURIComponent(draft.path.split('/').at(-1)?.replaceAll('%', '') ?? '')}\ndescription: ${random.pick(yamlTexts)}\n---`,
        ]),
      });
      return 'yaml';
    });
  if (draft.body !== undefined && random.chance(0.1)) ways.push(() => spoilFraming(draft, random));
  const done = random.pick(ways)();
  if (done !== undefined) draft.spoiled.push(done);
}

function spoilPath(draft: Draft, random: Random): string {
  const parts = draft.path.split('/');
  const at = random.between(1, parts.length - 1);
  const odd = encoded(oddText(random));
  const way = random.pick<() => string>([
    ...Array.from(
      { length: 6 },
      () => () => parts.map((part, index) => (index === at ? odd : part)).join('/'),
    ),
    () => `${draft.path}/`,
    () => draft.path.toUpperCase(),
    () => draft.path.replace('/api', '//api'),
    () => `${draft.path};x=1`,
    () => `${draft.path}%`,
    () => `${draft.path}%zz`,
    () => `${draft.path}%00`,
    () => `${draft.path}%ff`,
    () => `${draft.path}%c0%ae`,
    () => draft.path.replaceAll('/', '%2f').replace('%2f', '/'),
    () => `${draft.path}/..`,
    () => `${draft.path}/%2e%2e/%2e%2e`,
    () => `${draft.path}\\..`,
    () => `/./${draft.path}`,
    () => `http://evil.example${draft.path}`,
    () => '*',
    () => '/',
    () => `${draft.path}#x`,
    () => `${draft.path}\t`,
    () => `${draft.path}\xff`,
    () => [...parts, odd].join('/'),
    () => `/api/${'x/'.repeat(2_000)}`,
    () => `//evil.example${draft.path}`,
    () => `${draft.path}${'?'.repeat(100)}`,
    () => `/api/${odd}`,
  ]);
  draft.path = way();
  return 'path';
}

/**
 * As it may stand in a target: percent signs for what the grammar does not allow; lone surrogates as bytes
 * that are no UTF-8.
 */
const encoded = (text: string): string => {
  try {
    return encodeURIComponent(text)
      .slice(0, 12_000)
      .replace(/%[0-9A-F]?$/, '');
  } catch {
    return '%ED%A0%80';
  }
};

function spoilQuery(draft: Draft, operation: Operation, random: Random): string {
  const name =
    operation.query.length > 0 && random.chance(0.8)
      ? random.pick(operation.query).name
      : random.pick(['dryRun', 'token', '__proto__', 'constructor', 'x', 'limit', 'a[b]', '']);
  const way = random.between(0, 6);
  if (way === 0) draft.query = draft.query.slice(1);
  else if (way === 1) draft.query.push(...draft.query.slice(0, 1));
  else if (way === 2)
    draft.query.push(
      random.pick([
        '%',
        '%zz=1',
        '&&&',
        '=',
        '%00=%00',
        `${'a&'.repeat(3_000)}`,
        '%ff=%ff',
        `${name}`,
        `${name}=%`,
        '?',
        '__proto__[x]=1',
      ]),
    );
  else
    draft.query = [
      ...draft.query.filter((pair) => !pair.startsWith(`${name}=`)),
      `${name}=${encoded(oddText(random))}`,
    ];
  return 'query';
}

function spoilHeaders(draft: Draft, random: Random): string {
  const odd = oddText(random)
    .replace(/[^\x20-\x7e]/g, '')
    .slice(0, 4_000);
  const [name, value] = random.pick<readonly [string, string]>([
    ['Content-Type', 'text/plain'],
    ['Content-Type', 'application/xml'],
    ['Content-Type', 'application/json; charset=utf-16'],
    ['Content-Type', 'application/json; charset="'],
    ['Content-Type', 'multipart/form-data'],
    ['Content-Type', 'multipart/form-data; boundary=x'],
    ['Content-Type', ''],
    ['Content-Type', odd],
    ['Content-Encoding', 'gzip'],
    ['Content-Encoding', 'identity'],
    ['Host', 'evil.example'],
    ['Host', ''],
    ['Host', odd],
    ['Host', '127.0.0.1:1@evil.example'],
    ['Host', '[::1'],
    ['Origin', 'null'],
    ['Origin', 'http://evil.example'],
    ['Origin', odd],
    ['Referer', odd],
    ['If-Match', odd],
    ['If-Match', '"1"'],
    ['If-Match', '*'],
    ['If-None-Match', odd],
    ['If-None-Match', '*'],
    ['Range', 'bytes=0-1'],
    ['Range', 'bytes=-99999'],
    ['Range', 'bytes=5-1'],
    ['Range', `bytes=${'0-1,'.repeat(1_000)}`],
    ['Range', odd],
    ['Idempotency-Key', odd],
    ['Idempotency-Key', ''],
    ['Idempotency-Key', 'x'.repeat(300)],
    ['traceparent', odd],
    ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
    ['Accept', odd],
    ['Accept', 'text/html'],
    ['X-HTTP-Method-Override', 'DELETE'],
    ['X-Forwarded-Host', 'evil.example'],
    ['Cookie', odd],
    ['Upgrade', 'websocket'],
    ['Upgrade', 'h2c'],
    ['Expect', '100-continue'],
    ['Expect', odd],
    ['Connection', 'close'],
    ['mcp-protocol-version', odd],
    ['mcp-session-id', odd],
    ['Sec-Fetch-Site', 'cross-site'],
    ['X-Odd', 'a\x01b'],
    ['X Odd', '1'],
    ['X-Odd', 'x'.repeat(20_000)],
    ['Content-Length', 'x'],
    ['Content-Length', '-1'],
    ['Content-Length', '99999999999'],
    ['Transfer-Encoding', 'gzip, chunked'],
    ['x-svc-caller-session', odd],
    ['x-svc-tool-call', odd],
    ['Sec-WebSocket-Key', odd],
  ]);
  // What lies about the end of the body, or speaks another protocol, takes the connection with it.
  if (/^(?:Content-Length|Transfer-Encoding|Upgrade|Expect)$/.test(name) || name === 'X Odd')
    draft.rude = true;
  if (random.chance(0.6)) draft.headers = draft.headers.filter(([one]) => one !== name);
  draft.headers.push([name, value]);
  if (random.chance(0.1))
    for (let more = 0; more < 60; more++) draft.headers.push([`X-More-${more}`, 'x'.repeat(100)]);
  return name;
}

function spoilMethod(draft: Draft, random: Random): string {
  draft.method = random.pick([
    'GET',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'HEAD',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
    'PURGE',
    'CONNECT',
    'get',
    'FOO',
    'M-SEARCH',
    'QUERY',
  ]);
  if (/^(?:CONNECT|get|FOO)$/.test(draft.method)) draft.rude = true;
  return `method ${draft.method}`;
}

function spoilFraming(draft: Draft, random: Random): string {
  draft.framing = random.pick(['chunked', 'short', 'both']);
  if (draft.framing !== 'chunked') draft.rude = true;
  return draft.framing;
}

function multipart(draft: Draft, random: Random, broken: boolean): void {
  const boundary = 'fuzz-boundary';
  const part = (disposition: string, content: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
  const file = part('name="file"; filename="hello.txt"', 'hello world');
  const odd = oddText(random)
    .replaceAll('"', '%22')
    .replace(/[\r\n]/g, ' ');
  const text = !broken
    ? `${file}${part('name="text"', 'See.')}--${boundary}--\r\n`
    : random.pick([
        file,
        `${file}--${boundary}`,
        '',
        `--${boundary}--\r\n`,
        `${file}${file}--${boundary}--\r\n`,
        `${part(`name="file"; filename="${odd}"`, 'x')}--${boundary}--\r\n`,
        `${part(`name="${odd}"`, 'x')}--${boundary}--\r\n`,
        `${part(`name="text"`, odd)}${file}--${boundary}--\r\n`,
        `${part('name="text"', 'x'.repeat(300_000))}--${boundary}--\r\n`,
        `${part('filename="x"', 'x')}--${boundary}--\r\n`,
        `${part('name="file"', 'x').repeat(2)}--${boundary}--\r\n`,
        `${part('name="__proto__"', '1')}${part('name="constructor"', '1')}${file}--${boundary}--\r\n`,
        `${Array.from({ length: 300 }, (_, n) => part(`name="f${n}"`, 'x')).join('')}--${boundary}--\r\n`,
        `--${boundary}\r\n${'X-H: y\r\n'.repeat(2_000)}\r\nx\r\n--${boundary}--\r\n`,
        `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename*=UTF-8''%ff%zz\r\nContent-Type: ${odd}\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!\r\n--${boundary}--\r\n`,
        file.replace('\r\n\r\n', '\n\n'),
        `preamble\r\n${file}--${boundary}--\r\nepilogue`,
        '\u0000'.repeat(500),
      ]);
  delete draft.json;
  draft.body = Buffer.from(text);
  draft.headers = draft.headers.filter(([name]) => name !== 'Content-Type');
  draft.headers.push([
    'Content-Type',
    broken
      ? random.pick([
          `multipart/form-data; boundary=${boundary}`,
          `multipart/form-data; boundary=${boundary}`,
          `multipart/form-data; boundary="${boundary}`,
          'multipart/form-data; boundary=',
          'multipart/form-data',
          `multipart/mixed; boundary=${boundary}`,
          `multipart/form-data; boundary=${'b'.repeat(300)}`,
        ])
      : `multipart/form-data; boundary=${boundary}`,
  ]);
}

/**
 * What would be written outside the temporary folder, or take the run with it, is turned into something
 * harmless.
 */
function guard(draft: Draft, world: World): void {
  const text = draft.body?.toString('utf8') ?? '';
  if (
    !text.includes('target') ||
    !(draft.path.includes('backup') || draft.path.includes('mcp') || draft.operation.includes('backup'))
  )
    return;
  let target: unknown;
  try {
    target = (JSON.parse(text.replace(/^\ufeff/, '')) as { target?: unknown } | null)?.target;
  } catch {
    return; // no JSON, no backup
  }
  if (typeof target === 'string' && !target.startsWith(world.victim.home))
    write(draft, { target: world.victim.home });
}
