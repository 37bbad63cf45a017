import { z } from 'zod';
import { iso } from './shapes.js';

/** What the routes of files read and show. */
export const fileMeta = z.object({
  id: z.string(),
  filename: z.string(),
  size: z.int().describe('bytes'),
  mimetype: z.string().describe('By the name\'s ending; never trusted.'),
  path: z.string().describe('Below the home; for GET /api/files/read.'),
  sessionId: z.string().nullable(),
  createdAt: iso,
}).meta({ id: 'File' });

const sources = {
  content: z.string().optional().describe('The bytes as base64 (RFC 4648, padded).'),
  url: z.string().min(1).max(8_192).optional().describe('A public http or https address. Private, loopback and other special addresses are refused.'),
  path: z.string().min(1).max(4_096).optional().describe('A file of the gateway\'s machine: below files/ or uploads/, elsewhere with gateway.allowFileCustomPaths.'),
  filename: z.string().max(1_000).optional(),
};

/** Exactly one of content, url, path; or a multipart body with the part `file`. */
export const fileBody = z.object({ ...sources, mimetype: z.string().max(200).optional().describe('Ignored: the ending of the name tells.') });
export const attachmentBody = z.object({ ...sources, text: z.string().max(20_000).optional().describe('What the message says; default the file\'s name.') });

const media = z.object({ type: z.enum(['image', 'audio', 'file']), url: z.string(), name: z.string(), mimeType: z.string(), size: z.int() }).meta({ id: 'Media' });

export const attached = z.object({
  id: z.string(), filename: z.string(), size: z.int(), mimetype: z.string(), path: z.string(), media,
  message: z.object({ id: z.string(), role: z.literal('assistant'), content: z.string(), media: z.array(media), timestamp: z.int() }),
});

export const readFileAnswer = z.object({
  path: z.string(),
  resolvedPath: z.string(),
  mime: z.string(),
  size: z.int(),
  tooLarge: z.boolean(),
  binary: z.boolean(),
  content: z.string().optional().describe('Only of texts that are not too large.'),
});
