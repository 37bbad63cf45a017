import { z } from 'zod';
import { isOpen, refusalsOf, verdict, verdictsOf, type AuthorityId } from './authorization.js';
import { frameNames } from './websocket/frames.js';
import { route, takesKey, type Route } from './route.js';
import { failure } from './schemas.js';
import { refusalTable, type RefusalCode } from '../../machines/refusals.js';

/** `GET /api/openapi.json`: OpenAPI 3.1, made once from the very schemas that parse requests. */
export function openapiRoutes(routes: () => readonly Route[], version: string): readonly Route[] {
  let text: Buffer | undefined; // one for all who ask: a reader that never reads holds no copy of its own
  return [
    route(
      'GET',
      '/api/openapi.json',
      'openapi.read',
      { about: 'This document.', answer: z.looseObject({}), contentType: 'application/json; charset=utf-8' },
      () => ({ body: (text ??= Buffer.from(JSON.stringify(openapi(routes(), version)))) }),
    ),
  ];
}

/** The document as a value. */
export function openapi(routes: readonly Route[], version: string): Record<string, unknown> {
  const schemas: Record<string, unknown> = {};
  const paths: Record<string, Record<string, unknown>> = {};
  for (const each of routes) {
    const path = each.path.replace(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[each.method.toLowerCase()] = operation(each, schemas);
  }
  for (const [path, operation] of Object.entries(sockets)) paths[path] = { get: operation };
  return {
    openapi: '3.1.0',
    info: { title: 'Troupe gateway', version },
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        browser: { type: 'apiKey', in: 'cookie', name: 'svc_auth' },
      },
    },
    security: [{ bearer: [] }, { browser: [] }],
    // Every code of the system, also those that a watcher meets in a frame of /ws and on no route.
    'x-refusals': Object.fromEntries(
      Object.entries(refusalTable).map(([code, [status, sentence]]) => [code, { status, sentence }]),
    ),
  };
}

function operation(each: Route, schemas: Record<string, unknown>): Record<string, unknown> {
  const { schema: shape } = each;
  const open = isOpen(each.authority);
  const success = String(shape.status ?? 200);
  const type = shape.contentType?.split(';')[0] ?? 'application/json';
  return {
    operationId: `${each.method.toLowerCase()} ${each.path}`,
    summary: shape.about,
    tags: [each.authority.split('.')[0]],
    parameters: [...pathParameters(each), ...queryParameters(each, schemas), ...headerParameters(each)],
    ...(shape.body && {
      requestBody: {
        required: !shape.body.safeParse({}).success, // a missing body is read as {}
        content: {
          'application/json': { schema: jsonSchema(shape.body, 'input', schemas) },
          ...(shape.upload && { 'multipart/form-data': { schema: uploadSchema } }),
        },
      },
    }),
    responses: {
      [success]: {
        description: 'Done.',
        content: { [type]: { schema: jsonSchema(shape.answer, 'output', schemas) } },
      },
      ...failures(each, schemas),
    },
    ...(open && { security: [] }),
    'x-authority': {
      id: each.authority,
      callers: verdictsOf(each.authority),
    },
    ...(shape.forbidden && { 'x-forbidden-members': shape.forbidden }),
  };
}

const uploadSchema = {
  type: 'object',
  required: ['file'],
  properties: {
    file: { type: 'string', format: 'binary' },
    filename: { type: 'string' },
    text: { type: 'string' },
  },
};

/**
 * Every code that a route can answer with: by authority, by parsing, by its own operation, and what may befall
 * any.
 */
export function codesOf({ authority, schema: shape, method }: Route): readonly RefusalCode[] {
  const codes = new Set<RefusalCode>([
    ...refusalsOf(authority),
    ...(shape.refusals ?? []),
    'HOST_REFUSED',
    'ORIGIN_REFUSED',
    'CROSS_SITE_REFUSED',
    'DRAINING',
  ]);
  // A form of a paired browser is refused on arrival
  if (method !== 'GET') codes.add('UNSUPPORTED_MEDIA_TYPE');
  if (shape.query || shape.body || shape.plan) codes.add('BAD_REQUEST');
  if (shape.body)
    for (const code of ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) codes.add(code);
  if (takesKey(shape))
    for (const code of [
      'IDEMPOTENCY_KEYS_DIFFER',
      'IDEMPOTENCY_CONFLICT',
      'ACTOR_HALTED',
      'STORE_UNAVAILABLE',
      'OWNER_ELSEWHERE',
      'OUTCOME_UNKNOWN',
      'DISK_LOW',
      'BUSY',
    ] as const)
      codes.add(code);
  // An agent may send so much an hour
  if (shape.body && verdict(authority, 'self') !== 'FORBIDDEN') codes.add('AGENT_QUOTA');
  if (shape.body && !shape.plan) codes.add('DRY_RUN_UNSUPPORTED');
  return [...codes];
}

