import type { Manifest } from './manifest.js';
import type { KeptBackup } from './record.js';
import type { BackupSource } from './write-backup.js';

/** What the gateway gives the program that makes a backup, and what comes back. */

/** All that the program needs to know; keys are read by itself. */
export interface BackupJob {
  readonly source: BackupSource;
  readonly place: { readonly to: string; readonly endpoint: string | null; readonly region: string };
  /** Below the place. */
  readonly folder: string;
  /** Backups of before are there, as far as the home knows. */
  readonly isKnown: boolean;
  readonly encrypt: boolean;
  readonly secretsFile: string | null;
  readonly keep: number;
  /** A folder of the home for the trial. */
  readonly scratch: string;
}

export interface BackupMade {
  /** The manifest, below the place. */
  readonly target: string;
  readonly from: number;
  readonly seq: number;
  readonly files: number;
  readonly bytes: number;
  /** What was not there yet. */
  readonly newBytes: number;
  readonly include: Manifest['include'];
  readonly removed: readonly string[];
  readonly kept: readonly KeptBackup[];
}
