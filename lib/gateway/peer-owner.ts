import { readFile } from 'node:fs/promises';

/**
 * Does another user of this machine sit at the far end of a loopback connection? Linux tells whose each socket is. A
 * grant stands in the arguments of the program that opens the browser, for everybody on the machine to read: whoever
 * is faster than the browser must not be let in. Where the system does not tell, nobody is taken for a stranger; the
 * administrator (who may relay for the user) never is.
 */
export async function isStranger({ remotePort = 0, localPort = 0 }: Ends, own = process.getuid?.()): Promise<boolean> {
  if (own === undefined) return false;
  const tables = await Promise.all(['/proc/self/net/tcp', '/proc/self/net/tcp6'].map((path) => readFile(path, 'latin1').catch(() => '')));
  return tables.flatMap((table) => ownersOf(table, remotePort, localPort)).some((uid) => uid !== own && uid !== 0);
}

/** Of a socket of ours. */
interface Ends { readonly remotePort?: number | undefined; readonly localPort?: number | undefined }

/** The users whose sockets lead from one port to another: `  1: 0100007F:A505 0100007F:1CFC 01 …:… …:… …  1000 …`. */
export function ownersOf(table: string, fromPort: number, toPort: number): readonly number[] {
  const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');
  const [from, to] = [`:${hex(fromPort)}`, `:${hex(toPort)}`];
  return table.split('\n').map((line) => line.trim().split(/\s+/)).filter(([, local, remote]) => local?.endsWith(from) === true && remote?.endsWith(to) === true).map((fields) => Number(fields[7]));
}
