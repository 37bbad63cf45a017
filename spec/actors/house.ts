import { connectorKind } from '../../actors/connector/kind.js';
import { sessionKind } from '../../actors/session/kind.js';
import { workItemKind } from '../../actors/work-item/kind.js';
import type { AtMostOnceEffect, EffectContext } from '../../actors/contracts.js';
import type { ActorView, Supervisor } from '../../lib/supervisor/contract.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import { memoryStore } from '../../lib/store/memory.js';
import type { Store } from '../../lib/store/contract.js';
import type { Json } from '../../machines/outputs.js';
import { isRefusal } from '../../machines/refusals.js';
import type { TurnInput, TurnOutput } from '../../machines/session/context.js';

/** The three kinds under a real supervisor, with hands that a spec holds in its own. */
export interface House {
  readonly supervisor: Supervisor;
  readonly store: Store;
  /** The next turn that a session begins. */
  turn(): Promise<RunningTurn>;
  readonly recovered: TurnInput[];
  /** What the connector was given to send. */
  readonly sent: Json[];
}

export interface RunningTurn {
  readonly input: TurnInput;
  readonly context: EffectContext;
  end(output: Partial<TurnOutput>): void;
}

export async function house(
  options: {
    store?: Store;
    escalateAfterMs?: number;
    facts?: Record<string, unknown>;
    refuseLink?: number;
  } = {},
): Promise<House> {
  const waiting: ((turn: RunningTurn) => void)[] = [];
  const ready: RunningTurn[] = [];
  const recovered: TurnInput[] = [];
  const sent: Json[] = [];
  let refusals = options.refuseLink ?? 0;
  const effect: AtMostOnceEffect<TurnInput, TurnOutput> = {
    guarantee: 'at-most-once',
    run: async (input, context) => {
      // From here on the turn counts as begun: after a crash it is recovered, not run again
      await context.checkpoint({ pid: 0 });
      return new Promise<TurnOutput>((resolve) => {
        context.signal.addEventListener('abort', () => resolve({ outcome: 'interrupted', text: '' }));
        const turn = {
          input,
          context,
          end: (output: Partial<TurnOutput>) => resolve({ outcome: 'succeeded', text: 'done', ...output }),
        };
        const next = waiting.shift();
        if (next) next(turn);
        else ready.push(turn);
      });
    },
    recover: (input) => {
      recovered.push(input);
      return Promise.resolve({ outcome: 'interrupted', text: '' });
    },
  };
  const store = options.store ?? memoryStore();
  const supervisor = await createSupervisor({
    store,
    facts: options.facts ?? {},
    kinds: [
      sessionKind({ turn: effect }),
      workItemKind(options.escalateAfterMs === undefined ? {} : { escalateAfterMs: options.escalateAfterMs }),
      connectorKind({
        connection: {
          guarantee: 'at-least-once',
          run: (input: { mode: string }, { signal }) =>
            new Promise((resolve, reject) => {
              if (input.mode === 'hold') signal.addEventListener('abort', () => resolve(undefined));
              else if (refusals > 0) {
                refusals -= 1;
                reject(new Error('no route'));
              } else resolve(undefined);
            }),
        },
        delivery: {
          guarantee: 'at-most-once',
          run: async (_input: unknown, { rows }) => {
            sent.push(...(await rows('outbox', { last: 1 })).map((row) => ({ ...row })));
            return { outcome: 'sent', messageId: 'm-1' };
          },
          recover: () => Promise.resolve({ outcome: 'unknown', reason: 'the process died' }),
        },
      }),
    ],
  });
  return {
    supervisor,
    store,
    recovered,
    sent,
    turn: () =>
      new Promise((resolve) => {
        const turn = ready.shift();
        if (turn) resolve(turn);
        else waiting.push(resolve);
      }),
  };
}

export const session = (input: Record<string, Json> = {}): Json => ({
  engine: 'clerk',
  model: null,
  effort: null,
  employee: null,
  parentSessionId: null,
  ancestors: [],
  workItemId: null,
  title: null,
  cwd: '/srv/work',
  source: 'web',
  sourceRef: null,
  interruptOnNewMessage: true,
  turnDeadlineMs: 60_000,
  ...input,
});

export const say = (id: string) => ({
  type: 'message.post',
  message: { id, content: `please ${id}`, role: 'user', kind: 'user' },
});
export const item = (input: Record<string, Json> = {}): Json => ({
  title: 'Dig',
  body: null,
  acceptance: null,
  assignee: null,
  department: null,
  verifyPolicy: null,
  source: 'human',
  sourceRef: null,
  createdBy: 'operator',
  ...input,
});

export function viewOf(answer: unknown): Record<string, Json> {
  if (isRefusal(answer)) throw new Error(`${answer.code}: ${answer.message}`);
  return (answer as ActorView).view as Record<string, Json>;
}

/**
 * The view of an actor as soon as it satisfies the condition: read now, and again after each of its commits.
 */
export async function eventually(
  supervisor: Supervisor,
  kind: string,
  id: string,
  holds: (view: Record<string, Json>) => boolean,
): Promise<Record<string, Json>> {
  const controller = new AbortController();
  try {
    for await (const _ of supervisor.watch({ since: 0, ids: [id], signal: controller.signal })) {
      const found = await supervisor.get(kind, id);
      if (found && holds(found.view as Record<string, Json>)) return found.view as Record<string, Json>;
    }
  } finally {
    controller.abort();
  }
  throw new Error(`${kind} ${id} never came to that`);
}
