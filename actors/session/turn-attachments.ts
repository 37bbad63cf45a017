import type { Json } from '../../machines/outputs.js';

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
