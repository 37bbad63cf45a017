import { StringDecoder } from 'node:string_decoder';

/**
 * One output stream of a child: decoded safely where chunks cut characters in two, kept up to a bound,
 * counted beyond it. `head` keeps the beginning (an answer), `tail` keeps the end (error output, where the
 * reason stands last).
 */
export class BoundedOutput {
  readonly #decoder = new StringDecoder('utf8');
  readonly #bytesMax: number;
  readonly #keep: 'head' | 'tail';
  #text = '';
  #keptBytes = 0;
  /** All bytes seen, kept or not. */
  bytes = 0;
  truncated = false;

  constructor(bytesMax: number, keep: 'head' | 'tail') {
    this.#bytesMax = bytesMax;
    this.#keep = keep;
  }

  /** Take a chunk; answers the characters that became complete with it. Invalid bytes become U+FFFD. */
  take(chunk: Buffer): string {
    this.bytes += chunk.length;
    return this.#put(this.#decoder.write(chunk));
  }

  /** The stream is over: what an unfinished character left behind. */
  end(): string {
    return this.#put(this.#decoder.end());
  }

  get text(): string {
    return this.#keep === 'head' ? this.#text : lastBytes(this.#text, this.#bytesMax);
  }

  #put(piece: string): string {
    if (this.#keep === 'head') this.#putHead(piece);
    else this.#putTail(piece);
    return piece;
  }

  #putHead(piece: string): void {
    if (this.truncated || piece === '') return;
    const room = this.#bytesMax - this.#keptBytes;
    const bytes = Buffer.byteLength(piece);
    this.#text += bytes <= room ? piece : firstBytes(piece, room);
    this.#keptBytes += Math.min(bytes, room);
    this.truncated = bytes > room;
  }

  #putTail(piece: string): void {
    this.#text += piece;
    this.#keptBytes += Buffer.byteLength(piece);
    if (this.#keptBytes > this.#bytesMax) this.truncated = true;
    // cut only now and then, so that many small pieces do not copy the whole each time
    if (this.#keptBytes > this.#bytesMax * 2) {
      this.#text = lastBytes(this.#text, this.#bytesMax);
      this.#keptBytes = Buffer.byteLength(this.#text);
    }
  }
}

/** At most so many bytes from the beginning, never half a character. */
export function firstBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  let end = Math.max(0, bytesMax);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** At most so many bytes from the end, never half a character. */
export function lastBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  let start = bytes.length - Math.max(0, bytesMax);
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString('utf8', start);
}
