import type { Server } from 'node:http';
import type { Context, Next } from 'koa';
import { answerRefusal } from './failures.js';
import { refuse } from '../../machines/refusals.js';

/**
 * An orderly end: no new connection, no new request on an old one, answers for all that had begun, then the sockets.
 */
export function drainable(servers: readonly Server[]) {
  let draining = false;
  return {
    async middleware(ctx: Context, next: Next): Promise<void> {
      if (!draining) {
        await next();
        // an answer that was begun before the drain ends its connection, so that the server can close
        if (draining && !ctx.headerSent) ctx.set('Connection', 'close');
        return;
      }
      ctx.set('Connection', 'close');
      answerRefusal(ctx, refuse('DRAINING'));
    },
    async close(drainMs: number, closeSockets: () => void): Promise<void> {
      draining = true;
      const closed = Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
      const letIdleGo = (): void => servers.forEach((server) => server.closeIdleConnections());
      letIdleGo();
      closeSockets();
      const idle = setInterval(letIdleGo, 50); // a connection becomes idle when its last answer is out
      const late = setTimeout(() => servers.forEach((server) => server.closeAllConnections()), drainMs);
      await closed;
      clearInterval(idle);
      clearTimeout(late);
    },
  };
}
