import { connect } from 'node:net';

/**
 * The load generator: a process of its own that knows just enough HTTP to keep connections busy with one
 * prepared request, so that the server is the bottleneck. Told by IPC what to send; answers with what came of
 * it.
 */
export interface LoadOrder {
  readonly port: number;
  readonly connections: number;
  readonly requests: number;
  /** The whole request as text, headers and body. */
  readonly request: string;
}

export interface LoadReport {
  readonly seconds: number;
  /** Of all answers but the first of each connection. */
  readonly latenciesMs: readonly number[];
  /** Answers by status code. */
  readonly statuses: Readonly<Record<string, number>>;
}

process.on('message', (order: LoadOrder) => {
  run(order).then(
    (report) => process.send?.(report),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});

async function run({ port, connections, requests, request }: LoadOrder): Promise<LoadReport> {
  const bytes = Buffer.from(request);
  const latenciesMs: number[] = [];
  const statuses: Record<string, number> = {};
  let left = requests;
  const lane = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let sent = 0;
      let accepted = false;
      let pending: Buffer = Buffer.alloc(0);
      const next = (): void => {
        if (left-- <= 0) {
          socket.end();
          return resolve();
        }
        sent = performance.now();
        socket.write(bytes);
      };
      socket.on('connect', next);
      socket.on('error', reject);
      socket.on('close', () => resolve());
      socket.on('data', (chunk: Buffer) => {
        pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
        const end = endOfAnswer(pending);
        if (end === undefined || pending.length < end) return;
        const status = pending.toString('latin1', 9, 12);
        statuses[status] = (statuses[status] ?? 0) + 1;
        // The first answer also waits until the connection is accepted, and Node accepts one per turn of its
        // event loop.
        if (accepted) latenciesMs.push(performance.now() - sent);
        accepted = true;
        pending = pending.subarray(end);
        next();
      });
    });
  const began = performance.now();
  await Promise.all(Array.from({ length: connections }, lane));
  return { seconds: (performance.now() - began) / 1000, latenciesMs, statuses };
}

/** Where the answer at the beginning of the buffer ends, or undefined while its head is not whole. */
function endOfAnswer(buffer: Buffer): number | undefined {
  const head = buffer.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = /\r\ncontent-length: (\d+)/i.exec(buffer.toString('latin1', 0, head));
  if (length === null) throw new Error('an answer without content-length');
  return head + 4 + Number(length[1]);
}
