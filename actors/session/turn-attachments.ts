import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Json } from '../../machines/outputs.js';
import type { TurnImage } from '../engines/engine.js';

/** Where the bytes of a managed file lie, by its id; undefined when no one knows. */
export type AttachmentPath = (id: string) => Promise<string | undefined>;

const filesMax = 50;

/**
 * What an agent is told of the files that came with a message: name, type, size and where it can read them,
 * one line each. Names are strings of JSON, so that none of them can pass for a further line.
 */
export async function attachedFiles(
  media: Json,
  path: AttachmentPath = () => Promise.resolve(undefined),
): Promise<string> {
  if (!Array.isArray(media) || media.length === 0) return '';
  const lines = await Promise.all(
    media.slice(0, filesMax).map(async (file) => {
      const { name, mimeType, size, url } = (
        typeof file === 'object' && file !== null && !Array.isArray(file) ? file : {}
      ) as { readonly [member: string]: Json | undefined };
      const [, id] = /^\/api\/files\/([\w-]+)$/.exec(text(url)) ?? [];
      const place = (id === undefined ? undefined : await path(id).catch(() => undefined)) ?? text(url);
      return (
        `- ${JSON.stringify(text(name))}, ${JSON.stringify(text(mimeType))}, ` +
        `${typeof size === 'number' ? size : '?'} bytes: ${JSON.stringify(place)}`
      );
    }),
  );
  return `\n\n[attached files]\n${lines.join('\n')}`;
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** The pictures among files, as their bytes say: at most so many as a model takes in one message. */
export async function picturesIn(paths: readonly string[]): Promise<readonly TurnImage[]> {
  const images: TurnImage[] = [];
  let bytesLeft = imagesBytesMax;
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined);
    const size = found?.isFile() === true ? found.size : Infinity; // a pipe would never end
    if (images.length === imagesMax || size > imageBytesMax || size > bytesLeft) continue;
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    const mimeType = pictureType(bytes);
    if (mimeType === undefined) continue;
    bytesLeft -= bytes.length;
    images.push({ name: basename(path), mimeType, data: bytes.toString('base64') });
  }
  return images;
}

const imagesMax = 8;
/** In base64 that is the 5 MB that providers take. */
const imageBytesMax = 3_750_000;
const imagesBytesMax = 12_000_000;

function pictureType(bytes: Buffer): TurnImage['mimeType'] | undefined {
  const begin = bytes.toString('latin1', 0, 12);
  if (begin.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (begin.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(begin)) return 'image/gif';
  return begin.startsWith('RIFF') && begin.endsWith('WEBP') ? 'image/webp' : undefined;
}
