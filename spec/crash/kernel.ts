import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { verifyStore } from '../../lib/store/verify.js';
import { lateness, type Life, type Scenario } from './campaign.js';
import { farSide, type FarSide } from './far-side.js';
import type { Journal } from './journal.js';
import { accounts, KernelWriter, listeners } from './kernel-writer.js';
import { seeded } from './random.js';
import { ask, type Body } from './wire.js';

/**
 * A supervisor embedded in a small program: timers in a row, keyed and fenced effects, messages from actor to
 * actor, durable children and plans over two actors.
 */
export async function kernelScenario(journal: Journal, seed: number): Promise<Scenario> {
  const far = await farSide(seeded(seed + 1));
  const writers = new Map<number, KernelWriter>();
  const writerOf = (n: number): KernelWriter => {
    const known = writers.get(n) ?? new KernelWriter(n, seeded(seed * 1_000 + n), journal);
    writers.set(n, known);
    return known;
  };
  return {
    name: 'kernel',
    command: (home) => [fileURLToPath(new URL('host.js', import.meta.url)), home, far.url],
    announced: /host runs at (\S+)\n/,
    async ready({ url }) {
      for (const [kind, count] of [
        ['listener', listeners],
        ['account', accounts],
      ] as const) {
        for (let n = 0; n < count; n += 1)
          await ask(url, '', {
            method: 'POST',
            path: '/',
            body: { spawn: { kind, id: `${kind}-${n}`, input: {} } },
          });
      }
    },
    operation: (n, life) => writerOf(n).operation(life.url),
    finish: (n, life) => writerOf(n).finish(life.url),
    audit: (life, lives) => new Audit(life, lives, journal, far, [...writers.values()]).run(),
    async closed(home) {
      await far.close();
      const report = await verifyStore(home);
      if (report.ok) journal.count('stores verified');
      else journal.violated('unsound', report.faults.join('; '));
    },
  };
}

class Audit {
  constructor(
    private readonly life: Life,
    private readonly lives: readonly Life[],
    private readonly journal: Journal,
    private readonly far: FarSide,
    private readonly writers: readonly KernelWriter[],
  ) {}

  async run(): Promise<void> {
    const of = (kind: string): string[] => this.writers.flatMap((writer) => writer.made.get(kind) ?? []);
    await this.each(of('alarm'), (tag) => this.alarm('alarm', tag));
    await this.each(of('alarm6'), (tag) => this.alarm('alarm6', tag));
    await this.each(of('payer6'), (tag) => this.steps(tag));
    await this.each(of('payer'), (tag) => this.payer(tag));
    await this.each(of('caller'), (tag) => this.caller(tag));
    await this.each(of('boss'), (tag) => this.boss('boss', tag));
    await this.each(of('boss6'), (tag) => this.boss('boss6', tag));
    await this.words();
    await this.money();
  }

