import type { Json } from '../../../machines/outputs.js';
import { isObject, numberAt, textAt, type JsonObject, type LineChild } from '../agent/lines.js';

/**
 * Questions and answers over lines, as `codex app-server` speaks them: JSON-RPC without its version member.
 * Both sides ask; a question of the program that no one here can answer is answered with an error, for it
 * would wait for ever.
 */
export interface Conversation {
  /** Rejects with `Refused` when the program answers with an error, and when it is gone. */
  ask(method: string, params: JsonObject): Promise<JsonObject>;
  notify(method: string): void;
  /** One line of the program. */
  take(message: JsonObject, child: LineChild): void;
  /** The child that questions go to; until then they wait. */
  begin(child: LineChild): void;
  /** It is gone: no one will answer any more. */
  end(): void;
}

export interface Listener {
  onNotification(method: string, params: JsonObject): void;
  /** The result of a question that the program asks; undefined: not served here. */
  onQuestion(method: string, params: JsonObject): Promise<JsonObject | undefined>;
}

/** The program said no, in its own words. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

interface Waiting {
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

/** `const talk = converse({onNotification, onQuestion}); … await talk.ask('initialize', {…})` */
export function converse(listener: Listener): Conversation {
  const waiting = new Map<number, Waiting>();
  let child: LineChild | undefined;
  let isOver = false;
  let asked = 0;

  async function answer(id: Json, method: string, params: JsonObject, self: LineChild): Promise<void> {
    const result = await listener.onQuestion(method, params).catch(() => undefined);
    self.send(
      result === undefined
        ? { id, error: { code: -32_601, message: `${method} is not supported` } }
        : { id, result },
    );
  }

  return {
    begin(own) {
      child = own;
    },
    ask(method, params) {
      if (isOver) return Promise.reject(new Error('The agent has exited.'));
      const id = (asked += 1);
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        child?.send({ method, id, params });
      });
    },
    notify: (method) => child?.send({ method }),
    take(message, self) {
      const method = textAt(message, 'method');
      const params = isObject(message['params']) ? message['params'] : {};
      const { id } = message;
      if (method !== undefined && id !== undefined) return void answer(id, method, params, self);
      if (method !== undefined) return listener.onNotification(method, params);
      const question = waiting.get(numberAt(message, 'id') ?? -1);
      if (question === undefined) return;
      waiting.delete(numberAt(message, 'id') ?? -1);
      if (isObject(message['error']))
        question.reject(
          new Refused(textAt(message['error'], 'message') ?? 'codex refused without a reason.'),
        );
      else question.resolve(isObject(message['result']) ? message['result'] : {});
    },
    end() {
      isOver = true;
      for (const { reject } of waiting.values()) reject(new Error('The agent has exited.'));
      waiting.clear();
    },
  };
}
