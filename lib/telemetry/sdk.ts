import type { Attributes, Histogram } from '@opentelemetry/api';
import type { MeterProvider } from '@opentelemetry/sdk-metrics';
import { installCommand, unfitPackage } from '../../actors/optional-package.js';
import { logRecordOf } from './log-record.js';
import { readableSpan, type EndedSpan } from './spans.js';

/** Section `telemetry` of config.yaml. */
export interface TelemetrySettings {
  /** Address of an OTLP/HTTP receiver. */
  readonly to: string;
  /** Prompts, answers, and what tools are given and say. */
  readonly content: boolean;
  /** Seconds from one sending of metrics to the next. */
  readonly metricsEverySeconds: number;
}

/** What is measured at one moment, as `GET /metrics` shows it. */
export interface Measured {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly { readonly value: number; readonly labels?: Attributes }[];
}

/** What leaves this process, by OTLP over HTTP. Sending never delays, never throws, and drops what it cannot send. */
export interface Sdk {
  span(span: EndedSpan): void;
  /** A line of the log as pino writes it, with what it belongs to. */
  line(line: string): void;
  /** Of a turn of an agent; seconds. */
  readonly turnSeconds: Histogram;
  readonly turnTokens: Histogram;
  readonly requestSeconds: Histogram;
  /** From now on these are sent as well. */
  measure(measured: () => Promise<readonly Measured[]>): void;
  /** Send what is left, for at most two seconds. */
  close(): Promise<void>;
}

const packages: readonly string[] = [
  '@opentelemetry/api',
  '@opentelemetry/exporter-logs-otlp-http',
  '@opentelemetry/exporter-metrics-otlp-http',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-logs',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/sdk-trace',
];

/** Why nothing can be sent, and the command that changes it. */
export interface Unfit {
  readonly what: string;
  readonly install: string;
}

/** What is missing of what telemetry needs, or of a wrong version; undefined where all fits. Loads nothing. */
export function unfitTelemetry(): Unfit | undefined {
  const unfit = packages.flatMap((name) => {
    const why = unfitPackage(name);
    return why === undefined ? [] : [{ name, why: `${name} ${why}` }];
  });
  if (unfit.length === 0) return undefined;
  return {
    what: unfit.map(({ why }) => why).join('; '),
    install: installCommand(unfit.map(({ name }) => name)),
  };
}

/** For packages that seem to fit, and cannot be used. `reinstallTelemetry() // 'npm install …'` */
export const reinstallTelemetry = (): string => installCommand(packages);

/** Loads the packages: call it only where telemetry is on and `unfitTelemetry` finds nothing. */
export async function openSdk(
  { to, metricsEverySeconds }: TelemetrySettings,
  facts: {
    readonly version: string;
    readonly instance: string;
    /** Something could not be sent. */
    readonly onFault: (error: unknown) => void;
  },
): Promise<Sdk> {
  const [
    api,
    traces,
    metrics,
    logs,
    { BatchSpanProcessor },
    sdkMetrics,
    sdkLogs,
    { resourceFromAttributes },
  ] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/exporter-metrics-otlp-http'),
    import('@opentelemetry/exporter-logs-otlp-http'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/sdk-metrics'),
    import('@opentelemetry/sdk-logs'),
    import('@opentelemetry/resources'),
  ]);
  const { version, instance, onFault } = facts;
  const address = (signal: string): { url: string } => ({ url: `${to.replace(/\/+$/, '')}/v1/${signal}` });
  const resource = resourceFromAttributes({
    'service.name': process.env['OTEL_SERVICE_NAME'] ?? 'troupe',
    'service.version': version,
    'service.instance.id': instance,
  });

  const spans = new BatchSpanProcessor({
    exporter: reporting(new traces.OTLPTraceExporter(address('traces')), onFault),
    scheduledDelayMillis: sendEveryMs,
  });
  const reader = new sdkMetrics.PeriodicExportingMetricReader({
    exporter: reporting(new metrics.OTLPMetricExporter(address('metrics')), onFault),
    exportIntervalMillis: metricsEverySeconds * 1_000,
    exportTimeoutMillis: Math.min(10_000, metricsEverySeconds * 1_000),
  });
  const meters = new sdkMetrics.MeterProvider({ resource, readers: [reader] });
  const meter = meters.getMeter('troupe', version);
  const records = new sdkLogs.LoggerProvider({
    resource,
    processors: [
      new sdkLogs.BatchLogRecordProcessor({
        exporter: reporting(new logs.OTLPLogExporter(address('logs')), onFault),
        scheduledDelayMillis: sendEveryMs,
      }),
    ],
  });
  const logger = records.getLogger('troupe', version);

  return {
    span: (span) => {
      if (span.isSampled) spans.onEnd(readableSpan(span, resource, version));
    },
    line: (line) => {
      try {
        logger.emit(logRecordOf(line, api));
      } catch {
        // who writes a line must not fail by its being sent
      }
    },
    turnSeconds: meter.createHistogram('gen_ai.client.operation.duration', { unit: 's' }),
    turnTokens: meter.createHistogram('gen_ai.client.token.usage', { unit: '{token}' }),
    requestSeconds: meter.createHistogram('http.server.request.duration', { unit: 's' }),
    measure: (measured) => observe(meter, measured),
    close: async () => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, closingMs)));
      const all = [spans.shutdown(), meters.shutdown(), records.shutdown()];
      await Promise.race([late, Promise.allSettled(all)]);
      clearTimeout(timer);
    },
  };
}

const closingMs = 2_000;
const sendEveryMs = 1_000;

/** The same exporter, whose faults are heard: the SDK drops what it could not send without a word. */
function reporting<Exporter extends { export: (items: never, done: (result: ExportResult) => void) => void }>(
  exporter: Exporter,
  onFault: (error: unknown) => void,
): Exporter {
  const send = exporter.export.bind(exporter);
  return Object.assign(exporter, {
    export: (items: never, done: (result: ExportResult) => void) =>
      send(items, (result) => {
        if (result.code !== 0) onFault(result.error);
        done(result);
      }),
  });
}

interface ExportResult {
  readonly code: number;
  readonly error?: Error;
}

type Meter = ReturnType<MeterProvider['getMeter']>;

/** `troupe_commits_total` is `troupe.commits_total` here, which collectors write as the former again. */
function observe(meter: Meter, measured: () => Promise<readonly Measured[]>): void {
  void measured().then((first) => {
    const kept = first.filter(({ type }) => type !== 'histogram');
    const instruments = new Map(
      kept.map(({ name, type, help }) => {
        const plain = name.replace('_', '.');
        const options = { description: help };
        return [
          name,
          type === 'counter'
            ? meter.createObservableCounter(plain, options)
            : meter.createObservableGauge(plain, options),
        ];
      }),
    );
    meter.addBatchObservableCallback(
      async (result) => {
        for (const { name, samples } of await measured()) {
          const instrument = instruments.get(name);
          if (instrument === undefined) continue;
          for (const { value, labels } of samples) result.observe(instrument, value, labels ?? {});
        }
      },
      [...instruments.values()],
    );
  }, ignore);
}

/** It is measured again at the next look of `GET /metrics`, which shows what is wrong. */
const ignore = (): void => undefined;
