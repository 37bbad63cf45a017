import type * as Api from '@opentelemetry/api';
import type { LoggerProvider } from '@opentelemetry/sdk-logs';
import { attributesOf } from './spans.js';

type LogRecord = Parameters<ReturnType<LoggerProvider['getLogger']>['emit']>[0];

/** A line of pino as a log record, with the trace that it names. Secrets were taken out of the line before. */
export function logRecordOf(
  line: string,
  { trace, ROOT_CONTEXT }: Pick<typeof Api, 'trace' | 'ROOT_CONTEXT'>,
): LogRecord {
  const {
    level,
    time,
    msg,
    pid: _pid,
    trace_id: traceId,
    span_id: spanId,
    ...rest
  } = JSON.parse(line) as { level: number; time: number; msg?: string } & Record<string, unknown>;
  const attributes = Object.entries(rest).map(
    ([name, value]) => [name, isPlain(value) ? value : JSON.stringify(value)] as const,
  );
  const step = Math.trunc(level / 10) - 1; // 10 to 60 of pino are 1, 5, 9, 13, 17 and 21
  return {
    timestamp: time,
    severityNumber: step * 4 + 1,
    severityText: severities[step] ?? 'INFO',
    body: msg ?? '',
    attributes: { ...attributesOf(Object.fromEntries(attributes)) },
    ...(typeof traceId === 'string' &&
      typeof spanId === 'string' && {
        context: trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: 1 }),
      }),
  };
}

const severities: readonly string[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

const isPlain = (value: unknown): value is string | number | boolean | null =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);
