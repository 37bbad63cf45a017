import type { Engine } from '../../actors/engines/engine.js';
import type { OpenPlace, Places } from './places.js';
import type { PreparedTurn, TurnPreparation } from './wire.js';

/**
 * Turns that were judged on a worker's machine and have not begun: each holds its sandbox and its ways to the gateway
 * open, until it begins or is given up. A gateway that stops in between says nothing any more.
 */
export class PreparedTurns {
  private readonly turns = new Map<string, Prepared>();

  constructor(private readonly places: Places) {}

  /** Undefined where it was given up meanwhile. `isFree` resolves when nothing else works in its folder. */
  async prepare(
    turn: TurnPreparation,
    engine: Engine | undefined,
    isFree: () => Promise<void>,
  ): Promise<PreparedTurn | undefined> {
    const earlier = this.drop(turn.turnId);
    const prepared = new Prepared(turn);
    this.turns.set(turn.turnId, prepared);
    await earlier;
    await isFree();
    if (prepared.isDropped) return undefined;
    const opening = this.places.open(turn, engine);
    prepared.opening = opening;
    const { answer, open } = await opening;
    if (prepared.isDropped) return undefined;
    if (open === undefined) this.turns.delete(turn.turnId);
    prepared.place = open;
    return answer;
  }

  /** It begins: from now on its place is the caller's to close. Undefined where another one was judged. */
  take(turnId: string, begun: Pick<TurnPreparation, 'engine' | 'sessionId'>): OpenPlace | undefined {
    const { place, turn } = this.turns.get(turnId) ?? {};
    if (turn?.engine !== begun.engine || turn.sessionId !== begun.sessionId) return undefined;
    if (place !== undefined) this.turns.delete(turnId);
    return place;
  }

  /** It will not begin. Resolves when its place is closed. */
  async drop(turnId: string, which = this.turns.get(turnId)): Promise<void> {
    if (which === undefined || this.turns.get(turnId) !== which) return;
    this.turns.delete(turnId);
    which.isDropped = true;
    await (await which.opening)?.open?.close();
  }

  /** What is prepared now, and has not begun when this is called. `const giveUp = prepared.pending(); giveUp()` */
  pending(): () => void {
    const pending = [...this.turns];
    return () => {
      for (const [turnId, which] of pending) void this.drop(turnId, which);
    };
  }
}

class Prepared {
  constructor(readonly turn: TurnPreparation) {}

  isDropped = false;
  opening: ReturnType<Places['open']> | undefined;
  place: OpenPlace | undefined;
}
