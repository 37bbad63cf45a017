import { connect, type Socket } from 'node:net';

/**
 * HTTP/1.1 by hand over one kept-alive connection, one request at a time: client libraries refuse to write
 * what a fuzzer wants to send, and are too slow to write much of it.
 */
export interface Answer {
  /** 0: the connection was closed without an answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly ms: number;
  /** No complete answer within the patience. */
  readonly hung?: true;
}

export class Wire {
  #socket: Socket | undefined;
  #received: Buffer[] = [];
  #settle: ((closed: boolean) => void) | undefined;

  constructor(readonly port: number) {}

  /**
   * Sends and waits for the whole answer. `hangUp`: half-closes after the bytes, and the connection is not
   * used again.
   */
  async send(
    bytes: Buffer,
    options: { readonly head?: boolean; readonly hangUp?: boolean } = {},
  ): Promise<Answer> {
    const socket = (this.#socket ??= await this.#open());
    this.#received = [];
    const began = performance.now();
    return new Promise((resolve) => {
      const done = (answer: Omit<Answer, 'ms'>, keep: boolean): void => {
        clearTimeout(patience);
        this.#settle = undefined;
        if (!keep || options.hangUp === true) this.close();
        resolve({ ...answer, ms: performance.now() - began });
      };
      const patience = setTimeout(() => done({ ...unanswered, hung: true }, false), patienceMs);
      this.#settle = (closed) => {
        const read = readAnswer(Buffer.concat(this.#received), options.head === true, closed);
        if (read !== undefined) done(read, !closed && read.headers['connection'] !== 'close');
        else if (closed) done(unanswered, false);
      };
      socket.write(bytes);
      if (options.hangUp === true) socket.end();
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port: this.port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
      socket.once('connect', () => resolve(socket));
      socket.once('error', reject);
      socket.on('data', (chunk: Buffer) => {
        this.#received.push(chunk);
        if (socket === this.#socket) this.#settle?.(false);
      });
      const gone = (): void => {
        socket.destroy();
        if (socket !== this.#socket) return;
        this.#socket = undefined;
        this.#settle?.(true);
      };
      socket.on('end', gone);
      socket.on('close', gone);
      socket.on('error', gone);
    });
  }
}

const patienceMs = 20_000;
const unanswered = { status: 0, headers: {}, body: Buffer.alloc(0) };

/** The answer when the bytes hold all of it. Interim ones (100) are skipped. */
function readAnswer(bytes: Buffer, head: boolean, closed: boolean): Omit<Answer, 'ms'> | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const status = Number(first.slice(9, 12));
  const rest = bytes.subarray(end + 4);
  if (status >= 100 && status < 200)
    return status === 101
      ? { status, headers: { connection: 'close' }, body: Buffer.alloc(0) }
      : readAnswer(rest, head, closed);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const at = line.indexOf(':');
    headers[line.slice(0, at).toLowerCase()] = line.slice(at + 1).trim();
  }
  if (head || status === 204 || status === 304) return { status, headers, body: Buffer.alloc(0) };
  if (headers['transfer-encoding'] === 'chunked') {
    const body = unchunked(rest);
    return body && { status, headers, body };
  }
  const length = headers['content-length'];
  if (length === undefined) return closed ? { status, headers, body: rest } : undefined;
  return rest.length >= Number(length)
    ? { status, headers, body: rest.subarray(0, Number(length)) }
    : undefined;
}

function unchunked(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf('\r\n', at);
    if (end === -1) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, end), 16);
    const from = end + 2;
    if (bytes.length < from + size + 2) return undefined;
    if (size === 0) return Buffer.concat(parts);
    parts.push(bytes.subarray(from, from + size));
    at = from + size + 2;
  }
}
