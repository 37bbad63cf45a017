import { expect } from 'chai';
import type { Events, GatewayEvent } from '../../../lib/client/events.js';
import type { Requests } from '../../../lib/client/requests.js';
import { startRun } from '../../../lib/client/run.js';

/** Frames in an order that real gateways give them in, but only now and then. */
describe('a run of a client', () => {
  // An agent that is being ended speaks on while the next turn has begun: its words stood before the answer.
  it('says nothing of the turn before, which its message interrupted', async () => {
    const frame = (event: GatewayEvent['event'], payload: object): GatewayEvent =>
      ({ event, payload: { sessionId: 's', ...payload }, seq: 0, ts: 0 }) as GatewayEvent;
    const frames = [
      frame('session:delta', { messageId: 's:1:answer', type: 'text', content: 'before' }),
      frame('session:interrupted', {}),
      frame('session:started', { turnId: 's:2' }),
      frame('session:delta', { messageId: 's:1:answer', type: 'text', content: 'late' }),
      frame('session:delta', { messageId: 's:2:answer', type: 'text', content: 'mine' }),
      frame('session:stopped', {}),
    ];
    const events = {
      open: Promise.resolve(),
      close: () => undefined,
      async *[Symbol.asyncIterator]() {
        yield* await Promise.resolve(frames);
      },
    } as unknown as Events;
    const requests = {
      get: () => Promise.resolve({ status: 'running', queueDepth: 0 }),
      post: () => Promise.resolve({ sessionId: 's' }),
    } as unknown as Requests;
    const run = await startRun(requests, () => events, 'count', { session: 's' });
    const said: string[] = [];
    if (Symbol.asyncIterator in run) for await (const { content } of run) said.push(content);
    expect(said).to.deep.equal(['mine']);
  });
});
