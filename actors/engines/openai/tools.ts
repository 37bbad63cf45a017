import type { McpEndpoint } from '../engine.js';

/**
 * The gateway's own tools for a model that runs in process. They are reached as any agent program reaches
 * them, over `/mcp` with the session's own token: the same routes, the same authority, and nothing of the
 * operator's, whatever the model asks for.
 */
export interface ToolBox {
  readonly offered: readonly OfferedTool[];
  /** What the gateway tells a model before its first call. */
  readonly instructions: string | undefined;
  /** The answer as text. A refusal is an answer too; rejects only when the turn ended. */
  call(
    name: string,
    input: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly text: string; readonly isError: boolean }>;
  close(): Promise<void>;
}

export interface OfferedTool {
  readonly name: string;
  readonly about: string;
  /** JSON Schema of its arguments. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** More than that endpoints refuse. */
const toolsMax = 128;
const callMs = 120_000;

const none: ToolBox = {
  offered: [],
  instructions: undefined,
  close: () => Promise.resolve(),
  call: (name) => Promise.resolve({ isError: true, text: `Unknown tool "${name}".` }),
};

/** `const tools = await openTools(request.mcp, ['who_am_i'], signal); … await tools.close()` */
export async function openTools(
  mcp: McpEndpoint | undefined,
  chosen: boolean | readonly string[] | undefined,
  signal: AbortSignal,
): Promise<ToolBox> {
  if (mcp === undefined) return none;
  const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ]);
  const client = new Client({ name: 'troupe', version: '1' });
  const url = new URL(mcp.url);
  // who names tools need not stop at those that its role is offered
  if (typeof chosen === 'object') url.searchParams.set('tools', 'all');
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { authorization: `Bearer ${mcp.token}` }, redirect: 'error' },
  });
  // The client's own type disagrees with itself under exactOptionalPropertyTypes
  await client.connect(transport as Parameters<typeof client.connect>[0], { signal });
  const { tools } = await client.listTools({}, { signal });
  const offered = tools
    .filter(({ name }) => typeof chosen !== 'object' || chosen.includes(name))
    .slice(0, toolsMax)
    .map(({ name, description, inputSchema }) => ({ name, about: description ?? name, schema: inputSchema }));
  return {
    offered,
    instructions: offered.length === 0 ? undefined : client.getInstructions(),
    async call(name, input) {
      if (!offered.some((tool) => tool.name === name))
        return {
          isError: true,
          text: `Unknown tool "${name}". Available: ${offered.map((tool) => tool.name).join(', ')}.`,
        };
      try {
        const { content, isError } = await client.callTool({ name, arguments: { ...input } }, undefined, {
          signal,
          timeout: callMs,
        });
        // Checked by the client
        const parts = content as readonly { readonly type: string; readonly text?: string }[];
        return {
          isError: isError === true,
          text: parts.map(({ text, type }) => text ?? `(${type})`).join('\n'),
        };
      } catch (error) {
        signal.throwIfAborted();
        return {
          isError: true,
          text: `The tool failed: ${error instanceof Error ? error.message : String(error)}`,
        };
      }
    },
    close: () => client.close().catch(() => undefined),
  };
}
