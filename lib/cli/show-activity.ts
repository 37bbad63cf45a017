import { plainText } from './print.js';
import type { Times } from './times.js';

/** A message as the gateway shows it. */
export interface ShownMessage {
  readonly role: string;
  readonly content: string;
  readonly partial?: boolean | undefined;
  readonly toolCall?: string | undefined;
  readonly meta?: Readonly<Record<string, unknown>> | null | undefined;
}

/** A message of a session in a terminal: what was said whole, what was done as a line and the beginning of its result. */
export function messageLines(
  { role, content, partial, toolCall, meta }: ShownMessage,
  times: Pick<Times, 'date'>,
): readonly string[] {
  switch (meta?.['kind']) {
    case 'tool':
    case 'permission':
      return [
        `\n[${plainText(`${meta['kind'] === 'tool' ? (toolCall ?? 'tool') : content}: ${text(meta['state'])}`)}]`,
        ...beginning(text(meta['toolInput']), 1),
        ...beginning(text(meta['toolOutput']), outputLinesMax),
        ...dropped(meta, times),
      ];
    case 'file-change':
    case 'changes':
      return [`\n[${plainText(content)}]`];
    case 'thinking':
      return ['\n[thinking]', ...beginning(content, outputLinesMax)];
    default:
      return [
        `\n${role}${partial === true ? ' (partial)' : ''}:`,
        plainText(content, { keepLines: true }).replace(/^/gm, '  '),
      ];
  }
}

const outputLinesMax = 5;
const columnsMax = 160;

function beginning(whole: string, linesMax: number): readonly string[] {
  if (whole.trim() === '') return [];
  const lines = whole.trimEnd().split('\n');
  const shown = lines.slice(0, linesMax).map((line) => `  ${plainText(line).slice(0, columnsMax)}`);
  return lines.length > linesMax ? [...shown, `  … ${lines.length - linesMax} more lines`] : shown;
}

/** That a result was longer and is kept no more (`sessions.keepToolOutput`). */
function dropped(
  { droppedAt, toolOutputBytes }: Readonly<Record<string, unknown>>,
  times: Pick<Times, 'date'>,
): readonly string[] {
  if (typeof droppedAt !== 'number') return [];
  return [`  … ${String(toolOutputBytes)} bytes in all, dropped on ${times.date(droppedAt)}`];
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
