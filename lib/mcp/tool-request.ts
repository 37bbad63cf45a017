import type { Tool } from './tool.js';
import { refuse, type Refusal } from '../../machines/refusals.js';

/** A tool call as a request to its route. */
export interface ToolRequest {
  readonly method: string;
  /** The route's own path, `/api/sessions/:id`. */
  readonly route: string;
  /** With the parameters in it. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Arguments → where the route reads them: path, query (of reads and of the members that the query knows) or
 * body. Types are for the route's schema to judge; here only what it would never see is refused.
 */
export function toolRequestOf(
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  options: { readonly self: string | undefined; readonly queryMembers: readonly string[] },
): ToolRequest | Refusal {
  const names = tool.args.filter(({ fixed }) => !fixed).map(({ name }) => name);
  const stray = Object.keys(given).find((name) => !names.includes(name));
  if (stray !== undefined)
    return refuse(
      'BAD_REQUEST',
      { path: stray },
      `${tool.name} has no argument "${stray}"; it takes ${names.join(', ') || 'none'}.`,
    );
  const params: Record<string, string> = {};
  const query: Record<string, string> = {};
  const body: Record<string, unknown> = {};
  if (tool.onSelf) {
    if (options.self === undefined)
      return refuse('FORBIDDEN', {}, `${tool.name} needs a calling session; this caller has none.`);
    params['id'] = options.self;
  }
  for (const { name, member, required, standard, fixed } of tool.args) {
    const value = fixed ? standard : (given[name] ?? standard);
    if (value === undefined && required) return refuse('BAD_REQUEST', { path: name }, `${name} is required`);
    if (value === undefined || member === null) continue;
    const inPath = tool.path.split('/').includes(`:${member}`);
    if (!inPath && tool.method !== 'GET' && !options.queryMembers.includes(member)) body[member] = value;
    else if (typeof value === 'object' || (inPath && (typeof value !== 'string' || value === '')))
      return refuse('BAD_REQUEST', { path: name }, `${name}: must be a string`);
    else (inPath ? params : query)[member] = String(value);
  }
  const path = tool.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return { method: tool.method, route: tool.path, path, params, query, body };
}
