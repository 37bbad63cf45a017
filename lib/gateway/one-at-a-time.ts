import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * One answer at a time per connection. Node hands out every request that a client has sent ahead (pipelining) at once,
 * and keeps all their answers until the client reads them: forty small requests and a deaf reader would cost forty
 * large answers of memory. Here the next one begins when the one before is with the system.
 */
export function oneAtATime(answer: Answer): Answer {
  const lanes = new WeakMap<Socket, Lane>();
  return (request, response) => {
    const { socket } = request;
    const lane = lanes.get(socket) ?? { busy: false, waiting: [] };
    lanes.set(socket, lane);
    const begin = (): void => {
      lane.busy = true;
      response.once('close', () => {
        lane.busy = false;
        lane.waiting.shift()?.();
      });
      if (!socket.destroyed && !request.destroyed) answer(request, response);
      else socket.destroy(); // who hung up before its turn came gets no answer, and nothing waits for the rest of its body
    };
    if (!lane.busy) return begin();
    if (lane.waiting.length >= waitingMax) return void socket.destroy();
    lane.waiting.push(begin);
  };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
interface Lane { busy: boolean; readonly waiting: (() => void)[] }

const waitingMax = 100;
