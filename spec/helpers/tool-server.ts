import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A small MCP server with one tool, `list_todos`, that answers only to its bearer: what an engine is given as
 * `request.mcp`.
 */
export interface ToolServer {
  readonly url: string;
  readonly token: string;
  /** Tool calls that were answered. */
  readonly calls: readonly string[];
  close(): Promise<void>;
}

/** `const tools = await startToolServer('secret'); … await tools.close()` */
export async function startToolServer(token: string): Promise<ToolServer> {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.authorization !== `Bearer ${token}`)
      return void response
        .writeHead(401, { 'content-type': 'application/json' })
        .end('{"error":"who are you?"}');
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const mcp = new McpServer({ name: 'todos', version: '1.0.0' });
    mcp.registerTool('list_todos', { description: 'All todos' }, () => {
      calls.push('list_todos');
      return { content: [{ type: 'text', text: 'todo one, todo two' }] };
    });
    // Stateless: each request stands for itself
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    response.on('close', () => void mcp.close());
    await mcp.connect(transport as Parameters<typeof mcp.connect>[0]);
    await transport.handleRequest(request, response);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    token,
    calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
