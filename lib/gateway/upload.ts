import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from 'koa';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/**
 * Multipart bodies: one file, streamed to a private folder as it comes, and a few short texts. Names of
 * parts, files and types are the client's words: the file lies under a name of ours, and parts that no one
 * asked for are dropped.
 */
export interface Upload {
  /** Where the bytes lie. Anyone who takes them moves them away; else they are removed after the answer. */
  readonly path: string;
  /** As the client called it. */
  readonly filename: string;
}

/** What an idempotency key covers of a file: its name and its bytes, whatever they are wrapped in. */
export async function fingerprint({
  path,
  filename,
}: Upload): Promise<{ readonly filename: string; readonly sha256: string }> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return { filename, sha256: hash.digest('hex') };
}

export interface Multipart {
  readonly fields: Readonly<Record<string, string>>;
  readonly upload: Upload | undefined;
}

export interface UploadRules {
  readonly folder: string;
  readonly fileBytesMax: number;
  /** Names of the parts that are texts. */
  readonly fields: readonly string[];
}

/** @internal */
export const isMultipart = (ctx: Context): boolean =>
  /^multipart\/form-data\s*(?:;|$)/i.test(ctx.get('content-type'));

/**
 * `await readMultipart(ctx, {folder, fileBytesMax, fields: ['text']})`. BAD_REQUEST or PAYLOAD_TOO_LARGE;
 * then nothing is left behind.
 *
 * @internal
 */
export async function readMultipart(ctx: Context, rules: UploadRules): Promise<Multipart | Refusal> {
  const { folder, fileBytesMax } = rules;
  const { koaBody } = await import('koa-body'); // few gateways are ever sent a file
  if (ctx.req.destroyed) return malformed();
  const path = join(folder, randomUUID());
  if (Number(ctx.get('content-length') || 0) > fileBytesMax + fieldsBytesMax + framingBytesMax)
    return ignored(ctx, tooLarge(fileBytesMax));
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  let upload: Upload | undefined;
  let excess: string | undefined;
  const read = koaBody({
    multipart: true,
    json: false,
    urlencoded: false,
    text: false,
    patchKoa: true,
    formidable: {
      uploadDir: folder,
      filename: () => path.slice(folder.length + 1),
      maxFiles: 1,
      maxFileSize: fileBytesMax,
      maxTotalFileSize: fileBytesMax,
      maxFields: 20,
      maxFieldsSize: fieldsBytesMax,
      allowEmptyFiles: true,
      minFileSize: 0,
      onPart(part, take) {
        const { name, originalFilename, mimetype } = part as {
          name?: string | null;
          originalFilename?: string | null;
          mimetype?: string | null;
        };
        const isFile = Boolean(originalFilename) || (Boolean(mimetype) && name === 'file');
        if (isFile && name === 'file' && upload === undefined) {
          // Without a type the reader takes a file for a text and writes none
          if (!mimetype) (part as { mimetype?: string }).mimetype = 'application/octet-stream';
          upload = { path, filename: originalFilename ?? '' };
          // A part without a type is a text to formidable, however it is named
          part.mimetype ??= 'application/octet-stream';
          take(part);
        } else if (isFile) excess = name ?? '';
        else if (name != null && rules.fields.includes(name)) {
          if (fields[name] !== undefined) excess = name;
          fields[name] = '';
          take(part);
        }
      },
    },
  });
  try {
    await read(ctx as never, async () => undefined);
  } catch (error) {
    await rm(path, { force: true });
    return ignored(ctx, refusalOf(error, fileBytesMax));
  }
  if (excess !== undefined) {
    await rm(path, { force: true });
    return refuse(
      'BAD_REQUEST',
      { path: excess.slice(0, 100) },
      `Send one part named file and each text once; ${JSON.stringify(excess.slice(0, 100))} is unexpected.`,
    );
  }
  const sent = ((ctx.request as { body?: unknown }).body ?? {}) as Record<string, unknown>;
  for (const name of Object.keys(fields)) fields[name] = typeof sent[name] === 'string' ? sent[name] : '';
  return { fields, upload };
}

const fieldsBytesMax = 262_144;
const framingBytesMax = 65_536;

const tooLarge = (bytesMax: number): Refusal =>
  refuse('PAYLOAD_TOO_LARGE', { bytesMax }, `A file may have at most ${Math.floor(bytesMax / 2 ** 20)} MiB.`);

/** Let the rest of the body pass by unread. */
function ignored(ctx: Context, refusal: Refusal): Refusal {
  ctx.req.unpipe();
  ctx.req.resume();
  return refusal;
}

/** What formidable says becomes ours; its words may quote the client. */
function refusalOf(error: unknown, fileBytesMax: number): Refusal {
  if (isRefusal(error)) return error;
  const { httpCode } = error as { httpCode?: number };
  if (httpCode === 413) return tooLarge(fileBytesMax);
  return malformed();
}

const malformed = (): Refusal => refuse('BAD_REQUEST', {}, 'The multipart body is malformed.');
