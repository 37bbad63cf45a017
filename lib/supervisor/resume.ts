import type { ActorKey } from '../../actors/contracts.js';
import type { Caller } from '../../machines/caller.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import type { Cell } from './cells/actor-cells.js';
import type { ActorView } from './contract.js';
import type { Inbox } from './inbox.js';
import type { Kernel } from './kernel.js';
import { viewOf, type ActorState } from './draft/actor-state.js';
import { Draft } from './draft/draft.js';
import { notFound } from './draft/refusals.js';

/**
 * A person lets a halted actor go on: its failures are forgotten, and what its inbox kept is delivered before
 * anything younger. All of it with the turn held, so that nothing overtakes and nothing comes twice.
 */
export async function resume(kernel: Kernel, actor: ActorKey, by: Caller): Promise<ActorView | Refusal> {
  const kind = kernel.kind(actor.kind);
  if (kernel.cells.isClosed) return refuse('DRAINING');
  const cell = await turnOf(kernel, actor);
  let kept: Awaited<ReturnType<Inbox['of']>>;
  try {
    if (cell.live === undefined) throw notFound(actor.kind, actor.id);
    kept = await kernel.inbox.of(actor);
  } catch (problem) {
    kernel.cells.release(cell);
    if (isRefusal(problem)) return problem;
    throw problem;
  }
  const live = await commit(kernel, actor, cell, by, () => {
    kernel.inbox.takeFirst(cell, kind, kept);
  });
  for (const [timer, { due }] of Object.entries(live.timers))
    kernel.timers.armed({ due, kind: actor.kind, id: actor.id, timer });
  kernel.faults.resumed(actor);
  return viewOf(kind, actor.id, live);
}

function turnOf(kernel: Kernel, { kind, id }: ActorKey): Promise<Cell> {
  return new Promise((resolve, reject) => {
    kernel.cells.enter(kind, id, { run: resolve, fail: reject, urgent: true });
  });
}

function commit(
  kernel: Kernel,
  actor: ActorKey,
  cell: Cell,
  by: Caller,
  before: () => void,
): Promise<ActorState> {
  const draft = new Draft(kernel.now(), kernel.steady(), by, null, kernel);
  draft.overlay(
    kernel.kind(actor.kind),
    actor.id,
    cell.live as ActorState,
    { type: 'kernel.resumed' },
    { halted: null, failures: [] },
  );
  return new Promise((resolve, reject) => {
    kernel.commit(draft, [cell], (error) => {
      if (error !== undefined) return reject(error);
      before();
      resolve(cell.live as ActorState);
    });
  });
}
