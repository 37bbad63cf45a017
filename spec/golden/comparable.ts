import { contentsOf } from './archive.js';
import type { Reading } from './reading.js';

/** What differs from opening to opening, to be taken out of what was read. */
export interface Marks {
  readonly folder: string;
  readonly farSide: string;
  /** When the home's last process ended, epoch ms. */
  readonly at: number;
  /** The ids that stand in the home's files: all others were made when it was opened. */
  readonly ids: ReadonlySet<string>;
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Every UUID in the files of an archive. */
export function idsIn(packed: Buffer): ReadonlySet<string> {
  const texts = contentsOf(packed).map(({ content }) => content?.toString('latin1') ?? '');
  return new Set(texts.flatMap((text) => text.match(uuid) ?? []));
}

/**
 * A reading in which everything that was there before the home was opened stands as it is, times and ids too, and
 * of everything that happened since, neither the time nor the id nor the place in the log.
 */
export function comparable(reading: Reading, marks: Marks): Reading {
  const text = JSON.stringify(reading)
    .replaceAll(marks.folder, '<folder>')
    .replaceAll(marks.farSide, '<far side>')
    .replaceAll(uuid, (id) => (marks.ids.has(id) ? id : '<new id>'));
  return plain(JSON.parse(text), marks) as Reading;
}

function plain(value: unknown, marks: Marks): unknown {
  if (Array.isArray(value)) {
    const all = value.map((each) => plain(each, marks));
    const texts = new Map(all.map((each) => [each, JSON.stringify(each)]));
    // What happened when the home was opened happened side by side, in any order
    const isUnordered = [...texts.values()].some((text) => text?.includes('<later>'));
    return isUnordered ? all.sort((one, other) => (texts.get(one)! < texts.get(other)! ? -1 : 1)) : all;
  }
  if (typeof value === 'object' && value !== null) {
    const isNew = happened.some((name) => isLater((value as Readonly<Record<string, unknown>>)[name], marks));
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !ofThisProcess.has(name) && !(isNew && ofTheLog.has(name)))
        .map(([name, each]) => [name, plain(each, marks)]),
    );
  }
  return isLater(value, marks) ? '<later>' : value;
}

/** A time of the two days after the home was left: what is further ahead is a date that was written down. */
function isLater(value: unknown, { at }: Marks): boolean {
  const time =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)
        ? Date.parse(value)
        : Number.NaN;
  return time >= at - 5_000 && time < at + 2 * 86_400_000;
}

const happened = ['at', 'lastAt', 'updatedAt', 'since'];
const ofTheLog = new Set(['seq', 'tx', 'prev', 'cause']);
/** Members that tell of this process, of this moment, or of how long something took. */
const ofThisProcess = new Set(['uptime', 'pid', 'port', 'url', 'durationMs', 'awake', 'commits']);
