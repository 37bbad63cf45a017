import type { Supervisor } from '../supervisor/contract.js';
import type { ProgressFrame } from '../supervisor/answers.js';
import { keys } from '../store/keys.js';
import { readEntry } from '../supervisor/event-log.js';
import type { ActorKey, Json } from '../../machines/outputs.js';
import type { Pulse } from './answers.js';
import type { InspectRefusal } from '../client/inspector-frames.js';

/**
 * What just happened, remembered from when the supervisor began to be served: so that a page that is opened late
 * shows the same rates and refusals as one that was open all day, and what an agent said before anyone looked.
 * In memory alone, and bounded.
 */
export interface PulseMemory {
  read(): Pulse;
  /** What the effects of an actor said last, not stored yet; undefined where nothing was heard. */
  said(actor: ActorKey): Said | undefined;
}

/** `at`: epoch ms of the last word. `text`: the end of it. */
export interface Said {
  readonly at: number;
  readonly text: string;
}

const memories = new WeakMap<Supervisor, PulseMemory>();

/** The one memory of a supervisor; it begins with the first call. */
export function pulseOf(supervisor: Supervisor): PulseMemory {
  const known = memories.get(supervisor);
  if (known !== undefined) return known;
  const made = remember(supervisor);
  memories.set(supervisor, made);
  return made;
}

interface Second {
  at: number;
  total: number;
  readonly kinds: Map<string, number>;
}

const secondsMax = 60;
const kindSeconds = 5;
const refusalsMax = 20;
const speakersMax = 500;
const charsMax = 2_000;

function remember(supervisor: Supervisor): PulseMemory {
  const { clock } = supervisor.environment;
  const since = clock.now();
  const seconds: Second[] = Array.from({ length: secondsMax }, () => ({
    at: -1,
    total: 0,
    kinds: new Map(),
  }));
  const said = new Map<string, Said & { readonly message: Json | undefined }>();
  let refusals: readonly InspectRefusal[] = [];
  let refused = 0;

  const secondNow = (): number => Math.floor(clock.monotonic() / 1_000);

  supervisor.inspection.tap((entries) => {
    const now = secondNow();
    const second = seconds[now % secondsMax] as Second;
    if (second.at !== now) {
      second.at = now;
      second.total = 0;
      second.kinds.clear();
    }
    second.total += entries.length;
    for (const { actor, value } of entries) {
      second.kinds.set(actor.kind, (second.kinds.get(actor.kind) ?? 0) + 1);
      if (said.size === 0) continue;
      const place = keys.actor(actor.kind, actor.id);
      // Stored now, and perhaps erased later: a memory of it would outlive that
      if (said.has(place) && readEntry(value).effects.some((name) => name.startsWith('-')))
        said.delete(place);
    }
  });

  supervisor.onProgress(({ actor, event, payload, at }) => {
    if (event === 'refusal') {
      const { event: type, code, message } = payload as unknown as RefusalPayload;
      refused += 1;
      refusals = [...refusals, { ...actor, at, event: { type }, refusal: { code, message } }].slice(
        -refusalsMax,
      );
    } else hear({ actor, event, payload, at });
  });

  function hear({ actor, payload, at }: ProgressFrame): void {
    const { content, type, messageId } = (
      typeof payload === 'object' && payload !== null && !Array.isArray(payload) ? payload : {}
    ) as Readonly<Record<string, Json | undefined>>;
    if (typeof content !== 'string') return;
    const place = keys.actor(actor.kind, actor.id);
    const before = said.get(place);
    const begun = before !== undefined && before.message === messageId ? before.text : '';
    const text = type === 'text' ? begun + content : `${begun}\n[${String(type)}] ${content}\n`;
    said.delete(place); // the one that spoke last stands at the end
    said.set(place, { at, text: text.slice(-charsMax), message: messageId });
    const [oldest] = said.keys();
    if (said.size > speakersMax && oldest !== undefined) said.delete(oldest);
  }

  return {
    read() {
      const now = secondNow();
      const perSecond = Array.from({ length: secondsMax }, (_, n) => {
        const at = now - secondsMax + 1 + n;
        const second = at < 0 ? undefined : seconds[at % secondsMax];
        return second?.at === at ? second : undefined;
      });
      const kinds = new Map<string, number>();
      for (const second of perSecond.slice(-kindSeconds))
        for (const [kind, count] of second?.kinds ?? []) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
      return {
        since,
        perSecond: perSecond.map((second) => second?.total ?? 0),
        perKind: Object.fromEntries([...kinds].map(([kind, count]) => [kind, count / kindSeconds])),
        refused,
        refusals,
      };
    },
    said(actor) {
      const last = said.get(keys.actor(actor.kind, actor.id));
      return last && { at: last.at, text: last.text };
    },
  };
}

interface RefusalPayload {
  readonly event: string;
  readonly code: string;
  readonly message: string;
}
