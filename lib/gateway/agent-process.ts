import { readFileSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { markAt } from '../../actors/engines/process/agent-mark.js';
import type { TokenBook } from './authentication.js';
import { clientEnds } from './origin.js';

/**
 * Does an agent sit at the far end of a loopback connection? One that has read `gateway.json` shows the
 * operator's token, but Linux tells whose socket it is: a process that carries the token of a session in its
 * environment, or that descends from one, or that carries the mark of an agent, which it keeps when it drops its
 * environment and its parents. Asked while agents work or may have left something behind; the answer holds for as long
 * as the connection.
 */
export function agentProcesses(tokens: TokenBook) {
  /** What is known of processes, by what changes when one becomes another. */
  let seen = new Map<string, Known>();
  /** Of so many turns nothing is left. */
  let settled = -1;

  const processes = fromNowOn(readProcesses);
  const connections = fromNowOn(readConnections);

  async function readProcesses(): Promise<Table> {
    const { size, minted = 0 } = tokens;
    const earlier = seen;
    const found = await Promise.all(
      (await readdir('/proc')).filter(isPid).map((pid) => processOf(pid, earlier)),
    );
    const known = found.filter((one) => one !== undefined);
    seen = new Map(known.flatMap((one) => (one.is === undefined ? [] : [[one.is, one]])));
    if (size === 0 && known.every(({ mark }) => mark === undefined)) settled = minted;
    return new Map(known.map((one) => [one.pid, one]));
  }

  async function check(socket: Socket): Promise<string | undefined> {
    const inode = inodeIn(await connections(), socket);
    if (inode === undefined) return undefined;
    const known = await processes();
    for (const { pid, mark } of known.values()) {
      const session = sessionOf(pid, known) ?? (mark === undefined ? undefined : sessionOfMark(mark));
      if (session !== undefined && (await holds(pid, inode))) return session;
    }
    return undefined;
  }

  const sessionOfMark = (mark: number): string => tokens.sessionOfMark?.(mark) ?? 'unknown';

  function sessionOf(pid: string, known: Table): string | undefined {
    for (let at = known.get(pid), steps = 0; at !== undefined && steps < 64; steps += 1) {
      const session = at.token === undefined ? undefined : tokens.resolve(at.token);
      if (session !== undefined) return session;
      at = known.get(at.parent);
    }
    return undefined;
  }

  /**
   * The session whose agent holds the other end, `unknown` for one of an earlier life of the gateway; undefined for
   * everyone else, and where the system does not say. Undefined at once: no agent can be there now, and one may later.
   */
  return (socket: Socket): Promise<string | undefined> | undefined => {
    const { mark } = clientEnds.get(socket) ?? {};
    if (mark !== undefined) return Promise.resolve(sessionOfMark(mark)); // seen by the standby that forwards it
    const isQuiet = tokens.size === 0 && settled === (tokens.minted ?? 0);
    return process.platform !== 'linux' || isQuiet ? undefined : check(socket).catch(() => undefined);
  };
}

type Table = ReadonlyMap<string, Known>;

interface Known {
  /** Its pid, its start and where its program and its environment lie; undefined where the system hides those. */
  readonly is: string | undefined;
  readonly pid: string;
  readonly parent: string;
  readonly token: string | undefined;
  readonly mark: number | undefined;
}

const isPid = (name: string): boolean => /^\d+$/.test(name);

async function processOf(pid: string, seen: ReadonlyMap<string, Known>): Promise<Known | undefined> {
  try {
    // At once: of hundreds each takes microseconds, and a way through the thread pool many times as long
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // the name of a program may hold spaces and brackets: fields are counted from the last one
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [, parent = ''] = fields;
    const is = identity(pid, fields);
    const before = is === undefined ? undefined : seen.get(is);
    if (before !== undefined) return before.parent === parent ? before : { ...before, parent };
    const [environment, mark] = await Promise.all([
      readFile(`/proc/${pid}/environ`, 'latin1').catch(() => undefined),
      markAt(pid),
    ]);
    const token = environment?.split('\0').find((entry) => entry.startsWith(variable));
    // What could not be read, for want of descriptors, is read again for the next connection
    return {
      is: environment === undefined || mark === undefined ? undefined : is,
      pid,
      parent,
      token: token?.slice(variable.length),
      mark: mark ?? undefined,
    };
  } catch {
    return undefined; // gone in between
  }
}

/**
 * A process that starts a program in its own place keeps pid and start: until then it is still the gateway's fork, with
 * the gateway's environment, and must not be remembered as that.
 */
function identity(pid: string, fields: readonly string[]): string | undefined {
  const [startTime, startCode, startStack] = [fields[19], fields[23], fields[25]];
  const places = fields.slice(42, 49); // start_data to env_end
  if (places.length < 7 || places.some((place) => place === '0')) return undefined;
  return [pid, startTime, startCode, startStack, ...places].join(' ');
}

const variable = 'SVC_GATEWAY_TOKEN=';

async function holds(pid: string, inode: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => []);
  const targets = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
  return targets.includes(`socket:[${inode}]`);
}

/**
 * Answers with what a reading finds that begins after it was asked: one on its way may have passed something by. A
 * browser opens six connections at once, and a busy client hundreds; all that come meanwhile share the next reading.
 */
function fromNowOn<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let latest: Promise<Value | undefined> = Promise.resolve(undefined);
  let next: Promise<Value> | undefined;
  return () =>
    (next ??= latest
      .catch(() => undefined)
      .then(() => {
        if (next !== undefined) latest = next;
        next = undefined;
        return read();
      }));
}

/** The system's tables of connections, one row each, for both families. */
async function readConnections(): Promise<string> {
  const tables = ['/proc/self/net/tcp', '/proc/self/net/tcp6'].map((path) =>
    readFile(path, 'latin1').catch(() => ''),
  );
  return (await Promise.all(tables)).join('');
}

/**
 * Of the client's end: the row whose local port is our remote one. Ten thousand rows are passed over, not taken apart.
 * @example inodeIn('  3: 0100007F:C350 0100007F:1CFC 01 00000000:00000000 00:00000000 00000000 0 0 81234', socket)
 */
export function inodeIn(
  table: string,
  { remotePort = 0, localPort = 0 }: Pick<Socket, 'remotePort' | 'localPort'>,
): string | undefined {
  const hex = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  const [client, ours] = [hex(remotePort), hex(localPort)];
  for (let at = table.indexOf(client); at >= 0; at = table.indexOf(client, at + 1)) {
    const end = table.indexOf('\n', at);
    const rest = table.slice(at + client.length, end < 0 ? undefined : end);
    const colon = rest.indexOf(':');
    if (rest.startsWith(ours, colon)) return rest.trim().split(/\s+/)[7];
  }
  return undefined;
}
