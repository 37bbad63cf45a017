import { readdir, readFile, readlink } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type { TokenBook } from './authentication.js';

/**
 * Does an agent sit at the far end of a loopback connection? One that has read `gateway.json` shows the
 * operator's token, but Linux tells whose socket it is: a process that carries the token of a session in its
 * environment, or that descends from one. Asked once per connection, and only while agents work.
 */
export function agentProcesses(tokens: TokenBook & { readonly size?: number }) {
  const answered = new WeakMap<Socket, Promise<string | undefined>>();

  async function check(socket: Socket): Promise<string | undefined> {
    const inode = await inodeOf(socket);
    if (inode === undefined) return undefined;
    const processes = await Promise.all((await readdir('/proc')).filter(isPid).map(processOf));
    const known = new Map(processes.flatMap((found) => (found === undefined ? [] : [[found.pid, found]])));
    for (const { pid } of known.values()) {
      const session = sessionOf(pid, known);
      if (session !== undefined && (await holds(pid, inode))) return session;
    }
    return undefined;
  }

  function sessionOf(pid: string, known: ReadonlyMap<string, Known>): string | undefined {
    for (let at = known.get(pid), steps = 0; at !== undefined && steps < 64; steps += 1) {
      const session = at.token === undefined ? undefined : tokens.resolve(at.token);
      if (session !== undefined) return session;
      at = known.get(at.parent);
    }
    return undefined;
  }

  /** The session whose agent holds the other end; undefined for everyone else, and where the system tells nothing. */
  return (socket: Socket): Promise<string | undefined> => {
    if (process.platform !== 'linux' || tokens.size === 0) return Promise.resolve(undefined);
    const before = answered.get(socket);
    if (before !== undefined) return before;
    const answer = check(socket).catch(() => undefined);
    answered.set(socket, answer);
    return answer;
  };
}

interface Known {
  readonly pid: string;
  readonly parent: string;
  readonly token: string | undefined;
}

const isPid = (name: string): boolean => /^\d+$/.test(name);

async function processOf(pid: string): Promise<Known | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    // the name of a program may hold spaces and brackets: fields are counted from the last one
    const [, parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    const token = environment.split('\0').find((entry) => entry.startsWith(variable));
    return { pid, parent, token: token?.slice(variable.length) };
  } catch {
    return undefined; // gone in between
  }
}

const variable = 'SVC_GATEWAY_TOKEN=';

async function holds(pid: string, inode: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => []);
  const targets = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
  return targets.includes(`socket:[${inode}]`);
}

/** Of the client's end: the row whose local port is our remote one. */
async function inodeOf({ remotePort = 0, localPort = 0 }: Socket): Promise<string | undefined> {
  const hex = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const path of ['/proc/self/net/tcp', '/proc/self/net/tcp6']) {
    const table = await readFile(path, 'latin1').catch(() => '');
    for (const line of table.split('\n')) {
      const [, local, remote, , , , , , , inode] = line.trim().split(/\s+/);
      if (local?.endsWith(hex(remotePort)) === true && remote?.endsWith(hex(localPort)) === true)
        return inode;
    }
  }
  return undefined;
}
