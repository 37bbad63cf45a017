import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
  type Tool as Listing,
} from '@modelcontextprotocol/sdk/types.js';
import { findTools, searchListings } from './find-tools.js';
import { withRemedy } from './remedy.js';
import { toolRequestOf, type ToolRequest } from './tool-request.js';
import { inputSchema, queryMembersOf, type Reads } from './schema.js';
import type { Tool } from './tool.js';
import { tools } from './tools.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/** What stands behind the tools, for one caller. */
export interface ToolBackend {
  /** What the route reads; undefined when there is none, or it is closed to this caller whatever is asked. */
  find(method: string, path: string): Reads | undefined;
  /**
   * The body of the route's answer, or its refusal, or the id under which the log tells of a fault of ours.
   * Must not reject.
   */
  ask(request: ToolRequest): Promise<{ readonly body: unknown } | { readonly faultId: string } | Refusal>;
  /** The calling session; undefined for a person. */
  readonly self: string | undefined;
  /** The tools in the caller's list, by name; undefined: all; without one, none, nor those that find others. */
  offered(): Promise<ReadonlySet<string> | undefined>;
}

/** One message of a client, already parsed and its sender known. */
export interface Incoming {
  readonly message: unknown;
  /** `MCP-Protocol-Version`, where the client sends it. */
  readonly protocolVersion?: string | undefined;
  readonly version: string;
}

/**
 * The MCP endpoint: typed tools over streamable HTTP. Every request is a server of its own and is answered as
 * JSON, so that it stands or falls with the credential it came with: no MCP session can outlive a token.
 * @example const {status, text} = await answerMcp({message, version}, backend)
 */
export async function answerMcp(
  incoming: Incoming,
  backend: ToolBackend,
): Promise<{ readonly status: number; readonly text: string }> {
  const server = new Server(
    { name: 'troupe', version: incoming.version },
    { capabilities: { tools: {} }, instructions },
  );
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: await listed(backend) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    call(backend, params.name, params.arguments ?? {}),
  );
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(incoming.protocolVersion !== undefined && { 'mcp-protocol-version': incoming.protocolVersion }),
    };
    const answer = await transport.handleRequest(
      new Request('http://localhost/mcp', { method: 'POST', headers }),
      { parsedBody: incoming.message },
    );
    return { status: answer.status, text: await answer.text() };
  } finally {
    await server.close();
  }
}

/** Read by the model before its first call. */
const instructions = [
  "These tools act in your company's gateway, as your own session. Start with who_am_i.",
  'Track work that others should see as a work item: change its status with update_work_item, ' +
    'and call what_next when you are unsure what is possible.',
  'Delegate with delegate_task; you are notified once when it is finished, so do not poll.',
  'A refused call says why and what to do instead. Do that; do not try to bypass it.',
  'A tool that is not in your list: find_tools describes it, use_tool calls it.',
].join('\n');

interface Offer {
  readonly tool: Tool;
  readonly reads: Reads;
}

/** What this caller's model is shown of all that it may call. */
async function listed(backend: ToolBackend): Promise<Listing[]> {
  const all = callable(backend).map(listing);
  const chosen = await backend.offered();
  if (chosen === undefined) return all;
  return chosen.size === 0 ? [] : [...all.filter(({ name }) => chosen.has(name)), ...searchListings];
}

function callable(backend: ToolBackend): Offer[] {
  return tools.flatMap((tool) => {
    const reads =
      tool.onSelf && backend.self === undefined ? undefined : backend.find(tool.method, tool.path);
    return reads ? [{ tool, reads }] : [];
  });
}

/** Schemas are made once: routes do not change while a gateway runs. */
const listings = new WeakMap<Reads, Map<string, Listing>>();

function listing({ tool, reads }: Offer): Listing {
  const known = listings.get(reads) ?? new Map<string, Listing>();
  listings.set(reads, known);
  const made = known.get(tool.name) ?? {
    name: tool.name,
    description: tool.about,
    inputSchema: inputSchema(tool, reads),
    annotations: { readOnlyHint: tool.method === 'GET' },
  };
  known.set(tool.name, made);
  return made;
}

type Arguments = Readonly<Record<string, unknown>>;

/** A tool, or one of the two through which the others are reached. */
async function call(backend: ToolBackend, name: string, args: Arguments): Promise<CallToolResult> {
  if (name === 'find_tools') {
    const { query = '' } = args;
    if (typeof query !== 'string') return refused(mustBe('query', 'a string'));
    return said(JSON.stringify(findTools(callable(backend).map(listing), query)));
  }
  if (name !== 'use_tool') return callRoute(backend, name, args);
  const { name: wanted, arguments: given = {} } = args;
  if (typeof wanted !== 'string') return refused(mustBe('name', 'a string'));
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return refused(mustBe('arguments', 'an object'));
  return callRoute(backend, wanted, given as Arguments);
}

const mustBe = (path: string, what: string): Refusal =>
  refuse('BAD_REQUEST', { path }, `${path}: must be ${what}`);

async function callRoute(backend: ToolBackend, name: string, args: Arguments): Promise<CallToolResult> {
  const offer = callable(backend).find(({ tool }) => tool.name === name);
  if (!offer) return refused(refuse('NOT_FOUND', { tool: name }, `Unknown tool "${name}".`));
  const request = toolRequestOf(offer.tool, args, {
    self: backend.self,
    queryMembers: queryMembersOf(offer.reads),
  });
  const answer = isRefusal(request) ? request : await backend.ask(request);
  if (isRefusal(answer)) return refused(answer);
  if ('faultId' in answer)
    return failed(
      `Internal error; see ${answer.faultId} in the gateway's log. Continue with other work and ` +
        'mention it in your answer.',
    );
  return said(JSON.stringify(offer.tool.show ? offer.tool.show(answer.body, args) : answer.body));
}

const said = (text: string): CallToolResult => ({
  content: [
    {
      type: 'text',
      text:
        text.length > textMax ? `${text.slice(0, textMax)}\n… truncated; request less (limit, last).` : text,
    },
  ],
});

/** A model's window is small; an answer must not fill it. */
const textMax = 200_000;

const failed = (text: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text }] });
const refused = (refusal: Refusal): CallToolResult => failed(withRemedy(refusal));
