import { connect, type Socket } from 'node:net';

/**
 * The sockets of a soak: most read everything that comes and check that no commit is left out or comes twice, some
 * never read a byte. All come again after each death of the gateway: those that read, from where they were.
 */
export interface GroupFigures {
  readonly frames: number;
  /** Cursors that went back, or commits that came twice in one connection. */
  readonly repeated: number;
  readonly refused: number;
  readonly open: number;
  readonly silentOpen: number;
  /** How the gateway ended connections, and how often. */
  readonly ended: ReadonlyMap<number, number>;
}

export class Group {
  private readonly readers: Reader[];
  private readonly silent: Socket[] = [];
  private silentOpen = 0;
  private refused = 0;

  constructor(
    readers: number,
    private readonly silentCount: number,
  ) {
    this.readers = Array.from({ length: readers }, () => new Reader());
  }

  /** Resolves when everybody has tried, or it is over; at most 200 at a time, as a listening queue would have it. */
  async join(url: string, token: string, isOver: () => boolean): Promise<void> {
    const port = Number(new URL(url).port);
    const tries = [
      ...this.readers.map((reader) => async () => {
        if (!(await reader.join(port, token))) this.refused += 1;
      }),
      ...Array.from({ length: this.silentCount }, () => () => this.joinSilent(port, token)),
    ];
    const next = tries.values();
    await Promise.all(
      Array.from({ length: 200 }, async () => {
        for (const attempt of next) {
          if (isOver()) return;
          await attempt();
        }
      }),
    );
  }

  /** A socket whose other end fills up: paused after the upgrade, for as long as it lives. */
  private joinSilent(port: number, token: string): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(upgrade(port, token, '/ws')));
      socket.once('data', (head) => {
        if (head.toString('latin1').startsWith('HTTP/1.1 101')) {
          this.silentOpen += 1;
          socket.pause();
        } else {
          this.refused += 1;
          socket.destroy();
        }
        resolve();
      });
      socket.once('close', resolve);
      socket.on('error', () => undefined);
      this.silent.push(socket);
    });
  }

  /** The gateway is about to be killed: how connections end from now on says nothing. */
  expectEnd(): void {
    for (const reader of this.readers) reader.isEndExpected = true;
  }

  /** The gateway is gone, or is to be left alone. */
  leave(): void {
    for (const reader of this.readers) reader.leave();
    for (const socket of this.silent.splice(0)) socket.destroy();
    this.silentOpen = 0;
  }

  figures(): GroupFigures {
    const sum = (of: (reader: Reader) => number): number =>
      this.readers.reduce((total, reader) => total + of(reader), 0);
    return {
      frames: sum(({ frames }) => frames),
      repeated: sum(({ repeated }) => repeated),
      refused: this.refused,
      open: sum(({ isOpen }) => (isOpen ? 1 : 0)),
      silentOpen: this.silentOpen,
      ended: this.readers
        .flatMap(({ goodbyes }) => goodbyes)
        .reduce((ended, code) => ended.set(code, (ended.get(code) ?? 0) + 1), new Map<number, number>()),
    };
  }
}

/**
 * Reads frames where they lie in what comes: ten thousand of the usual sockets in one process would take more of the
 * machine than the gateway that is looked at.
 */
class Reader {
  frames = 0;
  repeated = 0;
  isOpen = false;
  isEndExpected = false;
  /** Codes with which the gateway ended its connections; 1006: without a word, while it was to stay. */
  readonly goodbyes: number[] = [];
  private socket: Socket | undefined;
  private cursor: number | undefined;
  private left: Buffer = Buffer.alloc(0);

  join(port: number, token: string): Promise<boolean> {
    return new Promise((resolve) => {
      this.left = Buffer.alloc(0);
      const since = this.cursor === undefined ? '' : `?since=${this.cursor}`;
      const socket = connect(port, '127.0.0.1', () => socket.write(upgrade(port, token, `/ws${since}`)));
      this.socket = socket;
      socket.setTimeout(30_000, () => this.isOpen || socket.destroy());
      let head = '';
      const heard = this.goodbyes.length;
      const greet = (data: Buffer): void => {
        head += data.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) return;
        socket.off('data', greet);
        if (!head.startsWith('HTTP/1.1 101')) return void socket.destroy();
        this.isOpen = true;
        this.isEndExpected = false;
        this.take(Buffer.from(head.slice(end + 4), 'latin1'));
        socket.on('data', (more) => this.take(more));
        resolve(true);
      };
      socket.on('data', greet);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        if (this.isOpen && !this.isEndExpected && this.goodbyes.length === heard) this.goodbyes.push(1_006);
        this.isOpen = false;
        resolve(false);
      });
    });
  }

  leave(): void {
    this.isOpen = false;
    this.socket?.destroy();
  }

  private take(data: Buffer): void {
    const bytes = this.left.length === 0 ? data : Buffer.concat([this.left, data]);
    let at = 0;
    while (at + 2 <= bytes.length) {
      const short = (bytes[at + 1] as number) & 127;
      const head = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (at + head > bytes.length) break;
      const length = short < 126 ? short : bytes.readUIntBE(at + (head === 4 ? 2 : 4), head === 4 ? 2 : 6);
      const end = at + head + length;
      if (end > bytes.length) break;
      this.hear(bytes[at] as number, bytes.subarray(at + head, end));
      at = end;
    }
    this.left = at < bytes.length ? Buffer.from(bytes.subarray(at)) : Buffer.alloc(0);
  }

  private hear(kind: number, text: Buffer): void {
    if (kind === goodbye) this.goodbyes.push(text.length < 2 ? 1_005 : text.readUInt16BE(0));
    if (kind === ping) this.socket?.write(Buffer.from([pong, 128, 0, 0, 0, 0]));
    if (kind !== whole) return;
    this.frames += 1;
    const seq = positionIn(text);
    if (seq === undefined) return;
    // Several frames of one commit have one position
    if (this.cursor !== undefined && seq < this.cursor) this.repeated += 1;
    this.cursor = Math.max(this.cursor ?? 0, seq);
  }
}

/** Where a frame stands: of the log (`{"seq":7,`) or how far the socket has come (`{"event":"cursor","seq":7,`). */
function positionIn(text: Buffer): number | undefined {
  let at = text[2] === letterS ? logPlace : cursorPlace;
  let seq = 0;
  const from = at;
  for (let digit = (text[at] ?? 0) - 48; digit >= 0 && digit <= 9; digit = (text[at] ?? 0) - 48) {
    seq = seq * 10 + digit;
    at += 1;
  }
  return at === from ? undefined : seq;
}

const logPlace = '{"seq":'.length;
const cursorPlace = '{"event":"cursor","seq":'.length;
const letterS = 's'.charCodeAt(0);
// RFC 6455, 5.2 and 5.5
const whole = 0x81;
const ping = 0x89;
const pong = 0x8a;
const goodbye = 0x88;

const upgrade = (port: number, token: string, path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nConnection: Upgrade\r\n` +
  'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
