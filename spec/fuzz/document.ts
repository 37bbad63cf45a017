import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** The gateway's own OpenAPI document, as far as a fuzzer needs it. */
export interface Operation {
  /** `GET /api/sessions/{id}` */
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly query: readonly { readonly name: string; readonly required: boolean; readonly schema: Schema }[];
  readonly body: Schema | undefined;
  readonly uploads: boolean;
  /** Kind of caller → `yes`, `policy`, or the code of the refusal. */
  readonly callers: Readonly<Record<string, string>>;
  /** Status → codes that the document names for it. */
  readonly codes: ReadonlyMap<number, ReadonlySet<string>>;
  readonly successes: ReadonlySet<number>;
  /** Says what is wrong with the body of a success, or nothing. */
  readonly faultOf: (status: number, body: unknown) => string | undefined;
}

export type Schema = Readonly<Record<string, unknown>>;

export interface Document {
  readonly operations: readonly Operation[];
  readonly sockets: readonly string[];
  /** Follows `$ref`. */
  readonly resolve: (schema: Schema) => Schema;
  /** Code → status, of the whole system. */
  readonly refusals: Readonly<Record<string, number>>;
}

interface Written {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly parameters?: readonly {
              readonly in: string;
              readonly name: string;
              readonly required: boolean;
              readonly schema: Schema;
            }[];
            readonly requestBody?: {
              readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
            };
            readonly responses: Readonly<
              Record<
                string,
                {
                  readonly 'x-codes'?: readonly string[];
                  readonly content?: Readonly<Record<string, unknown>>;
                }
              >
            >;
            readonly 'x-authority': { readonly callers: Readonly<Record<string, string>> };
          }
        >
      >
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly 'x-refusals': Readonly<Record<string, { readonly status: number }>>;
}

/** `readDocument(await (await fetch(url + '/api/openapi.json', …)).json())` */
export function readDocument(value: unknown): Document {
  const written = value as Written; // the gateway's own specs check its form
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  ajv.addSchema(written, 'document');
  const operations: Operation[] = [];
  const sockets: string[] = [];
  for (const [path, methods] of Object.entries(written.paths)) {
    for (const [method, each] of Object.entries(methods)) {
      if (path.startsWith('/ws')) sockets.push(path);
      else operations.push(operationOf(path, method, each, ajv));
    }
  }
  const resolve = (schema: Schema): Schema => {
    const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema['$ref'] ?? ''))?.[1];
    return name === undefined ? schema : resolve(written.components.schemas[name] ?? {});
  };
  return {
    operations,
    sockets,
    resolve,
    refusals: Object.fromEntries(
      Object.entries(written['x-refusals']).map(([code, { status }]) => [code, status]),
    ),
  };
}

function operationOf(
  path: string,
  method: string,
  each: Written['paths'][string][string],
  ajv: Ajv2020,
): Operation {
  const statuses = Object.keys(each.responses).map(Number);
  const validators = new Map<number, ValidateFunction>();
  const pointer = (...names: readonly string[]): string =>
    names.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
  for (const status of statuses.filter((one) => one < 300)) {
    if (each.responses[status]?.content?.['application/json'] === undefined) continue;
    validators.set(
      status,
      ajv.compile({
        $ref: `document#/${pointer('paths', path, method, 'responses', String(status), 'content', 'application/json', 'schema')}`,
      }),
    );
  }
  return {
    key: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    query: (each.parameters ?? []).filter((one) => one.in === 'query'),
    body: each.requestBody?.content['application/json']?.schema,
    uploads: each.requestBody?.content['multipart/form-data'] !== undefined,
    callers: each['x-authority'].callers,
    codes: new Map(statuses.map((status) => [status, new Set(each.responses[status]?.['x-codes'])])),
    successes: new Set(statuses.filter((status) => status < 300)),
    faultOf(status, body) {
      const validate = validators.get(status);
      if (!validate || validate(body)) return undefined;
      return (
        validate.errors
          ?.slice(0, 3)
          .map(({ instancePath, message }) => `${instancePath.replaceAll(/\/\d+/g, '/*')} ${message}`)
          .join('; ') ?? 'does not match'
      );
    },
  };
}
