import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';

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
    const address = new URL(url);
    const tries = [
      ...this.readers.map((reader) => async () => {
        if (!(await reader.join(`ws://${address.host}/ws`, token))) this.refused += 1;
      }),
      ...Array.from({ length: this.silentCount }, () => () => this.joinSilent(Number(address.port), token)),
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
      const socket = connect(port, '127.0.0.1', () =>
        socket.write(
          `GET /ws HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nConnection: Upgrade\r\n` +
            'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
        ),
      );
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
    };
  }
}

class Reader {
  frames = 0;
  repeated = 0;
  isOpen = false;
  private socket: WebSocket | undefined;
  private cursor: number | undefined;

  join(address: string, token: string): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = new WebSocket(`${address}${this.cursor === undefined ? '' : `?since=${this.cursor}`}`, {
        headers: { authorization: `Bearer ${token}` },
        perMessageDeflate: false,
        handshakeTimeout: 30_000,
      });
      this.socket = socket;
      socket.on('open', () => {
        this.isOpen = true;
        resolve(true);
      });
      socket.on('message', (data) => this.hear(String(data)));
      socket.on('error', () => resolve(false));
      socket.on('close', () => {
        this.isOpen = false;
        resolve(false);
      });
    });
  }

  leave(): void {
    this.socket?.terminate();
    this.isOpen = false;
  }

  private hear(text: string): void {
    this.frames += 1;
    const { seq } = JSON.parse(text) as { seq: number | null };
    if (seq === null) return;
    // Several frames of one commit have one position
    if (this.cursor !== undefined && seq < this.cursor) this.repeated += 1;
    this.cursor = Math.max(this.cursor ?? 0, seq);
  }
}
