import { isObject, numberAt, objectAt, textAt, type JsonObject } from '../agent/lines.js';
import type { ContextUse } from '../turn-events.js';

/**
 * How full the agent's context is. The sums of its `result` are of all requests of a turn, which read the same context
 * again and again: the last request alone says how large it is. Agents below it have contexts of their own.
 */
export interface ContextReader {
  take(message: JsonObject): void;
  /** Nothing where no request was seen; without the window where `result` names none for its model. */
  usage(result: JsonObject): ContextUse;
}

export function contextReader(): ContextReader {
  let model: string | undefined;
  let read: number | undefined;
  let wrote = 0;
  return {
    take(message) {
      if (textAt(message, 'parent_tool_use_id') !== undefined) return;
      const event = objectAt(message, 'event');
      // Its last count of what was written comes after the message itself
      if (event['type'] === 'message_delta')
        wrote = Math.max(wrote, numberAt(objectAt(event, 'usage'), 'output_tokens') ?? 0);
      if (event['type'] === 'message_start') wrote = 0;
      if (message['type'] !== 'assistant') return;
      const said = objectAt(message, 'message');
      const usage = objectAt(said, 'usage');
      const of = (name: string): number => numberAt(usage, name) ?? 0;
      const tokens = of('input_tokens') + of('cache_creation_input_tokens') + of('cache_read_input_tokens');
      if (tokens === 0) return;
      model = textAt(said, 'model');
      read = tokens;
      wrote = Math.max(wrote, of('output_tokens'));
    },
    usage(result) {
      if (read === undefined) return {};
      const contextTokens = read + wrote;
      const contextWindow = windowOf(objectAt(result, 'modelUsage'), model);
      return contextWindow === undefined ? { contextTokens } : { contextTokens, contextWindow };
    },
  };
}

/** The program's name of a model may say more than the provider's: `claude-x[1m]`. */
function windowOf(models: JsonObject, model: string | undefined): number | undefined {
  const names = Object.keys(models);
  const name =
    names.length === 1
      ? names[0]
      : names.find((one) => model !== undefined && (one === model || one.startsWith(`${model}[`)));
  const { [name ?? '']: used } = models;
  const size = isObject(used) ? numberAt(used, 'contextWindow') : undefined;
  return size !== undefined && size > 0 ? size : undefined;
}
