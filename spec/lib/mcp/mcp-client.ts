import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** The official client, as an agent program holds it. */
export interface ToolBox {
  /** Names of the tools that are offered. */
  names(): Promise<string[]>;
  /** The answer as JSON; rejects with the text of a tool error. */
  // What a tool answers is for the spec to look into
  use(name: string, args?: Record<string, unknown>): Promise<any>;
  /** The text of the tool error; rejects when the call succeeds. */
  refusal(name: string, args?: Record<string, unknown>): Promise<string>;
  readonly client: Client;
  close(): Promise<void>;
}

export async function connectTools(port: number, token: string): Promise<ToolBox> {
  const client = new Client({ name: 'spec', version: '0' });
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport as never); // the client's own transport type disagrees with itself under exactOptionalPropertyTypes
  async function call(
    name: string,
    args: Record<string, unknown>,
  ): Promise<{ isError: boolean; text: string }> {
    const { isError, content } = await client.callTool({ name, arguments: args });
    return { isError: isError === true, text: (content as { text: string }[])[0]?.text ?? '' };
  }
  return {
    client,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    async use(name, args = {}) {
      const { isError, text } = await call(name, args);
      if (isError) throw new Error(`${name}: ${text}`);
      return JSON.parse(text);
    },
    async refusal(name, args = {}) {
      const { isError, text } = await call(name, args);
      if (!isError) throw new Error(`${name} was not refused: ${text.slice(0, 200)}`);
      return text;
    },
    close: () => client.close(),
  };
}
