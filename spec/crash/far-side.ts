import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Random } from './random.js';

/**
 * The world outside, where effects act. It outlives every kill, remembers each call, and is idempotent in the
 * key.
 */
export interface FarSide {
  readonly url: string;
  /** Keys under which a tag arrived, and how often each. */
  calls(kind: 'keyed' | 'fenced', tag: string): ReadonlyMap<string, number>;
  /** When its calls arrived, as numbers in the order of all. */
  arrivals(kind: 'keyed' | 'fenced', tag: string): readonly number[];
  close(): Promise<void>;
}

export async function farSide(random: Random): Promise<FarSide> {
  const calls = new Map<string, Map<string, number>>();
  const arrived: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { key, input } = JSON.parse(Buffer.concat(chunks).toString()) as {
        key: string;
        input: { tag: string };
      };
      const place = `${(request.url ?? '').slice(1)} ${input.tag}`;
      arrived.push(place);
      const known = calls.get(place) ?? new Map<string, number>();
      calls.set(place, known.set(key, (known.get(key) ?? 0) + 1));
      // The action is done, the answer takes its time: a kill in between is the case that matters.
      setTimeout(
        () =>
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ outcome: 'sent', receipt: key })),
        random.between(0, 120),
      );
    })().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: (kind, tag) => calls.get(`${kind} ${tag}`) ?? new Map<string, number>(),
    arrivals: (kind, tag) => arrived.flatMap((place, n) => (place === `${kind} ${tag}` ? n : [])),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
