import { z } from 'zod';
import { answererOf } from '../router.js';
import { callerKinds, verdict, type AuthorityId } from '../authorization.js';
import { expectedRefusal } from '../errors.js';
import { judgeJson } from '../parse.js';
import { route, type HttpRequest, type Route } from '../route.js';
import type { App } from '../../commands/app.js';
import type { Reply } from '../../commands/request.js';
import type { ToolRole } from '../../home/agent-settings.js';
import type { ToolBackend } from '../../mcp/endpoint.js';
import { stepTool, toolsOf } from '../../mcp/tool-sets.js';
import { refuse } from '../../../machines/refusals.js';

/**
 * `POST /mcp`: the routes as typed tools. GET and DELETE are 405: there is no stream to listen to and no MCP
 * session to end, which clients of the protocol take for an answer.
 */
export function mcpRoutes(routes: () => readonly Route[], version: string): readonly Route[] {
  return [
    route(
      'POST',
      '/mcp',
      'mcp.call',
      {
        about:
          'Model Context Protocol, streamable HTTP: one JSON-RPC message, answered as JSON. The ' +
          'tools are these routes, with the same authority and refusals.',
        query: z.object({
          tools: z
            .literal('all')
            .optional()
            .describe(
              "An agent's list holds the tools of its role; with `all`, every tool that it may call.",
            ),
        }),
        body: z.looseObject({
          jsonrpc: z.literal('2.0'),
          method: z.string().optional(),
          id: z.unknown().optional(),
        }),
        answer: z.looseObject({}),
        contentType: 'application/json; charset=utf-8',
      },
      async (request): Promise<Reply> => {
        // Loaded by the first call: the SDK and its validator are a quarter of all modules
        const { answerMcp } = await import('../../mcp/endpoint.js');
        const { method, params } = request.body;
        const tool = (params as { readonly name?: unknown } | undefined)?.name;
        if (method === 'tools/call' && typeof tool === 'string') request.app.noteTool?.(tool.slice(0, 100));
        const { status, text } = await answerMcp(
          { message: request.body, protocolVersion: request.header('mcp-protocol-version'), version },
          toolBackend(request, routes()),
        );
        return { status, body: text };
      },
    ),
  ];
}

/** The routes as one caller meets them. */
function toolBackend(
  request: HttpRequest<unknown, { readonly tools?: 'all' | undefined }>,
  routes: readonly Route[],
): ToolBackend {
  const { app, caller: by, header, client } = request;
  const isAgent = by.type === 'session';
  const find = (method: string, path: string): Route | undefined => {
    const found = routes.find((each) => each.method === method && each.path === path);
    return found && (!isAgent || agentsMay(found.authority)) ? found : undefined;
  };
  return {
    self: isAgent ? by.id : undefined,
    offered: async () => (isAgent && request.query.tools !== 'all' ? offeredTo(app, by.id) : undefined),
    find: (method, path) => find(method, path)?.schema,
    async ask({ method, route: path, path: asked, params, query, body }) {
      const found = find(method, path);
      if (!found) return refuse('NOT_FOUND', {}, 'Not found');
      const answer = answererOf(app, found, { openReads: false });
      try {
        return await answer({
          identity: { type: 'authenticated', caller: by },
          client,
          params,
          query,
          path: asked,
          body: async (limits) => judgeJson(body, limits) ?? body,
          header: (name) => (name === 'traceparent' ? header(name) : undefined),
        });
      } catch (error) {
        const expected = expectedRefusal(error);
        if (expected) return expected;
        const faultId = app.supervisor.environment.ids.next();
        app.supervisor.environment.log.error(
          { faultId, method, path: asked, err: error },
          'a tool call failed',
        );
        return { faultId };
      }
    },
  };
}

/** The tools of a session's role, unless its employee's file, its engine's settings or `agents.tools` name others. */
async function offeredTo(app: App, sessionId: string): Promise<ReadonlySet<string> | undefined> {
  const session = await app.supervisor.get('session', sessionId);
  const employees = app.roster?.()?.employees ?? [];
  const employee = employees.find(({ name }) => name === session?.view.employee);
  const role = roleOf(session?.view, employee);
  const { agentTools, engineTools } = app.settings;
  const ofEngine = engineTools?.[session?.view.engine ?? ''];
  const chosen = toolsOf(employee?.tools ?? ofEngine ?? agentTools?.[role] ?? role);
  return chosen && session?.view.source === 'workflow' ? new Set([...chosen, stepTool]) : chosen;
}

/** A review is one, also by a manager; a manager who works on an item is still a manager. */
function roleOf(
  session: { readonly source: string; readonly engine: string } | undefined,
  employee: { readonly rank?: string } | undefined,
): ToolRole {
  if (session?.source === 'review') return 'reviewer';
  if (session?.engine === 'clerk') return 'clerk';
  return employee?.rank === 'manager' || employee?.rank === 'executive' ? 'manager' : 'employee';
}

/** True when some agent might be let through. */
const agentsMay = (id: AuthorityId): boolean =>
  callerKinds.slice(4).some((kind) => ['yes', 'policy'].includes(verdict(id, kind)));
