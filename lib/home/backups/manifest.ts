import * as z from 'zod';

/**
 * What one backup holds: every file in pieces, each a stretch of an object of the repository. Pieces that an earlier
 * backup has written are named again and not written again.
 */
const piece = z.strictObject({
  object: z.string().regex(/^[0-9a-f]{64}$/),
  at: z.int().min(0),
  bytes: z.int().min(1),
  digest: z.string().regex(/^[0-9a-f]{64}$/),
});
export type Piece = z.infer<typeof piece>;

/** Relative, and below the home wherever it is restored: a manifest may come from a place that others write to. */
const path = z
  .string()
  .min(1)
  .max(4_096)
  .refine(
    (text) =>
      !text.includes('\0') && text.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
    'must be a path below the home',
  );

const mode = z.int().min(0).max(0o777);
const entry = z.union([
  z.strictObject({ path, mode, pieces: z.array(piece) }),
  z.strictObject({ path, mode, folder: z.literal(true) }),
  z.strictObject({ path, link: z.string().min(1).max(4_096) }),
]);
export type Entry = z.infer<typeof entry>;

/** What is in a backup only where it is asked for. */
export const choices = ['work', 'transcripts'] as const;

export const manifestSchema = z.strictObject({
  troupeBackup: z.literal(2),
  /** ISO 8601. */
  at: z.string(),
  /** Of Troupe. */
  version: z.string(),
  instance: z.string(),
  /** Positions of the log at which the store can be restored, the first and the last. */
  from: z.int().min(0),
  seq: z.int().min(0),
  include: z.array(z.enum(choices)),
  entries: z.array(entry),
});
export type Manifest = z.infer<typeof manifestSchema>;

export const bytesOf = ({ entries }: Manifest): number =>
  entries.reduce((sum, one) => sum + ('pieces' in one ? lengthOf(one.pieces) : 0), 0);

const lengthOf = (pieces: readonly Piece[]): number => pieces.reduce((sum, { bytes }) => sum + bytes, 0);

export const filesIn = ({ entries }: Manifest): number => entries.filter((one) => 'pieces' in one).length;

/** What a choice stands for. */
export const choiceFolders: Readonly<Record<(typeof choices)[number], string>> = {
  work: 'work',
  transcripts: 'engines',
};
