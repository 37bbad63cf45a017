import { percentile, timed } from '../bench/measure.js';
import type { Journal } from './journal.js';
import { seeded, type Random } from './random.js';
import { begin, end, type Spawning, type Victim } from './victim.js';

/**
 * The rounds: start, write with many writers, kill at a random moment (sometimes while it boots), start again.
 * What was left unanswered is asked again under the same key. At the end everything comes to rest and is
 * audited whole.
 */
export interface Scenario {
  readonly name: string;
  /** Arguments for node. */
  command(home: string): readonly string[];
  /** Finds the address in its output. */
  readonly announced: RegExp;
  /** After every start, before the writers. */
  ready(life: Life): Promise<void>;
  /** One action of one hand; returns false when the answer is unknown. */
  operation(writer: number, life: Life): Promise<boolean>;
  /** Ask again for what was left unanswered, in the last life. */
  finish(writer: number, life: Life): Promise<void>;
  /** Wait until nothing moves any more, then look at everything. */
  audit(life: Life, lives: readonly Life[]): Promise<void>;
  /** The process has stopped: look at the closed store. */
  closed(home: string): Promise<void>;
}

/** One life of the process, wall times. */
export interface Life {
  readonly url: string;
  readonly startedAt: number;
  readonly readyAt: number;
}

export interface CampaignOptions {
  readonly home: string;
  readonly rounds: number;
  readonly seed: number;
  readonly writers: number;
  readonly journal: Journal;
}

export interface Outcome {
  readonly readyMs: readonly number[];
  readonly auditMs: number;
}

export async function campaign(
  scenario: Scenario,
  { home, rounds, seed, writers, journal }: CampaignOptions,
): Promise<Outcome> {
  const random = seeded(seed);
  const lives: Life[] = [];
  const readyMs: number[] = [];
  let current: Spawning | undefined;
  const live = async (): Promise<Victim> => {
    current = begin(scenario.command(home), scenario.announced);
    const victim = await current.ready;
    readyMs.push(victim.readyAt - victim.startedAt);
    lives.push({ url: victim.url, startedAt: victim.startedAt, readyAt: victim.readyAt });
    await scenario.ready(lives.at(-1) as Life);
    return victim;
  };
  try {
    for (let round = 1; round <= rounds; round += 1) {
      journal.note({ round });
      if (random.chance(bootKillShare)) {
        await killWhileBooting(begin(scenario.command(home), scenario.announced), random);
        journal.count('kills while booting');
        continue;
      }
      const { child } = await live();
      await writeUntilKilled(scenario, lives.at(-1) as Life, writers, random.between(150, 1_400), () =>
        end(child, 'SIGKILL'),
      );
      journal.count('kills');
    }
    const { child } = await live();
    const life = lives.at(-1) as Life;
    await Promise.all(Array.from({ length: writers }, (_, writer) => scenario.finish(writer, life)));
    const auditMs = await timed(() => scenario.audit(life, lives));
    const code = await end(child, 'SIGTERM');
    if (code !== 0) journal.violated('unexpected', `the last stop ended with exit code ${code}`);
    await scenario.closed(home);
    return { readyMs, auditMs };
  } finally {
    if (current !== undefined) await end(current.child, 'SIGKILL');
  }
}

const bootKillShare = 0.15;

/** Anywhere between its first breath and a moment after it is ready. */
async function killWhileBooting(spawning: Spawning, random: Random): Promise<void> {
  let cancel = (): void => undefined;
  const moment = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, random.between(20, 900));
    cancel = () => clearTimeout(timer);
  });
  await Promise.race([
    moment,
    spawning.ready.then(
      () => undefined,
      () => undefined,
    ),
  ]);
  cancel();
  await end(spawning.child, 'SIGKILL');
}

async function writeUntilKilled(
  scenario: Scenario,
  life: Life,
  writers: number,
  ms: number,
  kill: () => Promise<unknown>,
): Promise<void> {
  let over = false;
  const running = Array.from({ length: writers }, async (_, writer) => {
    while (!over) if (!(await scenario.operation(writer, life))) return;
  });
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
  over = true;
  await kill(); // while writers still wait for their answers
  await Promise.all(running);
}

export const shownReady = (readyMs: readonly number[]): string =>
  readyMs.length === 0 ? '-' : `median ${percentile(readyMs, 0.5)} ms, worst ${Math.max(...readyMs)} ms`;

/** How late something came, ms: from its due time, or from the moment the process was ready again. */
export function lateness(at: number, due: number, lives: readonly Life[]): number {
  const life = lives.filter(({ startedAt }) => startedAt <= at).at(-1);
  return Math.max(0, at - Math.max(due, life?.readyAt ?? 0));
}
