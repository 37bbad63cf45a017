import type { IncomingMessage } from 'node:http';

/**
 * Browsers cannot set headers on a WebSocket, and a credential does not belong into an address. So a page offers two
 * subprotocols, `troupe` and `bearer.<token>`: the second is read here as the Authorization header that it stands
 * for, and is never echoed, because the first one offered is the one that is chosen.
 */
export function readSocketBearer({ headers }: IncomingMessage): void {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const tokens = offered.filter((name) => name.startsWith(prefix));
  if (offered[0] !== 'troupe' || tokens.length !== 1 || headers.authorization !== undefined) return;
  headers.authorization = `Bearer ${tokens[0]?.slice(prefix.length)}`;
  headers['sec-websocket-protocol'] = 'troupe';
}

const prefix = 'bearer.';
