import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { readText, writeFileDurably } from './durable-file.js';
import { namesIn, type StoreFiles } from './files.js';
import { digits } from './keys.js';
import { hex, type Position } from './frame.js';

/** The end of a frame: a segment file and the offset behind the frame. */
export interface Place {
  readonly segment: string;
  readonly offset: number;
}

/**
 * The files of the second copy, `<home>/store-copy/`: at most one base image with everything up to a frame,
 * the segments after it (each named by its first frame), and the checkpoint: the position up to which
 * LevelDB's own tables hold everything, so that a start replays from there.
 */
export interface Checkpoint extends Position, Place {
  /** 1 has no checksum and no digest. */
  readonly format: 1 | 2;
  /** Written by a close that had nothing left to do. */
  readonly clean: boolean;
  /** What lay here then. A file of these that is missing or short is damage. */
  readonly base: BaseFile | null;
  readonly segments: readonly string[];
}

export interface BaseFile {
  readonly file: string;
  readonly frame: number;
  readonly bytes: number;
}

/** A base image that is to be written: compared with the copy in `directory`, which has the image `base`. */
export interface ImageOrder {
  readonly directory: string;
  readonly base: BaseFile | null;
  /** Part of the time to be busy, 0–1. */
  readonly share: number;
  readonly signal: AbortSignal;
  /** From then on without pauses. */
  readonly hurry?: AbortSignal;
}

export interface WrittenImage extends BaseFile {
  /** Of the database when it was read. */
  readonly position: Position;
  /** Why it could not be compared with the copy: what is wrong with that. */
  readonly copyFault?: string;
}

export interface Survey {
  readonly base: BaseFile | null;
  /** Ascending. */
  readonly segments: readonly string[];
  readonly checkpoint: Checkpoint | undefined;
  /**
   * The checkpoint lies there and cannot be read. It holds nothing that the other files do not, so this alone is no
   * damage to the copy.
   */
  readonly checkpointUnreadable: boolean;
  /** What is missing or cut, seen without reading the data. */
  readonly faults: readonly string[];
  readonly empty: boolean;
}

/** Look at the second copy without reading its data. */
export async function surveyCopy(
  files: StoreFiles,
  directory: string,
  options: { readonly create?: boolean } = {},
): Promise<Survey> {
  if (options.create !== false) await files.mkdir(directory);
  const names = (await namesIn(files, directory)).sort();
  const segments = names.filter(isSegment);
  const baseName = names.filter((name) => basePattern.test(name)).at(-1);
  const base =
    baseName === undefined
      ? null
      : {
          file: baseName,
          frame: firstFrameOf(baseName),
          bytes: await files.size(join(directory, baseName)),
        };
  const faults: string[] = [];
  const checkpoint = names.includes(checkpointFile) ? await readCheckpoint(files, directory) : undefined;
  if (checkpoint) {
    // A newer image than the checkpoint knows is whole: it got its name last.
    const named = checkpoint.base;
    if (named && (!names.includes(named.file) || (base?.file === named.file && base.bytes !== named.bytes)))
      faults.push(`the base image ${named.file} is missing or truncated`);
    for (const name of checkpoint.segments)
      if (!segments.includes(name)) faults.push(`the segment ${name} is missing`);
  } else if (segments.length > 0 && firstFrameOf(segments[0]!) > (base?.frame ?? 0) + 1) {
    faults.push('the base image is missing');
  }
  return {
    base,
    segments,
    checkpoint,
    checkpointUnreadable: names.includes(checkpointFile) && !checkpoint,
    faults,
    empty: base === null && segments.length === 0 && !names.includes(checkpointFile),
  };
}

/** The segments that are there now, ascending. */
export async function listSegments(files: StoreFiles, directory: string): Promise<string[]> {
  return (await files.readdir(directory)).filter(isSegment).sort();
}

export function segmentName(firstFrame: number): string {
  return `segment-${digits(firstFrame)}.log`;
}

export function baseName(frame: number): string {
  return `base-${digits(frame)}.seg`;
}

const segmentPattern = /^segment-\d{16}\.log$/;
const basePattern = /^base-\d{16}\.seg$/;

function isSegment(name: string): boolean {
  return segmentPattern.test(name);
}

/** The number in a file's name: the first frame of a segment, the last that a base image covers. */
export function firstFrameOf(name: string): number {
  return Number(/\d{16}/.exec(name)?.[0]);
}

const checkpointFile = 'checkpoint.json';

export async function writeCheckpoint(
  files: StoreFiles,
  directory: string,
  checkpoint: Omit<Checkpoint, 'format'>,
): Promise<void> {
  await writeFileDurably(files, join(directory, checkpointFile), `${sealed({ format: 2, ...checkpoint })}\n`);
}

async function readCheckpoint(files: StoreFiles, directory: string): Promise<Checkpoint | undefined> {
  try {
    const value: unknown = JSON.parse(await readText(files, join(directory, checkpointFile)));
    return isCheckpoint(value) && isSealed(value) ? { ...value, digest: value.digest ?? '' } : undefined;
  } catch {
    return undefined;
  }
}

/** Ends in the checksum of the text without it. */
function sealed(checkpoint: Checkpoint): string {
  const text = JSON.stringify(checkpoint);
  return `${text.slice(0, -1)},"sum":"${hex(crc32(text))}"}`;
}

function isSealed(value: Checkpoint & { readonly sum?: unknown }): boolean {
  if (value.format === 1) return true;
  const { sum, ...checkpoint } = value;
  return sum === hex(crc32(JSON.stringify(checkpoint)));
}

function isCheckpoint(value: unknown): value is Checkpoint {
  if (typeof value !== 'object' || value === null) return false;
  const { format, frame, seq, chain, segment, offset, segments } = value as Record<string, unknown>;
  return (
    (format === 1 || format === 2) &&
    [frame, seq, offset].every((number) => Number.isSafeInteger(number)) &&
    typeof chain === 'string' &&
    typeof segment === 'string' &&
    segmentPattern.test(segment) &&
    Array.isArray(segments)
  );
}
