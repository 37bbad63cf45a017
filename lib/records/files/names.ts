/**
 * Names that clients give become names of files: without folders, control characters and tricks, never empty,
 * never longer than a file system takes. What a file *is* is told by its name's ending only, and serves for
 * display.
 */

/** `safeName('../../a\u0000b.txt')` → `ab.txt`; `'file'` where nothing is left. */
export function safeName(name: string): string {
  const last = name.normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const plain = last
    .replace(unfit, '')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/^[.\s-]+|[.\s]+$/g, '')
    .trim();
  return plain === '' ? 'file' : shortened(plain, nameBytesMax);
}

/**
 * Control, formatting (direction overrides, zero width) and private characters: a name must look like what it
 * is.
 */
const unfit = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;
const nameBytesMax = 180;

/** Cut in the middle of the stem, so that the ending stays. */
function shortened(name: string, bytesMax: number): string {
  if (Buffer.byteLength(name) <= bytesMax) return name;
  const dot = name.lastIndexOf('.');
  const ending = dot > 0 && name.length - dot <= 16 ? name.slice(dot) : '';
  let stem = '';
  let left = bytesMax - Buffer.byteLength(ending);
  for (const letter of name.slice(0, name.length - ending.length)) {
    left -= Buffer.byteLength(letter);
    if (left < 0) break;
    stem += letter;
  }
  return stem + ending;
}

/** `mimetypeOf('a.PNG')` → `image/png`. Unknown endings are bytes. */
export function mimetypeOf(name: string): string {
  const ending = /\.([A-Za-z0-9]{1,10})$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return byEnding.get(ending) ?? 'application/octet-stream';
}

const byEnding: ReadonlyMap<string, string> = new Map(
  Object.entries({
    txt: 'text/plain',
    log: 'text/plain',
    md: 'text/markdown',
    csv: 'text/csv',
    html: 'text/html',
    htm: 'text/html',
    css: 'text/css',
    js: 'text/javascript',
    mjs: 'text/javascript',
    ts: 'text/plain',
    py: 'text/plain',
    sh: 'text/plain',
    c: 'text/plain',
    go: 'text/plain',
    rs: 'text/plain',
    diff: 'text/plain',
    patch: 'text/plain',
    xml: 'application/xml',
    json: 'application/json',
    jsonl: 'text/plain',
    yaml: 'application/yaml',
    yml: 'application/yaml',
    pdf: 'application/pdf',
    zip: 'application/zip',
    gz: 'application/gzip',
    tar: 'application/x-tar',
    png: 'image/png',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    gif: 'image/gif',
    webp: 'image/webp',
    svg: 'image/svg+xml',
    avif: 'image/avif',
    ico: 'image/x-icon',
    mp3: 'audio/mpeg',
    wav: 'audio/wav',
    ogg: 'audio/ogg',
    m4a: 'audio/mp4',
    flac: 'audio/flac',
    mp4: 'video/mp4',
    webm: 'video/webm',
    mov: 'video/quicktime',
    docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  }),
);
