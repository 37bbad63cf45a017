import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { readPlainFile, writeAtomically } from '../atomic-file.js';
import type { Layout } from '../layout.js';

/**
 * `backups.json` of a home: under which name it keeps its backups, which there are, and whether the last try failed.
 * So `doctor`, the list of what waits and an erasure know it without a request to a bucket. It is in no backup: a home
 * that was restored begins a place of its own, and two never share one.
 */
export interface BackupRecord {
  /** 8 characters of hex. */
  readonly id: string;
  /** Where the last one was written to; null: none was made yet. */
  readonly to: string | null;
  /** When the last one was made by the clock of then, epoch ms; null: none was made yet. */
  readonly madeAt: number | null;
  /** Oldest first. */
  readonly kept: readonly KeptBackup[];
  readonly failed: { readonly at: string; readonly reason: string } | null;
}

export interface KeptBackup {
  readonly name: string;
  /** Positions at which its store can be restored, the first and the last. */
  readonly from: number;
  readonly seq: number;
}

const schema = z.object({
  id: z.string().regex(/^[0-9a-f]{8}$/),
  to: z.string().nullable(),
  madeAt: z.number().nullable(),
  kept: z.array(z.object({ name: z.string(), from: z.int(), seq: z.int() })),
  failed: z.object({ at: z.string(), reason: z.string() }).nullable(),
});

/** What is there, or a new one. One that cannot be read is no reason to make no backups: a new one takes its place. */
export async function readRecord(layout: Layout): Promise<BackupRecord> {
  const bytes = await readPlainFile(pathOf(layout), 2 ** 20);
  try {
    return schema.parse(JSON.parse(bytes?.toString('utf8') ?? ''));
  } catch {
    return { id: randomBytes(4).toString('hex'), to: null, madeAt: null, kept: [], failed: null };
  }
}

export const writeRecord = (layout: Layout, record: BackupRecord): Promise<void> =>
  writeAtomically(pathOf(layout), `${JSON.stringify(record, null, 1)}\n`, { mode: 0o600 });

/** The folder of a home's backups below `backup.to`. */
export const folderOf = ({ instance }: Layout, { id }: BackupRecord): string => `${instance}-${id}`;

const pathOf = ({ home }: Layout): string => join(home, 'backups.json');
