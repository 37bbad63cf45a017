import type { Socket } from './connection.js';

export interface SocketOptions {
  /** Origin and path of the gateway of now, without a slash at the end. */
  readonly url: () => string;
  readonly token: () => string | undefined;
  /** Default: the one of the platform, else that of the package `ws`. */
  readonly WebSocket?: SocketClass;
}

type SocketClass = new (url: string, protocols: string[]) => Socket;

/**
 * `const connect = socketsOf({ url, token }); const socket = await connect('/ws')`. The token goes into the
 * subprotocol: no address ever holds it.
 */
export const socketsOf =
  ({ url, token, WebSocket }: SocketOptions): ((path: string) => Promise<Socket>) =>
  async (path) => {
    const bearer = token();
    const Class = WebSocket ?? (await platformSocket());
    const protocols = ['troupe', ...(bearer === undefined ? [] : [`bearer.${bearer}`])];
    return new Class(`${url().replace(/^http/, 'ws')}${path}`, protocols);
  };

/** Node 20 has none of its own. */
const platformSocket = async (): Promise<SocketClass> =>
  (globalThis as { readonly WebSocket?: SocketClass }).WebSocket ??
  ((await import('ws')).WebSocket as unknown as SocketClass);
