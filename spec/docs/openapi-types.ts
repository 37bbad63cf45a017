import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { openapi } from '../../lib/gateway/openapi.js';
import { root } from '../house/sources.js';
import { allRoutes } from './made.js';

interface Operation {
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: Readonly<Record<string, Response>>;
  readonly 'x-frames'?: Readonly<Record<string, string>>;
}
interface Response {
  readonly description: string;
  readonly content?: unknown;
  readonly 'x-codes'?: readonly string[];
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export const apiTypesFile = 'lib/client/api.ts';

/** The types of `troupe/client`, made from the OpenAPI document: `npm run docs` writes them. */
export async function apiTypes(): Promise<string> {
  const document = openapi(await allRoutes(), '0') as unknown as Document;
  const { '/ws': feed, ...others } = document.paths;
  const paths = Object.fromEntries(
    Object.entries(others)
      .filter(([path]) => !path.startsWith('/ws'))
      .map(([path, methods]) => [
        path,
        Object.fromEntries(
          Object.entries(methods).map(([method, operation]) => [method, shortened(operation)]),
        ),
      ]),
  );
  const frames = feed?.['get']?.['x-frames'] ?? {};
  const keyed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { parameters = [] }]) => parameters.some(({ name }) => name === 'Idempotency-Key'))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
  return [
    await generate({ ...document, paths }),
    '/** What `GET /ws` announces. */',
    `export type EventName = ${Object.keys(frames)
      .map((name) => `'${name}'`)
      .join(' | ')};`,
    '',
    '/** Operations that an idempotency key makes safe to repeat. */',
    `export const keyedOperations: ReadonlySet<string> = new Set(${JSON.stringify(keyed, null, 2)});`,
    '',
  ].join('\n');
}

/** All refusals of an operation as one response: a client tells them apart by their codes, not by their status. */
function shortened(operation: Operation): Operation {
  const entries = Object.entries(operation.responses);
  const codes = entries.flatMap(([, response]) => response['x-codes'] ?? []);
  return {
    ...operation,
    responses: {
      ...Object.fromEntries(entries.filter(([, response]) => response['x-codes'] === undefined)),
      default: {
        description: 'Refused.',
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['error', 'code'],
              properties: { error: { type: 'string' }, code: { type: 'string', enum: codes } },
              additionalProperties: true,
            },
          },
        },
      },
    },
  };
}

/** By openapi-typescript, in a process of its own: it needs another TypeScript than the one that builds. */
async function generate(document: unknown): Promise<string> {
  const child = spawn(process.execPath, [join(root, 'generators/openapi-types.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(document));
  const [types, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number]>]);
  if (code !== 0) throw new Error(`openapi-typescript ended with ${code}; npm ci installs it.`);
  return types;
}
