import { createHash } from 'node:crypto';
import type { Attributes, SpanKind } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';

/** A place in a trace, as W3C trace context has it. */
export interface TraceContext {
  /** 32 characters of hex. */
  readonly traceId: string;
  /** 16 characters of hex. */
  readonly spanId: string;
  /** False: the one who began the trace wants none of it kept. */
  readonly isSampled: boolean;
}

/** @example readTraceparent('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01')?.isSampled // true */
export function readTraceparent(text: string | undefined): TraceContext | undefined {
  const [, version, traceId = '', spanId = '', flags = ''] = wellFormed.exec(text ?? '') ?? [];
  if (version === undefined || version === 'ff') return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

const wellFormed = /^([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

export const traceparentOf = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;

/** The same id for the same thing in every process that ever asks: that is how a trace outlives a gateway. */
export const traceIdOf = (...of: readonly string[]): string => hashed(of).slice(0, 32);
export const spanIdOf = (...of: readonly string[]): string => hashed(of).slice(32, 48);

const hashed = (of: readonly string[]): string => createHash('sha256').update(of.join('\n')).digest('hex');

/** A span that is over. Ours are made when they end, from what the log says of their beginning. */
export interface EndedSpan extends TraceContext {
  readonly name: string;
  readonly kind: keyof typeof kinds;
  readonly parentSpanId?: string | undefined;
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly attributes: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly links?: readonly TraceContext[];
  /** What went wrong; absent: nothing did. */
  readonly error?: string | undefined;
}

/** Numbers of the API's enumerations, which is loaded only where spans are sent. */
const kinds = { internal: 0 as SpanKind, server: 1 as SpanKind };
const failed = 2;

/** The span as processors and exporters of the SDK take it. */
export function readableSpan(span: EndedSpan, resource: Resource, version: string): ReadableSpan {
  const { traceId, spanId, parentSpanId, isSampled, from, to, error } = span;
  const traceFlags = isSampled ? 1 : 0;
  return {
    name: span.name,
    kind: kinds[span.kind],
    spanContext: () => ({ traceId, spanId, traceFlags }),
    ...(parentSpanId !== undefined && {
      parentSpanContext: { traceId, spanId: parentSpanId, traceFlags, isRemote: span.kind === 'server' },
    }),
    startTime: timeOf(from),
    endTime: timeOf(Math.max(from, to)),
    duration: timeOf(Math.max(0, to - from)),
    ended: true,
    status: error === undefined ? { code: 0 } : { code: failed, message: error },
    attributes: attributesOf(span.attributes),
    links: (span.links ?? []).map((link) => ({
      context: { traceId: link.traceId, spanId: link.spanId, traceFlags: link.isSampled ? 1 : 0 },
    })),
    events: [],
    resource,
    instrumentationScope: { name: 'troupe', version },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

const timeOf = (ms: number): [number, number] => [
  Math.trunc(ms / 1_000),
  Math.round((ms % 1_000) * 1_000_000),
];

/** Without those of which nothing is known. */
export const attributesOf = (given: EndedSpan['attributes']): Attributes =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[name, value] as const],
    ),
  );
