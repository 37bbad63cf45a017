import { readFileSync, readlinkSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { isIPv4, isIPv6, type Socket } from 'node:net';
import { endianness } from 'node:os';
import { markAt } from '../../actors/engines/process/agent-mark.js';
import { ownAddresses } from '../records/fetch/addresses.js';
import { goneClient, type TokenBook } from './authentication.js';
import { addressOf, clientEnds, isLoopback } from './origin.js';

/**
 * Does an agent sit at the far end of a loopback connection? One that has read `gateway.json` shows the
 * operator's token, but Linux tells whose socket it is: a process that carries the token of a session in its
 * environment, or that descends from one, or that carries the mark of an agent, which it keeps when it drops its
 * environment and its parents. Asked while agents work or may have left something behind; the answer holds for as long
 * as the connection.
 */
export function agentProcesses(tokens: TokenBook) {
  /** Of so many turns nothing is left. */
  let settled = -1;

  async function check(socket: Socket): Promise<string | undefined> {
    if (!isOfHere(socket)) return undefined;
    const inode = await inodeOf(socket);
    const { size, minted = 0 } = tokens;
    const known = await processes();
    const all = [...known.values()];
    if (size === 0 && all.every(({ mark }) => mark === undefined)) settled = minted;
    // One that came through a standby, which knew it, may be of another machine
    const gone = clientEnds.has(socket) ? undefined : goneClient;
    // Also where nothing is left of agents by now: it may have been the last one
    if (inode === undefined || inode === closed) return inode && gone;
    for (const { pid, mark } of all) {
      const session = sessionOf(pid, known) ?? (mark === undefined ? undefined : sessionOfMark(mark));
      if (session !== undefined && (await holds(pid, inode))) return session;
    }
    // Held by no agent while it was held at all
    return (await inodeOf(socket)) === inode ? undefined : gone;
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
   * The session whose agent holds the other end, `unknown` for one of an earlier life of the gateway, `goneClient`
   * where no one holds it any more; undefined for everyone else, and where the system does not say. Undefined at once:
   * no agent can be there now, and one may later.
   */
  return (socket: Socket): Promise<string | undefined> | undefined => {
    const { mark } = clientEnds.get(socket) ?? {};
    if (mark !== undefined) return Promise.resolve(sessionOfMark(mark)); // seen by the standby that forwards it
    const isQuiet = tokens.size === 0 && settled === (tokens.minted ?? 0);
    return process.platform !== 'linux' || isQuiet ? undefined : check(socket).catch(() => undefined);
  };
}

/** What has no address is closed already. */
function isOfHere(socket: Socket): boolean {
  const address = addressOf(socket)?.replace(/%.*$/, ''); // an interface is named behind what is local to it
  return address === undefined || isLoopback(address) || ownAddresses().includes(address);
}

/** What is known of processes, by what changes when one becomes another. */
let seen = new Map<string, Known>();

const processes = fromNowOn(async (): Promise<Table> => {
  const earlier = seen;
  const found = await Promise.all(
    (await readdir('/proc')).filter(isPid).map((pid) => processOf(pid, earlier)),
  );
  const known = found.filter((one) => one !== undefined);
  seen = new Map(known.flatMap((one) => (one.is === undefined ? [] : [[one.is, one]])));
  return new Map(known.map((one) => [one.pid, one]));
});

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
    const [state, parent = ''] = fields;
    // On a desktop half of all are the kernel's own, which start no programs
    if ((Number(fields[6]) & kernelThread) !== 0) return undefined;
    // The others may go on where the first thread has ended; what that one had, the system shows of them alone
    const isHeadless = state === 'Z';
    if (isHeadless && Number(fields[17]) < 2) return undefined;
    const is = identity(pid, fields);
    const before = is === undefined ? undefined : seen.get(is);
    if (before !== undefined) return before.parent === parent ? before : { ...before, parent };
    const [thread = pid] = isHeadless ? (await threadsOf(pid)).filter((one) => one !== pid) : [];
    const [environment, mark] = await Promise.all([
      readFile(`/proc/${pid}/task/${thread}/environ`, 'latin1').catch(() => undefined),
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
/** PF_KTHREAD of Linux. */
const kernelThread = 0x200000;

/** Of any thread of it: one may have files of its own. */
async function holds(pid: string, inode: string): Promise<boolean> {
  for (const thread of await threadsOf(pid)) {
    const folder = `/proc/${pid}/task/${thread}/fd`;
    const names = await readdir(folder).catch(() => []);
    if (names.some((name) => linkAt(`${folder}/${name}`) === `socket:[${inode}]`)) return true;
  }
  return false;
}

const threadsOf = (pid: string): Promise<readonly string[]> => readdir(`/proc/${pid}/task`).catch(() => []);

/** At once: there are tens in each thread of an agent, and a way through the thread pool takes ten times as long. */
function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // closed in between
  }
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

/**
 * By which the system knows the client's end of a connection, or `closed`; undefined where it does not say. A client
 * may speak the newer protocol where the gateway hears the older one. Rows that come and go while a table is read push
 * one out of its sight now and then: it is there the next time.
 */
async function inodeOf(socket: Socket): Promise<string | undefined> {
  for (const table of [connections, connections6, connections, connections6]) {
    const inode = inodeIn(await table(), socket);
    if (inode !== undefined) return inode;
  }
  const tables = `${await connections()}${await connections6()}`;
  // Our own listener, at least, is in a table that can be read
  return redirectedIn(tables, socket) ?? (/^ *\d+: /m.test(tables) ? closed : undefined);
}

const closed = '0';

const tableAt = (path: string) => fromNowOn(() => readFile(path, 'latin1').catch(() => ''));
const [connections, connections6] = [tableAt('/proc/self/net/tcp'), tableAt('/proc/self/net/tcp6')];

/** Of a connection, as the gateway's end sees it. */
interface Ends extends Pick<Socket, 'remoteAddress' | 'remotePort' | 'localPort'> {
  /** Absent: of a standby that did not say it. */
  readonly localAddress?: string | undefined;
}

/**
 * Of the client's end: the row that leads from our far end to our near one, addresses and all: one port may be that of
 * several connections, of which an agent's is one. Ten thousand rows are passed over, not taken apart.
 * @example inodeIn('  3: 0100007F:C350 0100007F:1CFC 01 00000000:00000000 00:00000000 00000000 0 0 81234', socket)
 */
export function inodeIn(table: string, ends: Ends): string | undefined {
  const near = ends.localAddress === undefined ? undefined : spelled(ends.localAddress);
  const ours = portOf(ends.localPort);
  const found = rowsFrom(table, ends).find((row) => {
    const [address = ''] = row.split(':', 1);
    return (near?.includes(address) ?? true) && row.startsWith(ours, address.length);
  });
  return found && inodeAt(found);
}

/** Where what goes to one port is led to another (NAT), the client's row names that one. */
export const redirectedIn = (table: string, ends: Ends): string | undefined =>
  rowsFrom(table, ends)
    .map(inodeAt)
    .find((inode) => inode !== closed);

/** What follows our far end in the rows that begin there. */
function rowsFrom(table: string, { remoteAddress = '', remotePort }: Ends): readonly string[] {
  return spelled(remoteAddress).flatMap((client) => {
    const begin = `: ${client}${portOf(remotePort)}`;
    const rows: string[] = [];
    for (let at = table.indexOf(begin); at >= 0; at = table.indexOf(begin, at + 1)) {
      const end = table.indexOf('\n', at);
      rows.push(table.slice(at + begin.length, end < 0 ? undefined : end));
    }
    return rows;
  });
}

const portOf = (port = 0): string => `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
const inodeAt = (rest: string): string | undefined => rest.trim().split(/\s+/)[7];

/** As the tables spell an address, in words of four bytes as this machine keeps them; the older ones in both tables. */
function spelled(address: string): readonly string[] {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*$/, '');
  if (isIPv4(plain)) {
    const bytes = plain.split('.').map(Number);
    return [wordsOf(bytes), wordsOf([...Array<number>(10).fill(0), 255, 255, ...bytes])];
  }
  if (!isIPv6(plain)) return [];
  const [head = [], tail = []] = plain.split('::').map((part) => part.split(':').filter((one) => one !== ''));
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return [wordsOf(groups.map((one) => parseInt(one, 16)).flatMap((one) => [one >> 8, one & 255]))];
}

function wordsOf(bytes: readonly number[]): string {
  const words = Buffer.from(bytes);
  return (endianness() === 'LE' ? words.swap32() : words).toString('hex').toUpperCase();
}
