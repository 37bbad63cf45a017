import { createSocket } from 'node:dgram';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import { outputOf } from '../../../actors/start-program.js';
import { linkOf, type Link } from './chain.js';

/** A line of the audit log as it was written, with its number. */
export interface ShippedLine {
  readonly n: number;
  readonly text: string;
}

/** Where the audit log is passed on to. */
export interface AuditTarget {
  /** Names it in the record of what was passed on. */
  readonly name: string;
  /** The last line that it holds; undefined where it cannot say, or holds none. */
  held(): Promise<Link | undefined>;
  /** Resolves when it has them all; rejects where it may have some of them or none. */
  send(lines: readonly ShippedLine[]): Promise<void>;
}

/** Section `audit` of config.yaml. */
export interface AuditSettings {
  readonly file: string | null;
  readonly syslog: string | null;
  readonly command: readonly string[] | null;
}

export const auditTargets = ({ file, syslog, command }: AuditSettings): readonly AuditTarget[] => [
  ...(file === null ? [] : [fileTarget(file)]),
  ...(syslog === null ? [] : [syslogTarget(new URL(syslog))]),
  ...(command === null ? [] : [commandTarget(command)]),
];

/**
 * Appended and on disk before it counts. The file says itself how far it came, so each line is in it once, also after
 * a crash between its write and ours. Who rotates it may begin an empty one at any time.
 */
function fileTarget(path: string): AuditTarget {
  async function opened<Result>(use: (file: FileHandle, bytes: number) => Promise<Result>): Promise<Result> {
    // A link put in its place must not make us write elsewhere, nor a pipe hold us
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = await open(path, flags, 0o600);
    try {
      const facts = await file.stat();
      if (!facts.isFile()) throw new Error(`${path} is not a file.`);
      return await use(file, facts.size);
    } finally {
      await file.close();
    }
  }
  const foreign = (): Error => new Error(`${path} ends with something else than our audit log.`);
  /** The last whole line, and where it ends. Behind it may be what a crash left of a line; of nothing else. */
  async function endOf(file: FileHandle, size: number): Promise<{ end: number; last: Link | undefined }> {
    const from = Math.max(0, size - lineBytesMax);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    const tail = buffer.subarray(0, bytesRead);
    const end = tail.lastIndexOf(0x0a) + 1;
    const rest = tail.toString('utf8', end, end + lineBegins.length);
    if ((end === 0 && from > 0) || !lineBegins.startsWith(rest)) throw foreign();
    if (end === 0) return { end, last: undefined };
    const start = tail.lastIndexOf(0x0a, end - 2) + 1;
    const last = linkOf(tail.toString('utf8', start, end - 1));
    if (typeof last === 'string') throw foreign();
    return { end: from + end, last };
  }
  return {
    name: `file:${path}`,
    held: () => opened(async (file, size) => (await endOf(file, size)).last),
    send: (lines) =>
      opened(async (file, size) => {
        const { end } = await endOf(file, size);
        if (end < size) await file.truncate(end); // half a line that a crash left
        const bytes = Buffer.from(lines.map(({ text }) => `${text}\n`).join(''));
        const { bytesWritten } = await file.write(bytes, 0, bytes.length, end);
        if (bytesWritten < bytes.length) throw new Error(`${path} took a part of what was written.`);
        await file.datasync();
      }),
  };
}

const lineBegins = '{"n":';

/** RFC 5424: facility 13 (log audit), severity notice. TCP counts octets (RFC 6587). */
function syslogTarget({ protocol, hostname: host, port, href }: URL): AuditTarget {
  const at = { host: host.replace(/^\[|\]$/g, ''), port: Number(port || 514) };
  const message = ({ text }: ShippedLine): Buffer => {
    const when = (JSON.parse(text) as { at?: string }).at ?? '-';
    return Buffer.from(`<109>1 ${when} ${hostname()} troupe ${process.pid} audit - ${text}`);
  };
  return {
    name: `syslog:${href}`,
    held: () => Promise.resolve(undefined),
    async send(lines) {
      if (protocol === 'udp:') return sendDatagrams(at, lines.map(message));
      const frames = lines.map(message).map((one) => Buffer.concat([Buffer.from(`${one.length} `), one]));
      const socket = connect(at);
      socket.setTimeout(sendMs, () => socket.destroy(new Error('the syslog server does not take lines')));
      let timer: NodeJS.Timeout | undefined;
      try {
        // TCP syslog confirms nothing. A server that ends the connection after us has read all of it; one that
        // went away resets it, also when everything had left this machine
        await new Promise<void>((resolve, reject) => {
          socket.once('error', reject);
          socket.once('close', () =>
            socket.writableFinished
              ? resolve()
              : reject(new Error('the syslog server closed the connection')),
          );
          socket.resume().end(Buffer.concat(frames), () => (timer = setTimeout(resolve, openMs)));
        });
      } finally {
        clearTimeout(timer);
        socket.on('error', () => undefined).destroy();
      }
    },
  };
}

async function sendDatagrams(
  { host, port }: { readonly host: string; readonly port: number },
  messages: readonly Buffer[],
): Promise<void> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  try {
    for (const message of messages)
      await new Promise<void>((resolve, reject) =>
        socket.send(message, port, host, (error) => (error === null ? resolve() : reject(error))),
      );
  } finally {
    socket.close();
  }
}

/** The operator's own program; exit code 0 means that it has them. It inherits nothing of ours, secrets least of all. */
const commandTarget = ([program = '', ...args]: readonly string[]): AuditTarget => ({
  name: `command:${JSON.stringify([program, ...args])}`,
  held: () => Promise.resolve(undefined),
  async send(lines) {
    const { PATH, HOME, LANG } = process.env;
    await outputOf(program, args, {
      timeoutMs: sendMs,
      env: { PATH, HOME, LANG },
      stdin: lines.map(({ text }) => `${text}\n`).join(''),
    });
  },
});

const sendMs = 30_000;
/** A server may keep the connection open. */
const openMs = 5_000;
const lineBytesMax = 65_536;
