import { Level } from 'level';
import { join } from 'node:path';
import { workItemKind } from '../../actors/work-item/kind.js';
import type { Kind } from '../../actors/contracts.js';
import type { Json } from '../../machines/outputs.js';
import { isRefusal } from '../../machines/refusals.js';
import type { Group, Store } from '../../lib/store/contract.js';
import type { EventObject, Supervisor } from '../../lib/supervisor/contract.js';
import { counterKind } from '../fixtures/kinds.js';

/**
 * The two kinds that the measures run on: the real work item with a body of 100 bytes, and the least that a
 * kind can be.
 */
export interface Subject {
  readonly kind: Kind;
  input(n: number): Json;
  /** The `turn`-th event of an actor; always taken. */
  event(turn: number): EventObject;
}

export const workItems: Subject = {
  kind: workItemKind() as unknown as Kind, // a list of kinds forgets the type of each one's machine
  input: (n) => ({
    title: `Item ${n}`,
    body: 'x'.repeat(100),
    acceptance: null,
    assignee: null,
    department: null,
    verifyPolicy: null,
    source: 'human',
    sourceRef: null,
    createdBy: 'operator',
  }),
  event: (turn) => moves[turn % moves.length] as EventObject,
};

const moves: readonly EventObject[] = [
  { type: 'item.move', status: 'executing' },
  { type: 'item.move', status: 'in_review' },
  { type: 'item.move', status: 'blocked', note: 'waiting for a key' },
];

export const counters: Subject = {
  kind: counterKind(),
  input: (n) => ({ n }),
  event: () => ({ type: 'add', n: 1 }),
};

/** Create `count` actors, many in one commit: getting there is not what is measured. */
export async function populate(
  supervisor: Supervisor,
  subject: Subject,
  count: number,
  start = 0,
): Promise<void> {
  const { kind } = subject.kind;
  for (let from = start; from < start + count; from += 512) {
    const to = Math.min(from + 512, start + count);
    mustHold(
      await supervisor.transact({
        name: 'populate',
        actors: [],
        run: (turns) => {
          for (let n = from; n < to; n += 1) turns.create(kind, `a${n}`, { input: subject.input(n) });
          return null;
        },
      }),
    );
  }
}

/** A refusal in a measure is a mistake of the measure. */
export function mustHold<Answer>(answer: Answer): Answer {
  if (isRefusal(answer)) throw new Error(`a measured deed was refused: ${answer.code} ${answer.message}`);
  return answer;
}

/** The same store, but every group that is written is noted. */
export function recording(store: Store, groups: Group[]): Store {
  return new Proxy(store, {
    get(target, member) {
      if (member === 'write')
        return (group: Group) => {
          groups.push(group);
          return target.write(group);
        };
      const value: unknown = Reflect.get(target, member, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/**
 * Write recorded groups, at most `window` on their way at once: what the kernel does, without deciding
 * anything.
 */
export async function replay(
  store: Pick<Store, 'write'>,
  groups: readonly Group[],
  window: number,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: window }, async () => {
      while (next < groups.length) await store.write(groups[next++] as Group);
    }),
  );
}

/** LevelDB by itself, as others write groups: one synced batch each, no checksums of rows, no second copy. */
export async function openBare(
  directory: string,
): Promise<Pick<Store, 'write'> & { close(): Promise<void> }> {
  const level = new Level<string, string>(join(directory, 'bare'));
  await level.open();
  return {
    write: ({ ops }) =>
      level.batch(
        ops.map(([key, text]) =>
          text === null ? { type: 'del' as const, key } : { type: 'put' as const, key, value: text },
        ),
        { sync: true } as object,
      ), // the text options are typed for browsers; LevelDB's own are passed through
    close: () => level.close(),
  };
}
