import type { Journal } from './journal.js';
import type { Random } from './random.js';
import { ask, type Body } from './wire.js';

/**
 * One writer against the embedded supervisor. Every action has a key, so what was left unanswered is simply
 * asked again.
 */
export const listeners = 4;
export const accounts = 8;

interface Operation {
  readonly what: string;
  readonly tag: string;
  readonly order: Body;
}

export class KernelWriter {
  /** Tags that were acknowledged, by what they are. */
  readonly made = new Map<string, string[]>();
  private pending: Operation | undefined;
  private n = 0;
  private readonly teller: string;
  private tellerMade = false;

  constructor(
    private readonly writer: number,
    private readonly random: Random,
    private readonly journal: Journal,
  ) {
    this.teller = `teller-${writer}`;
  }

  /** False: the answer is unknown, the process is gone. */
  async operation(url: string): Promise<boolean> {
    if (this.pending !== undefined) this.journal.count('asked again');
    this.pending ??= this.invent();
    return this.ask(url, this.pending);
  }

  async finish(url: string): Promise<void> {
    for (let tries = 0; this.pending !== undefined && tries < 20; tries += 1)
      await this.ask(url, this.pending);
    if (this.pending !== undefined)
      this.journal.violated(
        'unexpected',
        `writer ${this.writer} got no answer in the last life to ${this.pending.what}`,
      );
  }

  private async ask(url: string, operation: Operation): Promise<boolean> {
    const answer = await ask(url, '', {
      method: 'POST',
      path: '/',
      body: operation.order,
      key: operation.tag,
    });
    if (answer.type === 'unknown') return false;
    this.pending = undefined;
    if (answer.type === 'refused') {
      this.journal.violated(
        'unexpected',
        `${operation.what} ${operation.tag} was refused: ${answer.status} ${answer.code} ${answer.message}`,
      );
      return true;
    }
    this.journal.acknowledged(operation.what, operation.tag, null);
    if (operation.what === 'teller') this.tellerMade = true;
    const made = this.made.get(operation.what) ?? [];
    this.made.set(operation.what, made);
    made.push(operation.tag);
    return true;
  }

  private invent(): Operation {
    const { random } = this;
    this.n += 1;
    const tag = `t${this.writer}x${this.n}e`;
    if (!this.tellerMade)
      return {
        what: 'teller',
        tag: this.teller,
        order: { spawn: { kind: 'teller', id: this.teller, input: {} } },
      };
    const roll = random.next();
    if (roll < 0.12) return spawned('alarm', tag, { tag, ms: random.between(20, 1_200) });
    if (roll < 0.16) return spawned('alarm6', tag, { tag });
    if (roll < 0.2) return spawned('boss6', tag, { tag });
    if (roll < 0.25) return spawned('payer6', tag, { tag });
    if (roll < 0.3) return spawned('payer', tag, { tag });
    if (roll < 0.4) return spawned('caller', tag, { tag });
    if (roll < 0.5) return spawned('boss', tag, { tag });
    if (roll < 0.75)
      return {
        what: 'word',
        tag,
        order: {
          ask: {
            kind: 'teller',
            id: this.teller,
            event: { type: 'say', tag, to: `listener-${random.between(0, listeners - 1)}` },
          },
        },
      };
    return this.transfer(tag);
  }

  private transfer(tag: string): Operation {
    const from = this.random.between(0, accounts - 1);
    const to = (from + this.random.between(1, accounts - 1)) % accounts;
    const amount = this.random.between(1, 100);
    const change = (n: number, by: number): Body => ({
      kind: 'account',
      id: `account-${n}`,
      event: { type: 'change', tag, amount: by },
    });
    return { what: 'transfer', tag, order: { plan: [change(from, -amount), change(to, amount)] } };
  }
}

const spawned = (kind: string, tag: string, input: Body): Operation => ({
  what: kind,
  tag,
  order: { spawn: { kind, id: tag, input } },
});
