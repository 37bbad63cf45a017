import type { Reply } from '../../../commands/request.js';
import type { JailedFile } from '../../../records/jailed-file.js';
import { refuse, type Refusal } from '../../../../machines/refusals.js';

/**
 * A file as an answer: always to be saved, never to be shown by a browser as a page of this origin, whatever
 * it calls itself. Whole, a range of it, or nothing where the client has it already.
 */
export function sendFile(
  file: JailedFile,
  options: {
    readonly filename: string;
    readonly mimetype: string;
    readonly etag: string;
    readonly header: (name: string) => string | undefined;
  },
): Reply | Refusal {
  const { filename, mimetype, etag, header } = options;
  const headers = {
    'Content-Type': mimetype,
    'Content-Disposition': disposition(filename),
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'private, max-age=0, must-revalidate',
    'Accept-Ranges': 'bytes',
    ETag: etag,
  };
  if (matches(header('if-none-match'), etag)) {
    void file.handle.close();
    return { status: 304, body: null, headers };
  }
  const given = header('if-range') === undefined || header('if-range') === etag ? header('range') : undefined;
  const range = rangeOf(given, file.size);
  if (range === 'unsatisfiable') {
    void file.handle.close();
    return refuse('RANGE_NOT_SATISFIABLE', { size: file.size });
  }
  if (range === undefined) {
    if (file.size === 0) {
      void file.handle.close();
      return { body: Buffer.alloc(0), headers: { ...headers, 'Content-Length': '0' } };
    }
    return {
      body: file.handle.createReadStream({ start: 0, end: file.size - 1 }),
      headers: { ...headers, 'Content-Length': String(file.size) },
    };
  }
  const [start, end] = range;
  return {
    status: 206,
    body: file.handle.createReadStream({ start, end }),
    headers: {
      ...headers,
      'Content-Length': String(end - start + 1),
      'Content-Range': `bytes ${start}-${end}/${file.size}`,
    },
  };
}

/** RFC 6266: a plain name for old clients, the true one for the rest. */
function disposition(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(filename).replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

const matches = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  header.length < 10_000 &&
  header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag || one.trim() === '*');

/** RFC 9110: one range of bytes. What cannot be read, or asks for several, is answered whole. */
function rangeOf(
  header: string | undefined,
  size: number,
): readonly [start: number, end: number] | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  if (first === '')
    return Number(last) === 0 || size === 0 ? 'unsatisfiable' : [Math.max(0, size - Number(last)), size - 1];
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : [start, end];
}
