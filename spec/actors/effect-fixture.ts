import type { EffectContext } from '../../actors/contracts.js';
import type { Json } from '../../machines/outputs.js';

/** A kernel's side of an effect, for one hand: what it was told, and levers for leaving the state. */
export interface Desk {
  readonly context: EffectContext;
  readonly sent: readonly Record<string, unknown>[];
  readonly notes: readonly Json[];
  readonly frames: readonly { readonly event: string; readonly payload: Record<string, Json | undefined> }[];
  leave(reason?: 'left' | 'stopping'): void;
  /** Resolves when an event of this type was sent. */
  heard(type: string): Promise<void>;
  /** Resolves when the text of all deltas holds this. */
  read(text: string): Promise<void>;
}

export function app(
  options: {
    readonly id?: string;
    readonly kind?: string;
    readonly messages?: readonly Json[];
    readonly failSend?: string;
  } = {},
): Desk {
  const controller = new AbortController();
  const sent: Record<string, unknown>[] = [];
  const notes: Json[] = [];
  const frames: { event: string; payload: Record<string, Json | undefined> }[] = [];
  const watchers: (() => void)[] = [];
  let reason: 'left' | 'stopping' | undefined;
  const tell = (): void => {
    for (const watcher of watchers) watcher();
  };
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (holds()) resolve();
      };
      watchers.push(look);
      look();
    });
  const words = (): string =>
    frames
      .filter(({ payload }) => payload['type'] === 'text')
      .map(({ payload }) => String(payload['content']))
      .join('');
  return {
    sent,
    notes,
    frames,
    context: {
      key: 'session/s1/1.0',
      actor: { kind: options.kind ?? 'session', id: options.id ?? 's1' },
      supervisor: {} as EffectContext['supervisor'], // no effect under test acts through it
      signal: controller.signal,
      reason: () => reason,
      detach: () => undefined,
      send(event) {
        if (event.type === options.failSend) return Promise.reject(new Error('the store cannot write'));
        sent.push(event);
        tell();
        return Promise.resolve();
      },
      checkpoint: (note) => {
        notes.push(note);
        return Promise.resolve();
      },
      checkpointed: undefined,
      step: async (_name, run) => run(),
      progress(event, payload) {
        frames.push({ event, payload: payload as Record<string, Json | undefined> });
        tell();
      },
      onEvent: () => undefined,
      rows: (_collection, { last, where = () => true } = {}) =>
        Promise.resolve((options.messages ?? []).filter((row) => where(row)).slice(-(last ?? Infinity))),
    },
    leave(why = 'left') {
      reason = why;
      controller.abort();
    },
    heard: (type) => until(() => sent.some((event) => event['type'] === type)),
    read: (text) => until(() => words().includes(text)),
  };
}
