import { writeRow, type Json, type WriteRow, type Decision } from '../outputs.js';
import { refuse, type Refusal } from '../refusals.js';
import { activityLimits, isActivity } from './activity-entry.js';
import type { SessionContext, SessionEventOf } from './context.js';
import type { MessageRow } from './input.js';
import { holdsOutput, type KeptOutput, type OutputMark, type ShortenedRow } from './kept-output.js';

/** What is remembered of results that these rows hold; nothing where they hold none. */
export function withOutput(
  { toolOutput }: Pick<SessionContext, 'toolOutput'>,
  rows: readonly WriteRow[],
): Pick<SessionContext, 'toolOutput'> {
  const written = rows.filter(({ row }) => holdsOutput(row ?? {})).map(({ n }) => Number(n));
  if (written.length === 0) return {};
  const first = Math.min(...written);
  const { last = 0, dropped = 0, marks = [] } = toolOutput ?? {};
  return {
    toolOutput: {
      last: Math.max(last, ...written),
      // A tool that ended late stands before others: marks that were made before it say nothing of it
      dropped: Math.min(dropped, first - 1),
      marks: marks.filter(([row]) => row < first),
    },
  };
}

/**
 * What was judged by a mark goes if that mark still stands: an erasure takes it away with the rows. Results of a turn
 * that still speaks stay. Then what came since the last mark gets one.
 */
export function sweepOutput(
  context: SessionContext,
  event: SessionEventOf<'output.swept'>,
): Decision<SessionContext> {
  const { toolOutput } = context;
  const { dropped = nothing } = event;
  if (toolOutput == null || !(dropped === nothing || stands(toolOutput, dropped.mark))) return {};
  const speaking = [context.turn?.id, ...context.leftTurns];
  const held = dropped.rows.find(({ row }) => speaking.includes(turnOf(row)))?.n ?? Infinity;
  const outputs = dropped.rows.filter(({ n }) => n < held).map((one) => droppedRow(one, event.at));
  const upTo = Math.max(toolOutput.dropped, Math.min(dropped.upTo, held - 1));
  if (upTo >= toolOutput.last) return { set: { toolOutput: null }, outputs };
  const [marked, markedAt] = toolOutput.marks.at(-1) ?? [0, -Infinity];
  const isDue = marked < toolOutput.last && event.now - markedAt >= event.everyMs;
  const marks = [...toolOutput.marks, ...(isDue ? [[context.messages, event.now] as const] : [])];
  return {
    set: { toolOutput: { ...toolOutput, dropped: upTo, marks: marks.filter(([row]) => row > upTo) } },
    outputs,
  };
}

const nothing = { mark: [0, 0], upTo: 0, rows: [] } as const;

const stands = ({ marks }: KeptOutput, [row, at]: OutputMark): boolean =>
  marks.some((mark) => mark[0] === row && mark[1] === at);

const turnOf = ({ meta }: MessageRow): string | undefined =>
  (meta as { readonly turnId?: string } | null | undefined)?.turnId;

const droppedRow = ({ n, row }: ShortenedRow, at: number): WriteRow =>
  writeRow('messages', n, { ...row, meta: { ...(row.meta as Record<string, Json>), droppedAt: at } });

/** Bounds, and messages of tools alone: no other may be written again. */
export function fitSwept({ dropped }: SessionEventOf<'output.swept'>): Refusal | undefined {
  const isFit =
    dropped === undefined ||
    (dropped.rows.length <= activityLimits.entriesMax &&
      dropped.rows.every(({ n, row: { meta } }) => n <= dropped.mark[0] && isActivity({ meta })));
  return isFit ? undefined : refuse('BAD_REQUEST', { path: 'dropped' }, 'Invalid results of tools.');
}
