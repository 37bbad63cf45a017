import { createServer } from 'node:http';
import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** A span as it came over the wire. */
export interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface Sent {
  readonly resourceSpans?: { scopeSpans: { spans: (SentSpan & { attributes: Attribute[] })[] }[] }[];
  readonly resourceMetrics?: { scopeMetrics: { metrics: { name: string }[] }[] }[];
  readonly resourceLogs?: { scopeLogs: { logRecords: { traceId?: string; body?: Value }[] }[] }[];
}

interface Value {
  readonly stringValue?: string;
}

interface Attribute {
  readonly key: string;
  readonly value: Value & { readonly intValue?: number; readonly doubleValue?: number };
}

/** A receiver of OTLP over HTTP, as a collector is one. */
export async function openReceiver() {
  const texts: string[] = [];
  const arrived = new EventEmitter().setMaxListeners(0);
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      texts.push(text);
      arrived.emit('text');
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const all = (): Sent[] => texts.map((text) => JSON.parse(text) as Sent);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    texts,
    /** What `look` finds in what has arrived, as soon as it is there. */
    async until<Found>(look: () => Found | undefined): Promise<Found> {
      for (;;) {
        const found = look();
        if (found !== undefined) return found;
        await once(arrived, 'text');
      }
    },
    spans: (): SentSpan[] =>
      all()
        .flatMap(({ resourceSpans = [] }) => resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans }) => spans)
        .map(({ attributes, ...span }) => ({
          ...span,
          attributes: Object.fromEntries(
            attributes.map(({ key, value }) => [
              key,
              value.stringValue ?? value.intValue ?? value.doubleValue,
            ]),
          ),
        })),
    metrics: (): string[] =>
      all()
        .flatMap(({ resourceMetrics = [] }) => resourceMetrics)
        .flatMap(({ scopeMetrics }) => scopeMetrics)
        .flatMap(({ metrics }) => metrics.map(({ name }) => name)),
    logs: () =>
      all()
        .flatMap(({ resourceLogs = [] }) => resourceLogs)
        .flatMap(({ scopeLogs }) => scopeLogs)
        .flatMap(({ logRecords }) => logRecords),
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}
