import type { Client } from '../lib/gateway/fixture.js';
import { until } from './instance.js';
import { must } from './work.js';

/** `session running` → how many actors of that kind stand in that state. */
export type Census = Readonly<Record<string, number>>;

export async function census(client: Client): Promise<Census> {
  const { kinds } = (await must(client, 'GET', '/api/inspect/fleet')) as {
    readonly kinds: readonly { readonly kind: string; readonly states: Readonly<Record<string, number>> }[];
  };
  return Object.fromEntries(
    kinds.flatMap(({ kind, states }) =>
      Object.entries(states).map(([state, count]) => [`${kind} ${state}`, count] as const),
    ),
  );
}

/** States that an instance leaves by itself within seconds, when nothing holds it up. */
export const passing = [
  'session running',
  'connector link.starting',
  'connector outbox.sending',
  'workflow status.begun',
  'workflow evidence.recording',
  'poll active.checking',
  'poll active.firing',
  'poll active.retrying',
  'pairing open',
  'pairing checking',
  'pairing proven',
  'pairing clearing',
  'pairing-code redeeming',
  'cron-fire begun',
  'cron-fire launching',
  'cron-fire recording',
  'held-decision held',
  'held-decision deciding',
  'held-decision pausing',
  'notifier sending',
  'notifier pausing',
] as const;

/** States of those whose far side never answers, as long as a home is being made. */
const lasting = ['connector link.starting', 'notifier sending', 'notifier pausing'] as const;

/** Waits until nothing is under way any more but what is `allowed` to be. */
export async function quiet(client: Client, allowed: readonly string[] = lasting): Promise<void> {
  const busy = (seen: Census): readonly string[] =>
    [...passing, 'cron-fire working'].filter((state) => !allowed.includes(state) && (seen[state] ?? 0) > 0);
  await until(
    async () => [...busy(await census(client)), ...(await reindexing(client))],
    (states) => states.length === 0,
    'the instance to be quiet',
  );
}

/** Kinds whose lists a newer version is still completing; none in builds that do not say so. */
async function reindexing(client: Client): Promise<readonly string[]> {
  const { root } = (await must(client, 'GET', '/api/inspect/supervision')) as {
    readonly root?: { readonly reindexing?: readonly { readonly kind: string }[] };
  };
  return (root?.reindexing ?? []).map(({ kind }) => `${kind}: lists are not complete yet`);
}

/** Waits until it is quiet and stays so: nothing was committed for a while. */
export async function staysQuiet(client: Client): Promise<void> {
  let last = -1;
  for (let times = 0; times < 30; times += 1) {
    await quiet(client, []);
    const { seq } = (await must(client, 'GET', '/api/inspect/fleet')) as { readonly seq: number };
    if (seq !== last) times = 0;
    last = seq;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Waits until everything that goes on for ever has begun. */
export async function isAtWork(client: Client): Promise<void> {
  const wanted: Census = {
    'session running': 5,
    'cron-fire working': 1,
    'poll active.checking': 1,
    'connector outbox.sending': 1,
    'connector link.starting': 1,
  };
  await until(
    () => census(client),
    (seen) => Object.entries(wanted).every(([state, count]) => (seen[state] ?? 0) >= count),
    `${JSON.stringify(wanted)} to be at work`,
  );
}
