import type { Ask } from './ask.js';
import type { Document, Operation } from './document.js';
import type { Answer } from './wire.js';

/** What an answer must never be, whatever was asked. */
export interface Fault {
  /** Same key, same fault: it is reported once. */
  readonly key: string;
  readonly detail: string;
}

export interface Judge {
  faultsOf(ask: Ask, answer: Answer): Fault[];
  /** The operation that the request meets, if it still is one. */
  operationOf(ask: Ask): Operation | undefined;
}

/**
 * `secrets` never stand in an answer, `install` and `home` not in a refusal, unless the request said them.
 */
export function judgeOf(
  document: Document,
  places: { readonly secrets: () => readonly string[]; readonly home: string; readonly install: string },
): Judge {
  const patterns = document.operations.map((operation) => ({
    operation,
    pattern: new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}/?$`),
  }));
  const exact = new Map(document.operations.map((operation) => [operation.key, operation]));

  function operationOf(ask: Ask): Operation | undefined {
    const own = exact.get(ask.operation);
    const path = ask.path.split(/[?#]/, 1)[0] ?? '';
    const fits = patterns.filter(
      ({ operation, pattern }) => operation.method === ask.method && pattern.test(path),
    );
    const literal = fits.sort(
      (a, b) => a.operation.path.split('{').length - b.operation.path.split('{').length,
    )[0]?.operation;
    return fits.some(({ operation }) => operation === own) &&
      literal?.path.split('{').length === own?.path.split('{').length
      ? own
      : literal;
  }

  function faultsOf(ask: Ask, answer: Answer): Fault[] {
    const { status } = answer;
    const found: Fault[] = [];
    const operation = operationOf(ask);
    const where = operation?.key ?? `${ask.method} elsewhere`;
    const text = answer.body.toString('utf8');
    const fault = (kind: string, detail = text.slice(0, 300)): void =>
      void found.push({ key: `${kind}: ${where}`, detail: `${status} ${detail}` });
    if (answer.hung) return [{ key: `hung: ${where}`, detail: 'no complete answer in 20 s' }];
    if (status === 0) return ask.rude ? [] : [{ key: `cut: ${where}`, detail: 'closed without an answer' }];
    const body = jsonOf(answer, text);
    const code = (body as { code?: unknown } | undefined)?.code;
    if (
      status >= 500 &&
      !(typeof code === 'string' && [502, 503, 507].includes(status) && document.refusals[code] === status)
    )
      fault(`answers ${status}`);
    if (status >= 400 && ask.method !== 'HEAD') {
      const { error } = (body ?? {}) as { error?: unknown };
      // Refused in the words of its own protocol
      if (operation?.path === '/mcp' && text.startsWith('{"jsonrpc":')) return found;
      if (typeof error !== 'string' || typeof code !== 'string') fault('refusal without error and code');
      else if (document.refusals[code] === undefined && code !== 'INTERNAL') fault(`unknown code ${code}`);
      else if (operation && status < 500 && !generic.has(code) && !operation.codes.get(status)?.has(code))
        fault(`undocumented ${code}`);
      if ((text.includes(places.install) || text.includes(places.home)) && !saidIt(ask, places.home))
        fault('path of the server in a refusal');
    }
    // A program names the errors that it catches
    if (stack.test(text) && !/^GET (?:\/api\/(?:openapi|inspect)|\/push-worker\.js)/.test(where))
      fault('stack trace', stack.exec(text)?.[0]);
    if (text.includes(places.install)) fault('path of the program');
    for (const secret of places.secrets())
      if (text.includes(secret) && !saidIt(ask, secret)) fault('secret in an answer');
    if (status >= 200 && status < 300 && operation) {
      if (!allowed(operation, ask)) fault(`let in ${ask.caller}`);
      const wrong = body === undefined || text.length > 200_000 ? undefined : operation.faultOf(status, body);
      if (wrong !== undefined && !ask.query.some((pair) => pair.startsWith('dryRun')))
        fault(`not its schema (${wrong})`);
    }
    return found;
  }

  return { faultsOf, operationOf };
}

/** Codes that any route may answer with, before it is known which it is. */
const generic: ReadonlySet<string> = new Set([
  'BAD_REQUEST',
  'UNAUTHENTICATED',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'HOST_REFUSED',
  'ORIGIN_REFUSED',
  'CROSS_SITE_REFUSED',
  'DRAINING',
  'INTERNAL',
  'FORBIDDEN',
  'EXPECTATION_FAILED',
  'HEADERS_TOO_LARGE',
  'REQUEST_TIMEOUT',
]);
const stack =
  /\n\s+at [^\n]{3,}|node:internal\/|[\w-]+\.[jt]s:\d+:\d+|\bENOENT\b|\bEACCES\b|(?:Type|Reference|Range|Syntax)Error\b/;

/**
 * Who shows no credential, or a wrong one, gets in only where the table says so; agents not where all are
 * refused.
 */
function allowed({ callers }: Operation, { caller, spoiled }: Ask): boolean {
  const yes = (kind: string): boolean => ['yes', 'policy'].includes(callers[kind] ?? 'yes');
  if (spoiled.some((way) => /^(?:x-svc|Cookie)/.test(way))) return true; // no longer the caller that it was
  if (caller === 'none') return yes('none');
  if (caller === 'bad' || caller === 'odd') return yes('bad') || yes('none');
  if (caller === 'browser') return yes('device');
  return caller === 'operator' || ['self', 'above', 'below', 'outsider'].some(yes);
}

const saidIt = (ask: Ask, text: string): boolean =>
  ask.body?.includes(text) === true ||
  [ask.path, ...ask.query].some((part) => part.includes(text) || part.includes(encodeURIComponent(text)));

function jsonOf(answer: Answer, text: string): unknown {
  if (answer.headers['content-type']?.startsWith('application/json') !== true || text === '')
    return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