  private async each(tags: readonly string[], judge: (tag: string) => Promise<void>): Promise<void> {
    const queue = [...tags];
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let tag = queue.pop(); tag !== undefined; tag = queue.pop()) await judge(tag);
      }),
    );
  }

  /** Rang three times, each time once and in time. */
  private async alarm(kind: 'alarm' | 'alarm6', tag: string): Promise<void> {
    const view = await this.rested(kind, tag, 'done');
    if (view === undefined) return;
    const rings = await this.rows(kind, tag, 'rings');
    if (rings.length !== 3 || view['rings'] !== 3)
      this.journal.violated(
        rings.length < 3 ? 'lost' : 'doubled',
        `alarm ${tag} rang ${rings.length} times instead of three`,
      );
    for (const ring of rings) {
      const lateMs = lateness(Number(ring['at']), Number(ring['due']), this.lives);
      this.journal.count(`timers fired (${kind})`);
      if (lateMs > 1_000) this.journal.violated('late', `alarm ${tag} rang ${lateMs} ms late`);
      if (Number(ring['at']) < Number(ring['due']) - 20)
        this.journal.violated(
          'unexpected',
          `alarm ${tag} rang ${Number(ring['due']) - Number(ring['at'])} ms early`,
        );
    }
  }

  /** Called as often as it takes, always under one key. */
  private async payer(tag: string): Promise<void> {
    const view = await this.rested('payer', tag, 'done');
    const calls = this.far.calls('keyed', tag);
    const [attempts] = calls.values();
    this.journal.count('keyed effects', 1);
    this.journal.count('keyed effects tried again', (attempts ?? 1) - 1);
    if (calls.size > 1)
      this.journal.violated(
        'doubled',
        `the keyed effect of ${tag} reached the far side under ${calls.size} keys`,
      );
    if (view !== undefined && (view['outcome'] as Body | null)?.['receipt'] !== [...calls.keys()][0])
      this.journal.violated(
        'lost',
        `the keyed effect of ${tag} ended with ${JSON.stringify(view['outcome'])}`,
      );
  }

  /** Of XState 6: two steps, each under its key, the second only after the first is stored. */
  private async steps(tag: string): Promise<void> {
    const view = await this.rested('payer6', tag, 'done');
    const receipts = [`${tag}/first`, `${tag}/second`] as const;
    const [first, second] = [
      this.far.arrivals('keyed', receipts[0]),
      this.far.arrivals('keyed', receipts[1]),
    ];
    this.journal.count('steps', 2);
    this.journal.count('steps tried again', Math.max(0, first.length + second.length - 2));
    const outcome = view?.['outcome'];
    const answered = Array.isArray(outcome) ? outcome.map((each: Body) => each['receipt']) : [];
    if (view !== undefined && answered.join() !== receipts.join())
      this.journal.violated('lost', `the steps of ${tag} ended with ${JSON.stringify(outcome)}`);
    // Once the second one runs, the outcome of the first is stored
    if (Math.max(...first) > Math.min(...second))
      this.journal.violated('doubled', `the first step of ${tag} was run again after its outcome was stored`);
  }

  /** Called once or never, and honest about it. */
  private async caller(tag: string): Promise<void> {
    const view = await this.rested('caller', tag, 'done');
    const attempts = [...this.far.calls('fenced', tag).values()].reduce((sum, times) => sum + times, 0);
    const outcome = (view?.['outcome'] as Body | null)?.['outcome'];
    this.journal.count(`fenced effects ${String(outcome)}`);
    if (attempts > 1)
      this.journal.violated('doubled', `the fenced effect of ${tag} was done ${attempts} times`);
    if (view !== undefined && outcome !== 'sent' && outcome !== 'unknown')
      this.journal.violated(
        'unexpected',
        `the fenced effect of ${tag} ended with ${JSON.stringify(view['outcome'])}`,
      );
    if (outcome === 'sent' && attempts !== 1)
      this.journal.violated('lost', `the fenced effect of ${tag} says "sent" and was done ${attempts} times`);
  }

  private async boss(kind: 'boss' | 'boss6', tag: string): Promise<void> {
    const view = await this.rested(kind, tag, 'rested');
    this.journal.count(`children returned (${kind})`);
    if (view !== undefined && view['returns'] !== 1)
      this.journal.violated('doubled', `the child of ${tag} returned ${String(view['returns'])} times`);
  }

  /** Every word that was said was heard once, and in the order in which its teller said it. */
  private async words(): Promise<void> {
    const heard = new Map<string, number>();
    for (let n = 0; n < listeners; n += 1) {
      const last = new Map<string, number>();
      for (const row of await this.rows('listener', `listener-${n}`, 'heard')) {
        heard.set(String(row['tag']), (heard.get(String(row['tag'])) ?? 0) + 1);
        const from = String(row['from']);
        if (Number(row['n']) <= (last.get(from) ?? -1))
          this.journal.violated(
            'unexpected',
            `listener-${n} heard ${from} out of order at ${String(row['tag'])}`,
          );
        last.set(from, Number(row['n']));
      }
    }
    for (const tag of this.writers.flatMap((writer) => writer.made.get('word') ?? [])) {
      this.journal.count('messages checked');
      const times = heard.get(tag) ?? 0;
      if (times !== 1)
        this.journal.violated(times === 0 ? 'lost' : 'doubled', `the word ${tag} was heard ${times} times`);
    }
  }

  /** What one account gave another took; nothing came from nowhere. */
  private async money(): Promise<void> {
    const moved = new Map<string, number[]>();
    let sum = 0;
    for (let n = 0; n < accounts; n += 1) {
      const id = `account-${n}`;
      const rows = await this.rows('account', id, 'moves');
      const view = await this.view('account', id);
      const balance = rows.reduce((total, row) => total + Number(row['amount']), 0);
      if (view?.['balance'] !== balance || view['moves'] !== rows.length)
        this.journal.violated(
          'half-written',
          `${id} holds ${String(view?.['balance'])} after ${String(view?.['moves'])} moves; its rows say ${balance} after ${rows.length}`,
        );
      sum += balance;
      for (const row of rows)
        moved.set(String(row['tag']), [...(moved.get(String(row['tag'])) ?? []), Number(row['amount'])]);
    }
    if (sum !== 0)
      this.journal.violated('half-written', `all accounts together hold ${sum} instead of nothing`);
    for (const [tag, amounts] of moved)
      if (amounts.length !== 2)
        this.journal.violated(
          amounts.length < 2 ? 'half-written' : 'doubled',
          `transfer ${tag} moved ${amounts.length} accounts`,
        );
    for (const tag of this.writers.flatMap((writer) => writer.made.get('transfer') ?? []))
      if (!moved.has(tag)) this.journal.violated('lost', `transfer ${tag}`);
  }

  private async rested(kind: string, tag: string, state: string): Promise<Body | undefined> {
    for (const until = Date.now() + 30_000; ;) {
      const view = await this.view(kind, tag);
      if (view === undefined) {
        this.journal.violated('lost', `${kind} ${tag}`);
        return undefined;
      }
      if (view['state'] === state) return view;
      if (Date.now() > until) {
        this.journal.violated('lost', `${kind} ${tag} never comes to rest: ${JSON.stringify(view)}`);
        return undefined;
      }
      await wait(100);
    }
  }

  private async view(kind: string, id: string): Promise<Body | undefined> {
    const answer = await ask(this.life.url, '', { method: 'POST', path: '/', body: { view: { kind, id } } });
    if (answer.type !== 'done') throw new Error(`${kind} ${id} cannot be read: ${JSON.stringify(answer)}`);
    return (answer.body['view'] as Body | null) ?? undefined;
  }

  private async rows(kind: string, id: string, collection: string): Promise<readonly Body[]> {
    const all: { n: number; row: Body }[] = [];
    for (;;) {
      const last = all.at(-1)?.n;
      const answer = await ask(this.life.url, '', {
        method: 'POST',
        path: '/',
        body: { rows: { kind, id, collection, after: last ?? 0 } },
      });
      if (answer.type !== 'done')
        throw new Error(`the rows of ${kind} ${id} cannot be read: ${JSON.stringify(answer)}`);
      const page = answer.body['rows'] as { n: number; row: Body }[];
      all.push(...page);
      if (page.length < 1_000) return all.map(({ row }) => row);
    }
  }
}
