/** Where backups go, as in config.yaml. */
export interface Place {
  /** An absolute folder, or `s3://bucket/prefix`. */
  readonly to: string;
  /** Of a bucket that is not Amazon's. */
  readonly endpoint?: string | null;
  readonly region?: string;
}

/**
 * Where backups are kept: a folder of this machine, or a bucket of anything that speaks S3. Names are relative,
 * of parts that are joined by `/`.
 */
export interface Destination {
  /** All of it, or nothing: a reader never meets half of what is written. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Undefined where there is nothing of that name. */
  get(name: string): Promise<Buffer | undefined>;
  /** Names of what lies directly below `prefix`, which ends in `/` or is empty. */
  list(prefix: string): Promise<readonly string[]>;
  /** Names of what looks like a folder below the top. */
  folders(): Promise<readonly string[]>;
  /** No error where it is not there. */
  remove(name: string): Promise<void>;
  /** Removes what writers left that were killed. Only for the one that writes below `folder`. */
  sweep(folder: string): Promise<void>;
}

/** A bucket, addressed by path, as every server that speaks S3 understands it. */
export interface Bucket {
  /** `https://s3.eu-central-1.amazonaws.com`, or that of another server. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Of all names, without slashes at its ends; may be empty. */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export const bucketPattern = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w.!*'()/-]*))?$/;
