import { join } from 'node:path';
import { firstFrameOf, type Place } from './copy-files.js';
import { digestAfter, positionOf, type Frame, type Position } from './frame.js';
import type { StoreFiles } from './files.js';
import { readFrames } from './frame-reader.js';

/** What the segments hold from a position on. */
export interface Scan {
  /** Of the last sound frame; the start where there is none. */
  readonly position: Position;
  /** Where that frame ends; undefined where no segment is there at all. */
  readonly place: Place | undefined;
  /** Numbers of frames that must have been there, before a later sound one. */
  readonly missing: readonly { readonly from: number; readonly to: number }[];
  /** Every frame up to `position` is there and in order. Behind it there may be a torn tail. */
  readonly intact: boolean;
  /**
   * Bytes behind the last sound frame that are no frame: a write that never finished, or damage at the very
   * end.
   */
  readonly tornBytes: number;
  /** Damage in front of a sound frame. Where `intact`, it cost no frame that was wanted. */
  readonly faults: readonly string[];
  /** The position of the frame asked for by `notice`, where it was met. */
  readonly noticed: Position | undefined;
  readonly frames: number;
  readonly bytes: number;
}

export interface ScanOptions {
  readonly files: StoreFiles;
  readonly directory: string;
  readonly segments: readonly string[];
  /** Frames after this one are wanted. */
  readonly start: Position;
  /** Where it ends; without, all segments are read and older frames are passed over. */
  readonly place?: Place;
  readonly notice?: number;
  /** Called for each sound frame in order. `body` is valid until the promise settles. */
  readonly visit?: (frame: Frame, body: Buffer) => Promise<void> | void;
}

export async function scanSegments(options: ScanOptions): Promise<Scan> {
  const { files, directory, start, place: from, notice, visit } = options;
  const segments = from
    ? options.segments.filter((name) => name >= from.segment)
    : neededAfter(options.segments, start.frame);
  let position = start;
  let place: Place | undefined = from;
  let noticed = notice === start.frame ? start : undefined;
  let tornBytes = 0;
  let frames = 0;
  let bytes = 0;
  const missing: { from: number; to: number }[] = [];
  const faults: string[] = [];
  let disordered = false;
  let tail: string[] = [];

  for (const segment of segments) {
    const offset = segment === from?.segment ? from.offset : 0;
    const path = join(directory, segment);
    if ((await files.size(path)) < offset) disordered = faults.push(`${segment} is shorter than it was`) > 0;
    place ??= { segment, offset };
    for await (const found of readFrames(files, path, offset)) {
      if ('damage' in found) {
        tornBytes += found.damage.end - found.damage.start;
        tail.push(`${segment} is damaged from byte ${found.damage.start} to ${found.damage.end}`);
        continue;
      }
      const { frame } = found;
      faults.push(...tail);
      tail = [];
      tornBytes = 0;
      if (frame.frame <= position.frame) {
        if (frames > 0) disordered = faults.push(`${segment} repeats frame ${frame.frame}`) > 0;
        continue;
      }
      if (frame.frame !== position.frame + 1) missing.push({ from: position.frame + 1, to: frame.frame - 1 });
      else if (frame.first !== position.seq + 1)
        disordered = faults.push(`${segment} jumps from entry ${position.seq} to ${frame.first}`) > 0;
      else if (
        frame.digest !== '' &&
        frame.digest !== digestAfter(position.digest, frame.frame, found.bodySum)
      )
        disordered =
          faults.push(`${segment} does not continue the operations before frame ${frame.frame}`) > 0;
      position = positionOf(frame);
      place = { segment, offset: found.end };
      if (frame.frame === notice) noticed = position;
      frames += 1;
      bytes += found.end - found.start;
      await visit?.(frame, found.body);
    }
  }
  for (const { from: first, to } of missing) faults.push(`frames ${first} to ${to} are missing`);
  return {
    position,
    place,
    missing,
    intact: missing.length === 0 && !disordered,
    tornBytes,
    faults: missing.length > 0 ? [...faults, ...tail] : faults,
    noticed,
    frames,
    bytes,
  };
}

/**
 * The segments that may hold frames after `frame`: from the last one that begins at or before the next frame.
 */
export function neededAfter(segments: readonly string[], frame: number): readonly string[] {
  let begin = 0;
  segments.forEach((name, index) => {
    if (firstFrameOf(name) <= frame + 1) begin = index;
  });
  return segments.slice(begin);
}