function failures(each: Route, schemas: Record<string, unknown>): Record<string, unknown> {
  const byStatus = new Map<number, RefusalCode[]>();
  for (const code of codesOf(each))
    byStatus.set(refusalTable[code][0], [...(byStatus.get(refusalTable[code][0]) ?? []), code]);
  const schema = jsonSchema(failure, 'output', schemas);
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, codes]) => [
        String(status),
        {
          description: codes.map((code) => `${code}: ${refusalTable[code][1]}`).join('\n'),
          content: { 'application/json': { schema } },
          'x-codes': codes,
        },
      ]),
  );
}

const pathParameters = ({ path }: Route) =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));

function queryParameters({ method, schema: shape }: Route, schemas: Record<string, unknown>) {
  const listed = shape.query
    ? (jsonSchema(shape.query, 'input', schemas) as {
        properties?: Record<string, { description?: string }>;
        required?: string[];
      })
    : {};
  const parameters = Object.entries(listed.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: listed.required?.includes(name) ?? false,
    schema,
  }));
  const rehearsal = {
    name: 'dryRun',
    in: 'query',
    required: false,
    schema: {
      type: 'string',
      enum: ['true', 'false'],
      description: 'Returns what would happen: `{allowed, refusal?, steps}`. Writes nothing.',
    },
  };
  return method !== 'GET' && shape.plan ? [...parameters, rehearsal] : parameters;
}

const headerParameters = ({ schema: shape }: Route) => [
  ...(takesKey(shape)
    ? [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          schema: { type: 'string', minLength: 1, maxLength: 256 },
        },
      ]
    : []),
  ...Object.entries(shape.headers ?? {}).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  })),
];

/** Named schemas go to the components; everything else stands where it is used. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, unknown>): unknown {
  const {
    $schema: _dialect,
    $defs,
    ...made
  } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Record<string, unknown>;
  for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, unknown>))
    schemas[name] = relinked(definition);
  const { id } = made;
  if (typeof id !== 'string') return relinked(made);
  const { id: _id, ...definition } = made;
  schemas[id] = relinked(definition);
  return { $ref: `#/components/schemas/${id}` };
}

const relinked = (schema: unknown): unknown =>
  JSON.parse(
    JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'),
    (key, value: unknown) => (key === 'id' && typeof value === 'string' ? undefined : value),
  );

const socketOperation = (
  path: string,
  authority: AuthorityId,
  summary: string,
  parameters: readonly object[],
) => ({
  operationId: `get ${path}`,
  summary: `WebSocket: ${summary}`,
  parameters,
  responses: {
    101: { description: 'Switching protocols.' },
    401: { description: 'UNAUTHENTICATED' },
    403: { description: 'HOST_REFUSED, ORIGIN_REFUSED' },
  },
  'x-authority': {
    id: authority,
    callers: verdictsOf(authority),
  },
});

const since = { name: 'since', in: 'query', required: false, schema: { type: 'string', pattern: '^\\d+$' } };
const names = ['kinds', 'ids'].map((name) => ({
  name,
  in: 'query',
  required: false,
  schema: { type: 'string', description: 'Comma-separated.' },
}));
const first = {
  name: 'first',
  in: 'query',
  required: false,
  schema: {
    type: 'integer',
    minimum: 0,
    maximum: 1_000,
    default: 50,
    description:
      'How many actors of each kind are announced on connect; the others are announced at their first step.',
  },
};
const tree = {
  name: 'tree',
  in: 'query',
  required: false,
  schema: { type: 'string', description: '`kind/id`: an actor and all its descendants.' },
};
const refusals = {
  name: 'refusals',
  in: 'query',
  required: false,
  schema: { type: 'string', enum: ['1'], description: 'Include refused events.' },
};

const sockets = {
  '/ws': {
    ...socketOperation(
      '/ws',
      'ws.watch',
      'frames `{seq, event, payload, ts, last?}` as they are committed; `?since=<seq>` replays. ' +
        '`{"type": "subscribe", "kinds": […], "ids": […]}` filters, as `?kinds=` and `?ids=` do. ' +
        'The first frame is a cursor.',
      [since, ...names],
    ),
    'x-frames': frameNames,
  },
  '/ws/inspect': socketOperation(
    '/ws/inspect',
    'inspect.watch',
    'every step of every actor, batched, resumable with `?since=<seq>`.',
    [since, ...names, tree, refusals],
  ),
  '/ws/stately': socketOperation(
    '/ws/stately',
    'inspect.watch',
    'the same in the frames of `@statelyai/inspect`, beginning with the first actors of every ' +
      'kind or the named ones, resumable with `?since=<seq>` of the last snapshot.',
    [since, ...names, first],
  ),
};
